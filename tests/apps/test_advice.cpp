// SPDX-License-Identifier: Apache-2.0
// What is advised after a solve that failed.
#include "tests/catch.hpp"

#include "apps/newel/solve/result.hpp"

#include <newel/precond/amg/amg_options.hpp>
#include <newel/precond/spai/spai_options.hpp>

using namespace newel::cli;

namespace {

SolveReport report_with(const std::string& solver, Status status) {
  SolveReport report;
  report.solver = report.method = solver;
  report.status = status;
  return report;
}

SystemFacts facts_of_size(Index rows) {
  SystemFacts facts;
  facts.rows = rows;
  return facts;
}

SystemFacts singular_facts(Index rows) {
  SystemFacts facts = facts_of_size(rows);
  facts.rows_sum_to_zero = true;
  return facts;
}

Attempt attempt_of(const std::string& method, const std::string& preconditioner, Status status, Cause cause) {
  Attempt attempt;
  attempt.solver = attempt.method = method;
  attempt.preconditioner = preconditioner;
  attempt.status = status;
  attempt.failure.cause = cause;
  attempt.iterations = 100;
  attempt.true_residual = 0.5;
  return attempt;
}

// Of one that ended as its last attempt.
SolveReport report_of(const std::vector<Attempt>& attempts) {
  SolveReport report = report_with(attempts.back().method, attempts.back().status);
  report.attempts = attempts;
  report.failure = attempts.back().failure;
  report.rhs_norm = report.initial_residual = 1;
  report.tolerance = 1e-8;
  report.true_residual = report.recurrence_residual = 0.5;
  return report;
}

}  // namespace

TEST_CASE("Where the rows sum to zero, the null space is advised unless it was given", "[cli]") {
  SolveOptions options;
  const SystemFacts singular = singular_facts(100);
  const std::string wanted = "--null-space constant";
  for (const Status status : {Status::max_iterations, Status::breakdown, Status::stagnation, Status::diverged,
                              Status::not_positive_definite, Status::not_finite}) {
    INFO(name_of(status));
    CHECK(contains(next_step(report_with("cg", status), options, singular), wanted));
    CHECK_FALSE(contains(next_step(report_with("cg", status), options, facts_of_size(100)), wanted));
  }
  CHECK_FALSE(contains(next_step(report_with("cg", Status::time_limit), options, singular), wanted));
  CHECK(next_step(report_with("cg", Status::converged), options, singular).empty());
  options.system.null_space = NullSpace::constant;
  CHECK_FALSE(contains(next_step(report_with("cg", Status::stagnation), options, singular), wanted));
}

TEST_CASE("A b with a mean is told apart from a solve that stagnates", "[cli]") {
  SolveOptions options;
  options.system.null_space = NullSpace::constant;
  // |mean part| = 4, |the rest| = 3, solved to 3e-9 of it.
  SolveReport report = report_with("cg", Status::stagnation);
  report.rhs_norm = 5;
  report.true_residual = 4;
  report.tolerance = 3e-8;
  report.attempts.emplace_back();
  report.attempts.back().true_residual = 9e-9;
  CHECK(next_step(report, options, singular_facts(100)) ==
        "subtract the mean from b: x solves A x = b - mean(b) to 3.0e-09 |b - mean(b)|, and with that b the solve "
        "converges");
  report.attempts.back().true_residual = report.true_residual;
  CHECK_FALSE(contains(next_step(report, options, singular_facts(100)), "mean"));
}

TEST_CASE("After CG with constant vectors taken out, MINRES shows whether b is in the range", "[cli]") {
  SolveOptions options;
  SystemFacts facts = singular_facts(2000);
  facts.symmetric = facts.may_be_definite = true;
  SolveReport report = report_of({attempt_of("cg", "jacobi", Status::max_iterations, Cause::none)});
  report.iterations = 10000;
  const std::string minres = "--solver minres: it shows";
  const auto advice = [&] { return next_step(report, options, facts); };
  CHECK_FALSE(contains(advice(), minres));
  options.system.null_space = NullSpace::constant;
  CHECK(contains(advice(), minres));
  report.true_residual = 1e-3;
  CHECK_FALSE(contains(advice(), minres));
  report = report_of({attempt_of("minres", "jacobi", Status::max_iterations, Cause::none)});
  CHECK_FALSE(contains(advice(), minres));
  report = report_of({attempt_of("cg", "jacobi", Status::max_iterations, Cause::none)});
  facts.symmetric = false;
  CHECK_FALSE(contains(advice(), minres));
}

TEST_CASE("A cycle of GMRES is advised no longer than the matrix, and where it was, a preconditioner", "[cli]") {
  SolveOptions options;
  const auto advice = [&](int cycle, Index rows, Status status) {
    SolveReport report = report_with("gmres", status);
    report.cycle_length = cycle;
    report.restarts = 1;
    report.true_residual = 1;
    return next_step(report, options, facts_of_size(rows));
  };
  for (const Status status : {Status::max_iterations, Status::stagnation}) {
    INFO(name_of(status));
    CHECK(contains(advice(50, 425, status), "--restart 425:"));
    CHECK(contains(advice(50, 100000, status), "--restart 100:"));
    CHECK(contains(advice(4000, 5000, status), "--restart 5000:"));
    CHECK(contains(advice(131, 131, status), "--precond spai"));
    CHECK_FALSE(contains(advice(131, 131, status), "--restart"));
  }
  options.system.precond.name = "spai";
  CHECK(contains(advice(131, 131, Status::stagnation), "--spai-adaptive 0.4"));
  options.system.precond.of<SpaiOptions>().adaptive = 0.4;
  CHECK(contains(advice(131, 131, Status::stagnation), "--spai-adaptive 0.2"));
  options.system.precond = PrecondOptions{"none"};
  CHECK(contains(advice(131, 131, Status::stagnation), "--spai-adaptive 0.4"));
}

TEST_CASE("GMRES is not advised where it was among the attempts", "[cli]") {
  SolveReport report = report_with("bicgstab", Status::breakdown);
  CHECK(contains(next_step(report, {}, facts_of_size(131)), "--solver gmres --restart 131:"));
  CHECK(contains(next_step(report, {}, facts_of_size(100000)), "--solver gmres --restart 100:"));
  report.attempts.resize(2);
  report.attempts.front().method = "gmres";
  CHECK(contains(next_step(report, {}, facts_of_size(131)), "--precond spai"));
}

TEST_CASE("Where single precision had a part in a failure, another precision is advised before anything else",
          "[cli]") {
  SolveOptions options;
  options.single_precision = true;
  const std::string wanted = "--precision double";
  SolveReport report = report_with("bicgstab", Status::breakdown);
  report.rhs_norm = 2;
  report.tolerance = 2e-5;
  report.attempts.resize(3);
  const auto attempt = [&](std::size_t k, const char* solver, Status status, double residual) {
    report.attempts[k].solver = report.attempts[k].method = solver;
    report.attempts[k].status = status;
    report.attempts[k].true_residual = residual;
  };
  attempt(0, "cg", Status::stagnation, 4e-3);
  attempt(1, "gmres", Status::stagnation, 2e-3);
  attempt(2, "bicgstab", Status::breakdown, 0.5);
  for (const Status status : {Status::breakdown, Status::not_finite, Status::max_iterations, Status::stagnation,
                              Status::time_limit, Status::not_positive_definite}) {
    INFO(name_of(status));
    report.status = report.attempts[2].status = status;
    report.attempts[2].true_residual = 0.5;
    CHECK(next_step(report, options, facts_of_size(237)) ==
          "--precision double: in single precision gmres stagnated at 1.0e-03");
    CHECK_FALSE(contains(next_step(report, {}, facts_of_size(237)), wanted));
  }
  report.status = Status::stopped_by_caller;
  CHECK_FALSE(contains(next_step(report, options, facts_of_size(237)), wanted));

  attempt(0, "cg", Status::not_positive_definite, 1);
  attempt(1, "gmres", Status::not_finite, 1);
  attempt(2, "bicgstab", Status::max_iterations, 1);
  report.status = Status::max_iterations;
  CHECK(contains(next_step(report, options, facts_of_size(237)), wanted + ": it has a wider range"));
  report.attempts.clear();
  CHECK_FALSE(contains(next_step(report, options, facts_of_size(237)), wanted));
  report.tolerance = 2e-8;  // less than the spacing of its numbers
  CHECK(contains(next_step(report, options, facts_of_size(237)), wanted));
  report.tolerance = 2e-5;
  report.status = Status::breakdown;
  report.solver = report.method = "gmres";
  options.system.precond.name = "none";
  CHECK(contains(next_step(report, options, facts_of_size(237)), wanted));
}

TEST_CASE("After a breakdown no preconditioner is advised that the solve had already", "[cli]") {
  SolveOptions options;
  const SolveReport report = report_with("gmres", Status::breakdown);
  CHECK(contains(next_step(report, options, facts_of_size(237)), "--precond none:"));
  options.system.precond.name = "none";
  CHECK(contains(next_step(report, options, facts_of_size(237)), "--precond spai --spai-adaptive 0.4:"));
  CHECK_FALSE(contains(next_step(report, options, facts_of_size(237)), "--precond none"));
}

TEST_CASE("After few iterations more of them are advised, whatever they reached", "[cli]") {
  SolveOptions options;
  const auto advice = [&](const char* solver, int iterations) {
    SolveReport report = report_with(solver, Status::max_iterations);
    options.system.stop.max_iterations = report.iterations = iterations;
    report.restarts = iterations > 50 ? 1 : 0;
    report.cycle_length = 50;
    report.initial_residual = report.true_residual = 1;
    return next_step(report, options, facts_of_size(237));
  };
  CHECK(advice("cg", 0) == "--max-iterations 10000: allows more (now 0)");
  CHECK(contains(advice("cg", 236), "--max-iterations 10000:"));
  CHECK(contains(advice("gmres", 60), "--max-iterations 10000:"));
  CHECK(contains(advice("cg", 237), "--solver gmres --restart 237: the residual hardly decreased"));
  CHECK(contains(advice("gmres", 237), "--restart 237:"));
  SolveReport falling = report_with("cg", Status::max_iterations);
  falling.initial_residual = 1;
  options.system.stop.max_iterations = 1000000000;
  CHECK(contains(next_step(falling, options, facts_of_size(237)),
                 "--max-iterations 2147483647:"));  // what the option takes
}

TEST_CASE("A solution far off behind a small residual is remarked on", "[cli]") {
  SolveOptions options;
  SolveReport report = report_with("cg", Status::converged);
  report.rhs_norm = 2;
  report.true_residual = 2e-8;
  CHECK(contains(remark_on_error(report, 0.02, options, {}), "ill-conditioned or singular"));
  CHECK(contains(remark_on_error(report, 0.02, options, singular_facts(9)), "--null-space constant"));
  CHECK(remark_on_error(report, 0.009, options, {}).empty());
  options.system.null_space = NullSpace::constant;
  CHECK_FALSE(contains(remark_on_error(report, 0.02, options, singular_facts(9)), "--null-space"));
  report.true_residual = 4e-5;
  CHECK(remark_on_error(report, 0.02, options, {}).empty());
  report.true_residual = 2e-8;
  report.status = Status::max_iterations;
  CHECK(remark_on_error(report, 0.02, options, {}).empty());
}

TEST_CASE("After a divergence another method is advised, and for GMRES another preconditioner", "[cli]") {
  SolveOptions options;
  const auto advice = [&](const char* solver) {
    return next_step(report_with(solver, Status::diverged), options, facts_of_size(5000));
  };
  CHECK(contains(advice("cg"), "--solver gmres"));
  CHECK(contains(advice("bicgstab"), "--solver gmres"));
  CHECK(contains(advice("gmres"), "--precond none"));
  options.system.precond.name = "none";
  CHECK(contains(advice("gmres"), "--precond spai"));
  options.single_precision = true;
  CHECK(contains(advice("bicgstab"), "--precision double"));
}

TEST_CASE("A tolerance is advised only where a level is attainable, and it is that level", "[cli]") {
  SolveReport report = report_with("gmres", Status::stagnation);
  report.rhs_norm = 2;
  report.true_residual = 1.6e-8;
  report.cycle_length = 50;
  CHECK_FALSE(contains(next_step(report, {}, facts_of_size(5000)), "--rtol"));
  report.attainable_residual = 1.6e-8;
  CHECK(contains(next_step(report, {}, facts_of_size(5000)), "--rtol 2e-08:"));  // twice 8e-9
}

TEST_CASE("Nothing is advised that an attempt has tried", "[cli]") {
  SolveOptions options;
  SystemFacts facts = facts_of_size(5000);
  facts.may_be_definite = true;
  SolveReport report = report_of({attempt_of("cg", "jacobi", Status::stagnation, Cause::no_progress),
                                  attempt_of("gmres", "spai", Status::stagnation, Cause::no_progress)});
  report.cycle_length = 5000;
  CHECK(contains(next_step(report, options, facts), "--precond amg"));
  report.attempts.push_back(attempt_of("cg", "amg", Status::stagnation, Cause::no_progress));
  CHECK(contains(next_step(report, options, facts), "--precond fsai"));
  report.attempts.push_back(attempt_of("cg", "fsai", Status::stagnation, Cause::no_progress));
  CHECK(contains(next_step(report, options, facts), "--precond spai --spai-adaptive 0.4"));
  facts.may_be_definite = false;
  CHECK(contains(next_step(report, options, facts), "--precond spai --spai-adaptive 0.4"));
  facts.full_diagonal = false;
  facts.may_be_definite = true;
  report.attempts.resize(2);
  CHECK_FALSE(contains(next_step(report, options, facts), "amg"));  // which divides by the diagonal
}

TEST_CASE("More iterations are advised only where the residual was falling", "[cli]") {
  SolveOptions options;
  options.system.stop.max_iterations = 1000;
  const auto advice = [&](const std::vector<double>& history, double true_residual) {
    Attempt attempt = attempt_of("cg", "", Status::max_iterations, Cause::iteration_limit);
    attempt.iterations = static_cast<int>(history.size());
    SolveReport report = report_of({attempt});
    report.history = history;
    report.recurrence_residual = history.back();
    report.true_residual = true_residual;
    return next_step(report, options, facts_of_size(500));
  };
  std::vector<double> falling, flat, level;
  for (int k = 0; k < 1000; ++k) {
    falling.push_back(std::exp(-0.01 * k));
    flat.push_back(0.5);
    level.push_back(std::max(1e-3, std::exp(-0.1 * k)));
  }
  CHECK(contains(advice(falling, falling.back()), "--max-iterations 10000"));
  CHECK_FALSE(contains(advice(flat, 0.5), "--max-iterations"));
  CHECK_FALSE(contains(advice(level, 1e-3), "--max-iterations"));
  CHECK_FALSE(contains(advice(falling, 0.1), "--max-iterations"));  // only the recurrence falls: rounding
}

TEST_CASE("Iterations are not advised after a breakdown, nor a method after GMRES has exhausted its space", "[cli]") {
  const SolveReport report = report_of({attempt_of("gmres", "", Status::breakdown, Cause::krylov_space_exhausted),
                                        attempt_of("bicgstab", "", Status::max_iterations, Cause::iteration_limit)});
  SolveOptions options;
  options.system.precond.name = "jacobi";
  options.system.stop.max_iterations = 10000;
  const std::string advice = next_step(report, options, facts_of_size(5));
  CHECK(contains(advice, "A is singular or nearly so"));
  CHECK_FALSE(contains(advice, "--"));
  options.system.precond.name = "spai";  // which may be singular itself
  CHECK(contains(next_step(report, options, facts_of_size(5)), "--precond none"));
}

TEST_CASE("AMG in double is advised where its cycle failed in the single precision that was asked for", "[cli]") {
  SolveOptions options;
  options.system.precond.name = "amg";
  options.system.precond.of<AmgOptions>().precision = AmgPrecision::single;
  SystemFacts facts = facts_of_size(1000);
  facts.may_be_definite = true;
  SolveReport report = report_of({attempt_of("cg", "", Status::not_positive_definite, Cause::precond_not_positive)});
  CHECK(next_step(report, options, facts) == "--amg-precision double: in single precision its cycle failed");
  for (const AmgPrecision tried_in_double : {AmgPrecision::system, AmgPrecision::automatic}) {
    options.system.precond.of<AmgOptions>().precision = tried_in_double;
    CHECK_FALSE(contains(next_step(report, options, facts), "amg"));
  }
  options.system.precond = PrecondOptions{"auto"};
  options.system.precond.of<AmgOptions>().precision = AmgPrecision::single;
  report.attempts.front().preconditioner = "amg";
  report.attempts.push_back(attempt_of("cg", "jacobi", Status::max_iterations, Cause::iteration_limit));
  CHECK(contains(next_step(report, options, facts), "--precond amg --amg-precision double:"));
}

TEST_CASE("A solution outside the range of the precision asks for other units before all else", "[cli]") {
  SolveReport report = report_of({attempt_of("cg", "amg", Status::not_finite, Cause::solution_out_of_range)});
  SolveOptions options;
  options.system.precond.of<AmgOptions>().precision = AmgPrecision::single;
  for (const Cause cause : {Cause::solution_out_of_range, Cause::norm_overflows, Cause::norm_underflows}) {
    report.failure.cause = cause;
    CHECK(contains(next_step(report, options, facts_of_size(5)), "change the units of A or b"));
  }
}

TEST_CASE("Rows without values come before all other advice, and are named in the reason", "[cli]") {
  SolveReport report = report_with("gmres", Status::max_iterations);
  report.reason = "the iteration limit was reached";
  SystemFacts facts = singular_facts(10);
  facts.zero_rows = facts.impossible_rows = {2, 3};
  CHECK(full_reason(report, {}, facts) ==
        "the iteration limit was reached; row 4 of A (counted from 1, the first of 2) holds no value other than 0, "
        "and b is not 0 "
        "there");
  report.failure = {Cause::zero_row, Subject::none, 0.5};
  report.reason = text_of(report.failure);
  CHECK(full_reason(report, {}, facts) ==
        "row 4 of A (counted from 1, the first of 2) holds no value other than 0, and b is not 0 there: 5.00e-01 of "
        "|b| remains for "
        "every x");
  CHECK(contains(next_step(report, {}, facts), "add the equation of that row"));
  CHECK_FALSE(contains(next_step(report, {}, facts), "--"));
  facts.zero_rows.count = 10;
  CHECK(next_step(report, {}, facts) == "correct the matrix: A holds no value other than 0");
  facts.not_finite_rows = {1, 0};
  CHECK(next_step(report, {}, facts) == "correct the matrix: row 1 of A (counted from 1) holds NaN or infinity");
  report.status = Status::converged;
  CHECK(next_step(report, {}, facts).empty());
  CHECK(full_reason(report, {}, facts) == report.reason);
}
