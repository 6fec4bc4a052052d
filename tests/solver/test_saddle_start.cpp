// SPDX-License-Identifier: Apache-2.0
// Symmetric saddle points begin with their preconditioner, and with a method for its block-triangular form.
#include "tests/precond/saddle_support.hpp"
#include "tests/solver/problem.hpp"

#include <newel/solver/linear_system.hpp>
#include "precond/build_cost.hpp"
#include "reorder/pattern_reach.hpp"
#include "solver/operators/operator_builder.hpp"
#include "solver/operators/system_alternatives.hpp"
#include "solver/operators/system_estimates.hpp"

namespace {

constexpr Space on_host = Space::host;

// 6,816 rows. With n = 16, 736, too few for the estimate.
Problem<on_host> flow(Index n = 48) { return Problem<on_host>(mac_stokes(2, n)); }

struct Run {
  SolveReport report;
  std::vector<double> x;
};

Run solved(Problem<on_host>& problem, LinearSystem<double, on_host>& system) {
  fill<double, on_host>(problem.ctx, 0, problem.x.span());
  Run run{system.solve(problem.b.cspan(), problem.x.span()), {}};
  run.x = download(problem.ctx, problem.x);
  return run;
}

double residual_share(const Problem<on_host>& problem, const Run& run) {
  return residual_norm(problem.a, run.x, problem.b_host) / norm_oracle(problem.b_host);
}

}  // namespace

TEST_CASE("A saddle point begins with its block-triangular preconditioner and flexible GMRES", "[saddle][auto]") {
  Problem<on_host> problem = flow();
  LinearSystem<double, on_host> system(problem.ctx, problem.there.wide());
  CHECK(system.info().solver == "fgmres");
  CHECK(system.info().preconditioner.name == "saddle");
  const Run run = solved(problem, system);
  CHECK(run.report.converged());
  CHECK(run.report.attempts.size() == 1);
  CHECK(run.report.iterations < 60);
  CHECK(residual_share(problem, run) <= 1.01e-8);
  // A resumed system does the same.
  SystemOptions resumed;
  resumed.decision = decision_of(json_of(system.history().decision()));
  LinearSystem<double, on_host> other(problem.ctx, problem.there.wide(), resumed);
  CHECK(other.info().solver == "fgmres");
  CHECK((solved(problem, other).x == solved(problem, system).x));
}

TEST_CASE("With few rows, and with a named method, a saddle point begins as before", "[saddle][auto]") {
  Problem<on_host> few = flow(16);
  CHECK(LinearSystem<double, on_host>(few.ctx, few.there.wide()).info().solver == "minres");
  Problem<on_host> problem = flow();
  SystemOptions named;
  named.solver.name = "minres";
  LinearSystem<double, on_host> system(problem.ctx, problem.there.wide(), named);
  CHECK(system.info().solver == "minres");
  CHECK(solved(problem, system).report.converged());
}

TEST_CASE("If flexible GMRES fails there, the usual solvers follow with the usual preconditioners",
          "[saddle][auto]") {
  Problem<on_host> problem = flow();
  SystemOptions options;
  for (const bool is_resumed : {false, true}) {
    if (is_resumed)
      options.decision = LinearSystem<double, on_host>(problem.ctx, problem.there.wide()).history().decision();
    const auto operators = detail::build<double, on_host>(problem.ctx, problem.there.wide(), options, {}, true);
    CHECK(operators->chosen.solvers.order == std::vector<std::string>{"fgmres"});
    CHECK_FALSE(operators->options.precond.symmetric);
    std::vector<Untried> refused;
    REQUIRE(detail::SystemAlternatives<double, on_host>(*operators).take_next(refused));
    CHECK(operators->options.precond.name == "l1-jacobi");
    CHECK(operators->options.precond.symmetric);
    CHECK(operators->chosen.solvers.order.front() == "minres");
  }
}

// One solve is estimated to take so little that nothing is set up for it at first.
constexpr double low_scale = 0.2;

SystemOptions with_low_estimates() {
  SystemOptions options;
  options.estimate_scale.iterations = low_scale;
  return options;
}

TEST_CASE("Later solves of a saddle point begin with flexible GMRES", "[saddle][auto]") {
  Problem<on_host> problem = flow(24);
  LinearSystem<double, on_host> system(problem.ctx, problem.there.wide());
  REQUIRE(system.info().solver == "minres");  // with fewer than 4,096 rows
  const Run first = solved(problem, system);
  CHECK(first.report.attempts.back().solver == "minres");
  CHECK(first.report.changed.empty());
  const Run second = solved(problem, system);
  INFO(second.report.changed);
  CHECK(second.report.attempts.back().solver == "fgmres");
  CHECK(second.report.changed.find("preconditioner saddle for l1-jacobi") == 0);
  CHECK(second.report.iterations < 30);
  CHECK(8 * second.report.iterations < first.report.iterations);
  CHECK(residual_share(problem, second) <= 1.01e-8);
}

TEST_CASE("The solvers go with the form of the blocks", "[saddle][auto]") {
  Problem<on_host> problem = flow();
  const auto made = detail::build<double, on_host>(problem.ctx, problem.there.wide(), with_low_estimates(), {}, true);
  detail::Operators<double, on_host>& operators = *made;
  detail::SystemAlternatives<double, on_host> alternatives(operators);
  const auto first_solver = [&] { return operators.first_method().name; };
  const auto blocks = [&] {
    const detail::PrecondOutlooks* const outlooks = alternatives.forecasts().stronger_preconditioners(1e9);
    REQUIRE(outlooks != nullptr);
    REQUIRE(outlooks->stronger.size() == 1);
    return outlooks->stronger.front();
  };
  REQUIRE(first_solver() == "minres");
  const Pattern<on_host> pattern(problem.there.wide());
  const double length = static_cast<double>(pattern.nnz()) / pattern.rows;
  CHECK(alternatives.forecasts().expected_iterations() ==
        Approx(low_scale * length * detail::pattern_reach(pattern)));
  CHECK(blocks().iterations_for(1e4, true) == Approx(0.45 * blocks().iterations_for(1e4)));
  const auto begin_and_leave = [&](const std::string& weaker) {
    REQUIRE(alternatives.take_stronger("saddle", true));
    CHECK(first_solver() == "fgmres");
    CHECK_FALSE(operators.options.precond.symmetric);
    REQUIRE(alternatives.leave_stronger(100));
    CHECK(operators.options.precond.name == weaker);
    CHECK(first_solver() == "minres");
    CHECK(operators.options.precond.symmetric);
  };

  SECTION("in the middle of a solve") {
    REQUIRE(alternatives.take_stronger("saddle", false));
    CHECK(first_solver() == "minres");
    CHECK(operators.options.precond.symmetric);
    REQUIRE(blocks().name == "saddle");  // a later solve may begin with it
    CHECK(blocks().passed_over);
    begin_and_leave("saddle");
  }
  SECTION("at the beginning") {
    begin_and_leave("l1-jacobi");
    CHECK(blocks().iterations_for(1e4, true) == 100);
    CHECK(blocks().iterations_for(1e4) == Approx(100 / 0.45));
  }
}

TEST_CASE("Another format keeps what the values say of an iteration", "[saddle][auto]") {
  Problem<on_host> problem = flow();
  const auto made = detail::build<double, on_host>(problem.ctx, problem.there.wide(), with_low_estimates(), {}, true);
  detail::SystemAlternatives<double, on_host> alternatives(*made);
  const auto blocks = [&] { return alternatives.forecasts().stronger_preconditioners(1e9)->stronger.front(); };
  const double share = blocks().share;
  CHECK(share < 0.95);
  CHECK(share > 0.3);
  REQUIRE(alternatives.take_format("bce"));
  const detail::IterationModel model = detail::SystemEstimates<double, on_host>(*made).model();
  CHECK(blocks().iteration_seconds == Approx(share * model.iteration("saddle", *model.product("bce")).seconds));
}

namespace {

// n rows of a tridiagonal matrix, and as many constraints as fit with `couplings` entries in each.
HostCsr chain_with_constraints(Index n, Index couplings) {
  const Index constraints = n / couplings;
  MapRows rows(static_cast<std::size_t>(n + constraints));
  for (Index i = 0; i < n; ++i) {
    auto& row = rows[static_cast<std::size_t>(i)];
    row[i] = 2;
    if (i > 0) row[i - 1] = -1;
    if (i + 1 < n) row[i + 1] = -1;
  }
  for (Index i = 0; i < constraints * couplings; ++i) {
    const Index c = n + i / couplings;
    rows[static_cast<std::size_t>(i)][c] = rows[static_cast<std::size_t>(c)][i] = 1;
  }
  return from_rows(n + constraints, rows);
}

}  // namespace

TEST_CASE("Blocks cost what AMG costs for the rows that are no constraints", "[saddle][choice]") {
  constexpr Index n = 16000;
  const Context<on_host> ctx(1);
  const PrecondOptions options;
  const auto seconds = [&](const HostCsr& a, const char* name, bool by_values) {
    const Uploaded<double, on_host> there = upload_matrix<double>(ctx, a);
    KnownValues values;
    if (by_values) values.matrix = there.wide();
    return detail::build_seconds(ctx, Pattern<on_host>(there.wide()), find_preconditioner(name), options, nullptr,
                                 &values);
  };
  const HostCsr chain = chain_with_constraints(n, n + 1);
  REQUIRE(chain.rows == n);
  const double of_chain = seconds(chain, "amg", false).build;
  for (const Index couplings : {4, 400}) {
    const HostCsr a = chain_with_constraints(n, couplings);
    const PrecondSeconds found = seconds(a, "saddle", true);
    // And for each entry of A what it takes to split it.
    const double entries = static_cast<double>(a.val.size());
    CHECK(found.build == Approx(of_chain + 0.024e-6 * entries + 1e-3).epsilon(0.01));
    CHECK(found.build < seconds(a, "saddle", false).build);
    CHECK(found.refresh < found.build);
    CHECK(found.iteration_share < 1);
  }
  CHECK(seconds(chain, "saddle", true).build == seconds(chain, "saddle", false).build);  // there are no blocks
}
