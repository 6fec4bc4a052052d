// SPDX-License-Identifier: Apache-2.0
// What to try: the typical failures of each method.
#include "advice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <purlin/precond/registry.hpp>
#include <purlin/solver/registry.hpp>

#include "apps/common/precond_report.hpp"
#include "apps/common/text.hpp"

namespace purlin::cli {
namespace {

// What GMRES is among the methods: nothing of it but a longer cycle may help. In mixed precision too.
bool is_gmres(const std::string& method) { return !method.empty() && find_solver(method).monotone; }
bool is_gmres(const SolveReport& report) { return is_gmres(report.method); }

// GMRES that forgets nothing ends after n iterations, and for small systems its basis is small.
constexpr Index small_system = 2000;

// A cycle length worth a try: the one wanted, or all n for small systems; never more than n.
int worthwhile_restart(int wanted, const AdviceFacts& facts) {
  if (facts.rows <= 0) return wanted;
  return facts.rows <= small_system ? facts.rows : std::min(wanted, facts.rows);
}

std::string stronger_precond(const SolveOptions& options) {
  const PrecondOptions& now = options.system.precond;
  // Without a preconditioner mostly for zeros on the diagonal, where SPAI on A's own pattern often is not enough.
  if (now.name == "none") return strong_precond();
  if (now.name != "auto" && find_preconditioner(now.name).stronger != nullptr) {
    return find_preconditioner(now.name).stronger(now);
  }
  const PrecondMethod* general = automatic_preconditioner(AutoPrecond::general);
  return general == nullptr ? "--precond auto" : "--precond " + general->name;
}

std::string longer_cycle(const SolveReport& report, const SolveOptions& options, const AdviceFacts& facts) {
  const int now = report.cycle_length;
  if (facts.rows > 0 && now >= facts.rows) {
    return stronger_precond(options) + ": GMRES was never restarted";
  }
  return text("--restart %d lengthens the cycles of GMRES (now %d)", worthwhile_restart(2 * now, facts), now);
}

// For a solve that another method ended; a preconditioner where GMRES was among the attempts.
std::string gmres_instead(const SolveReport& report, const SolveOptions& options, const AdviceFacts& facts,
                          const char* why) {
  for (const Attempt& attempt : report.attempts) {
    if (is_gmres(attempt.method)) return stronger_precond(options) + ": GMRES failed too";
  }
  return text("--solver gmres --restart %d%s", worthwhile_restart(100, facts), why);
}

// Ten times as many, no fewer than the default and no more than the option takes.
std::string more_iterations(const StopCriterion& stop) {
  const long long more = std::max<long long>(StopCriterion{}.max_iterations, 10LL * stop.max_iterations);
  return text("--max-iterations %lld allows more (now %d)",
              std::min<long long>(more, std::numeric_limits<int>::max()), stop.max_iterations);
}

std::string after_iterations(const SolveReport& report, const SolveOptions& options, const AdviceFacts& facts) {
  // Below these a method cannot be judged: a residual may stand still for n iterations and fall then.
  constexpr Index enough_to_judge = 1000;
  const StopCriterion& stop = options.system.stop;
  if (stop.max_iterations < std::min(facts.rows, enough_to_judge)) return more_iterations(stop);
  if (is_gmres(report) && report.restarts > 0) {
    return longer_cycle(report, options, facts);
  }
  if (!is_gmres(report) && !(report.true_residual < 0.1 * report.initial_residual)) {
    return gmres_instead(report, options, facts, ": the residual hardly decreased");
  }
  return more_iterations(stop);
}

std::string after_stagnation(const SolveReport& report, const SolveOptions& options, const AdviceFacts& facts) {
  if (report.attainable_residual > 0) {
    return text("--rtol %.0e is what rounding allows for this matrix",
                2 * report.relative(report.attainable_residual));
  }
  if (is_gmres(report)) {
    return longer_cycle(report, options, facts);
  }
  return gmres_instead(report, options, facts, " is the most robust method");
}

std::string after_divergence(const SolveReport& report, const SolveOptions& options, const AdviceFacts& facts) {
  if (is_gmres(report)) {
    const bool bare = options.system.precond.name == "none";
    return bare ? stronger_precond(options) : "--precond none: the preconditioner may be what makes it diverge";
  }
  return gmres_instead(report, options, facts, ": its residuals do not grow");
}

std::string after_breakdown(const SolveReport& report, const SolveOptions& options, const AdviceFacts& facts) {
  if (!is_gmres(report)) return gmres_instead(report, options, facts, " does not break down this way");
  const bool bare = options.system.precond.name == "none";
  return (bare ? stronger_precond(options) : "--precond none") + ", or inspect the matrix with purlin info";
}

// Where single precision had a part in how an attempt ended, that comes before all that the last of them suggests.
// Empty where it had none that is seen.
std::string after_single_precision(const SolveReport& report, const SolveOptions& options) {
  if (!options.single_precision || report.converged() || report.status == Status::stopped_by_caller) return "";
  std::vector<Attempt> attempts = report.attempts;
  if (attempts.empty())
    attempts.push_back({report.solver, report.status, 0, report.true_residual, 0, "", 0, report.method});
  const auto best_that_ended = [&](Status status) {
    const Attempt* best = nullptr;
    for (const Attempt& attempt : attempts) {
      if (attempt.status != status) continue;
      if (best == nullptr || attempt.true_residual < best->true_residual) best = &attempt;
    }
    return best;
  };
  const std::string more_digits = "--precision double or mixed: in single precision ";
  if (const Attempt* attempt = best_that_ended(Status::stagnation)) {
    return more_digits +
           text("%s stagnated at %.1e", attempt->solver.c_str(), report.relative(attempt->true_residual));
  }
  if (best_that_ended(Status::not_finite) != nullptr) return "--precision double has a wider range of values";
  if (report.status == Status::breakdown || report.status == Status::diverged)
    return more_digits + "rounding may be what ended " + report.solver;
  const double tolerance = report.relative(report.tolerance);
  if (report.status == Status::max_iterations && tolerance < std::numeric_limits<float>::epsilon()) {
    return more_digits + text("%.0e |b| can seldom be reached", tolerance);
  }
  return "";
}

std::string after_indefinite(const SolveReport& report, const SolveOptions& options) {
  const bool preconditioner = report.failure.cause == Cause::precond_not_positive;
  if (preconditioner && options.system.precond.name != "none") return "--precond none, or --solver gmres";
  return "--solver gmres does not need a positive definite matrix";
}

// Failures that a null space may be the cause of, where it was not given.
bool singular_unnoticed(const SolveReport& report, const SolveOptions& options, const AdviceFacts& facts) {
  if (!facts.rows_sum_to_zero || options.system.null_space == NullSpace::constant) return false;
  switch (report.status) {
    case Status::max_iterations:
    case Status::breakdown:
    case Status::not_positive_definite:
    case Status::not_finite:
    case Status::stagnation:
    case Status::diverged:
      return true;
    default:
      return false;
  }
}

// b has a mean that A cannot produce, and the rest of b is solved for. The tolerance is that of the rest.
bool solved_but_for_mean(const SolveReport& report, const SolveOptions& options) {
  return options.system.null_space == NullSpace::constant && report.status == Status::stagnation &&
         !report.attempts.empty() && report.attempts.back().true_residual <= report.tolerance;
}

std::string after_mean(const SolveReport& report) {
  const double residual = report.attempts.back().true_residual;
  // The mean is part of |b| and of the true residual, at right angles to the rest of either.
  const double rest_squared =
      report.rhs_norm * report.rhs_norm - report.true_residual * report.true_residual + residual * residual;
  const std::string how_well =
      rest_squared > 0 ? text(" to %.1e |b - mean(b)|", residual / std::sqrt(rest_squared)) : "";
  return "take the mean out of b: x solves A x = b - mean(b)" + how_well + ", and that b gives exit status 0";
}

}  // namespace

std::string remark_on_error(const SolveReport& report, double solution_error, const SolveOptions& options,
                            const AdviceFacts& facts) {
  const bool far = solution_error > 1e-2 && solution_error > 1e3 * report.relative(report.true_residual);
  if (!report.converged() || !far) return "";
  const std::string remark = "a small residual says little about x here: the matrix is ";
  if (!facts.rows_sum_to_zero) return remark + "ill-conditioned or singular";
  if (options.system.null_space == NullSpace::constant)
    return remark + "ill-conditioned, or its null space is larger";
  return remark + "singular, its rows sum to zero; see --null-space constant";
}

std::string next_step(const SolveReport& report, const SolveOptions& options, const AdviceFacts& facts) {
  if (singular_unnoticed(report, options, facts)) {
    return "--null-space constant: the rows sum to zero, so A is singular and maps constant vectors to zero";
  }
  if (solved_but_for_mean(report, options)) return after_mean(report);
  const std::string more_digits = after_single_precision(report, options);
  if (!more_digits.empty()) return more_digits;
  switch (report.status) {
    case Status::converged:
      return "";
    case Status::max_iterations:
      return after_iterations(report, options, facts);
    case Status::breakdown:
      return after_breakdown(report, options, facts);
    case Status::not_positive_definite:
      return after_indefinite(report, options);
    case Status::not_finite:
      return "purlin info shows the sizes of the entries; check b and the guess too";
    case Status::stagnation:
      return after_stagnation(report, options, facts);
    case Status::diverged:
      return after_divergence(report, options, facts);
    case Status::time_limit:
      return text("--time-limit %g allows more (now %g)", 10 * options.system.stop.time_limit_seconds,
                  options.system.stop.time_limit_seconds);
    case Status::stopped_by_caller:
      return options.out.empty() ? "--out X.mtx saves the current solution; --guess X.mtx continues from it"
                                 : "--guess " + shell_quoted(options.out) + " continues from here";
  }
  return "";
}

}  // namespace purlin::cli
