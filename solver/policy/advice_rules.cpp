// SPDX-License-Identifier: Apache-2.0
// The table of advice: what happened, and what helps. The first rule that has a suggestion speaks.
#include "solver/chain/attempts.hpp"
#include "solver/policy/advice_suggestions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <newel/core/table.hpp>
#include <newel/precond/amg/amg_options.hpp>
#include <newel/precond/registry.hpp>

namespace newel::detail {
namespace {

using Situation = AdviceSituation;
using MaybeSuggestion = std::optional<Suggestion>;

// ---- the system itself

MaybeSuggestion continue_from_x(const Situation& s) { return Suggestion{{}, s.words().resume}; }

MaybeSuggestion correct_values(const Situation& s) {
  if (s.facts().not_finite_rows.count > 0) {
    return Suggestion{{}, "correct the matrix: " + defect_text(s.facts(), s.words())};
  }
  if (s.report().failure.cause != Cause::not_finite_input) return std::nullopt;
  const bool guess = s.report().failure.subject == Subject::initial_guess;
  return Suggestion{
      {},
      std::string("correct the ") + (guess ? "initial guess" : "right-hand side") + ", which holds NaN or infinity"};
}

MaybeSuggestion correct_assembly(const Situation& s) {
  const std::string defect = defect_text(s.facts(), s.words());
  if (defect.empty()) return std::nullopt;
  if (s.facts().zero_matrix()) return Suggestion{{}, "correct the matrix: " + defect};
  const bool column = s.facts().zero_rows.count == 0;
  return Suggestion{{},
                    std::string(column ? "add an equation for that unknown" : "add the equation of that row") +
                        ", or remove the row and the unknown from the system: " + defect};
}

MaybeSuggestion change_units(const Situation& s) {
  return Suggestion{{}, "change the units of A or b: " + s.words().inspect + " shows the sizes of the entries of A"};
}

MaybeSuggestion name_null_space(const Situation& s) {
  if (!s.facts().rows_sum_to_zero || s.options().null_space == NullSpace::constant) return std::nullopt;
  return Suggestion{{{"null_space", "constant", true}},
                    "the rows sum to zero, so A is singular and maps constant vectors to zero"};
}

// b has a mean that A cannot produce, and the rest of b is solved for. The tolerance is that of the rest.
MaybeSuggestion take_mean_out(const Situation& s) {
  const SolveReport& report = s.report();
  const double residual = s.attempts().back().true_residual;
  if (s.options().null_space != NullSpace::constant || report.attempts.empty() || !(residual <= report.tolerance))
    return std::nullopt;
  // The mean is part of |b| and of the true residual, at right angles to the rest of either.
  const double rest_squared =
      report.rhs_norm * report.rhs_norm - report.true_residual * report.true_residual + residual * residual;
  const std::string how_well =
      rest_squared > 0 ? advice_format(" to %.1e |b - mean(b)|", residual / std::sqrt(rest_squared)) : "";
  return Suggestion{
      {},
      "subtract the mean from b: x solves A x = b - mean(b)" + how_well + ", and with that b the solve converges"};
}

MaybeSuggestion no_solution(const Situation&) {
  return Suggestion{{},
                    "check boundary conditions and b: A is singular or nearly so, and A x cannot come closer to b"};
}

MaybeSuggestion regular_matrix(const Situation& s) {
  const Failure& failure = s.report().failure;
  if (failure.unmatched_row >= 0) {
    const auto number = [&](Index i) { return std::to_string(static_cast<std::int64_t>(i) + s.words().first_row); };
    return Suggestion{{},
                      "check the equations: when rows are paired with different columns, row " +
                          number(failure.unmatched_row) + " and column " + number(failure.unmatched_column) +
                          " of A (counted from " + std::to_string(s.words().first_row) + ") remain"};
  }
  return Suggestion{{},
                    "check the boundary conditions and the equations with " + s.words().inspect +
                        ": some of them depend on the others, to working precision"};
}

// ---- precision

// Where single precision had a part in how an attempt ended, that comes before all that the last of them suggests.
MaybeSuggestion more_digits(const Situation& s) {
  if (!s.single_precision()) return std::nullopt;
  const SolveReport& report = s.report();
  const auto in_double = [](const std::string& why) { return Suggestion{{{"precision", "double", true}}, why}; };
  if (const Attempt* attempt = s.best_that_ended(Status::stagnation)) {
    return in_double(advice_format("in single precision %s stagnated at %.1e", attempt->solver.c_str(),
                                   report.relative(attempt->true_residual)));
  }
  if (s.best_that_ended(Status::not_finite) != nullptr) return in_double("it has a wider range of values");
  if (s.ended(Status::breakdown) || s.ended(Status::diverged))
    return in_double("in single precision rounding may have ended " + report.solver);
  const double tolerance = report.relative(report.tolerance);
  if (s.ended(Status::max_iterations) && tolerance < std::numeric_limits<float>::epsilon())
    return in_double(advice_format("in single precision %.0e |b| is rarely reached", tolerance));
  return std::nullopt;
}

// A cycle in single precision may lose its sign. One that was not asked for has been tried in double already.
MaybeSuggestion amg_in_double(const Situation& s) {
  const AmgOptions& amg = s.options().precond.of<AmgOptions>();
  if (s.single_precision() || amg.precision != AmgPrecision::single) return std::nullopt;
  const bool lost = std::any_of(s.attempts().begin(), s.attempts().end(), [&](const Attempt& attempt) {
    const Failure& failure = attempt.failure;
    return same_name(s.preconditioner_of(attempt), "amg") &&
           (failure.cause == Cause::precond_not_positive || failure.asymmetric == Asymmetric::preconditioner ||
            failure.cause == Cause::growth_beyond_digits || attempt.status == Status::diverged ||
            attempt.status == Status::not_finite);
  });
  if (!lost) return std::nullopt;
  std::vector<SettingChange> settings = {{"amg_precision", "double", true}};
  if (!same_name(s.options().precond.name, "amg")) settings.insert(settings.begin(), {"preconditioner", "amg", true});
  return Suggestion{settings, "in single precision its cycle failed"};
}

// A body that nothing holds: constant vectors are not all that its matrix maps to zero, and CG does not see that b
// has a part of the others.
MaybeSuggestion more_null_vectors(const Situation& s) {
  constexpr double hardly_less = 0.1;
  const SolveReport& report = s.report();
  if (s.options().null_space != NullSpace::constant || !s.is_symmetric() ||
      !(report.relative(report.true_residual) > hardly_less)) {
    return std::nullopt;
  }
  const auto is_for_symmetric = [](const SolverMethod& method) { return method.demands == Demand::symmetric; };
  if (s.used(is_for_symmetric) != nullptr) return std::nullopt;
  for (const SolverMethod& method : solver_methods()) {
    if (!is_for_symmetric(method)) continue;
    return Suggestion{{{"solver", method.name, true}},
                      "it shows whether b has a part that A cannot produce, besides a constant one"};
  }
  return std::nullopt;
}

// Twice a residual over |b|.
MaybeSuggestion tolerance_above(const Situation& s, double residual, const char* why) {
  constexpr double useful = 0.1;  // a larger residual is no solution
  const double level = 2 * residual;
  if (!(level > 0)) return std::nullopt;
  if (level >= useful) return inspect_matrix(s);
  return Suggestion{{{"rtol", advice_format("%.0e", level)}}, why};
}

MaybeSuggestion attainable_tolerance(const Situation& s) {
  return tolerance_above(s, s.report().relative(attainable_residual(s)),
                         "the accuracy that rounding allows for this matrix");
}

MaybeSuggestion tolerance_of_x(const Situation& s) {
  return tolerance_above(s, s.report().failure.level, "the accuracy that rounding allows for an x of this size");
}

// ---- limits

MaybeSuggestion after_few_iterations(const Situation& s) {
  if (s.options().stop.max_iterations >= std::min<Index>(s.facts().rows, enough_to_judge)) return std::nullopt;
  return more_iterations(s);
}

MaybeSuggestion while_it_falls(const Situation& s) {
  const bool broken = std::any_of(s.attempts().begin(), s.attempts().end(), [](const Attempt& attempt) {
    return attempt.status == Status::breakdown || attempt.status == Status::diverged;
  });
  if (broken || !residual_falls(s)) return std::nullopt;
  return more_iterations(s);
}

MaybeSuggestion more_time(const Situation& s) {
  const double now = s.options().stop.time_limit_seconds;
  return Suggestion{{{"time_limit", advice_format("%g", 10 * now)}}, advice_format("allows more (now %g)", now)};
}

// ---- methods and preconditioners

MaybeSuggestion stronger_for_definite(const Situation& s) {
  if (!s.may_be_definite()) return std::nullopt;
  return stronger_preconditioner(s, "the residual hardly decreased");
}
MaybeSuggestion stronger(const Situation& s) {
  const SolverMethod* const robust = s.used([](const SolverMethod& method) { return method.minimises; });
  return stronger_preconditioner(s,
                                 robust != nullptr ? robust->title + " failed too" : "the residual hardly decreased");
}
MaybeSuggestion definite_preconditioner(const Situation& s) {
  if (!s.may_be_definite()) return std::nullopt;
  const SolverMethod* const method =
      s.used([](const SolverMethod& line) { return line.demands == Demand::definite; });
  return stronger_preconditioner(
      s, "symmetric and positive definite, which " + (method != nullptr ? method->title : "the solver") + " needs");
}

MaybeSuggestion minimising_for_slow(const Situation& s) { return minimising(s, "the residual hardly decreased"); }
MaybeSuggestion minimising_for_stagnation(const Situation& s) { return minimising(s, "the most robust method"); }
MaybeSuggestion minimising_for_divergence(const Situation& s) { return minimising(s, "its residuals do not grow"); }
MaybeSuggestion minimising_for_breakdown(const Situation& s) {
  return minimising(s, "it does not break down this way");
}
MaybeSuggestion minimising_for_indefinite(const Situation& s) {
  return minimising(s, "it does not need a positive definite matrix or preconditioner");
}

// The preconditioner may be to blame.
MaybeSuggestion bare_after_divergence(const Situation& s) {
  return no_preconditioner(s, "the preconditioner may cause the divergence");
}
MaybeSuggestion bare_after_breakdown(const Situation& s) {
  if (!s.ended_in(&SolverMethod::minimises)) return std::nullopt;
  return no_preconditioner(s, "the preconditioner may cause the breakdown");
}

// A singular M exhausts the space of a regular A. The diagonal ones are regular.
MaybeSuggestion bare_after_exhaustion(const Situation& s) {
  const PrecondMethod* const method = precond_table().find(s.preconditioner_of(s.attempts().back()));
  if (method == nullptr || method->diagonal) return std::nullopt;
  return no_preconditioner(s, "the preconditioner may be singular");
}

// ---- the tables

struct Rule {
  bool (*applies)(const Situation&);
  MaybeSuggestion (*suggest)(const Situation&);
};

template <Status status>
bool ended(const Situation& s) {
  return s.ended(status);
}
template <Cause cause>
bool met(const Situation& s) {
  return s.met(cause);
}
template <Cause cause>
bool ended_for(const Situation& s) {
  return s.report().failure.cause == cause;
}
bool any(const Situation&) { return true; }
bool judged(const Situation& s) { return !s.ended(Status::time_limit); }

constexpr Rule rules[] = {
    {&ended<Status::stopped_by_caller>, &continue_from_x},
    {&judged, &correct_values},
    {&judged, &correct_assembly},
    {&ended<Status::stagnation>, &take_mean_out},
    {&judged, &name_null_space},
    {&ended_for<Cause::solution_out_of_range>, &change_units},
    {&ended_for<Cause::norm_overflows>, &change_units},
    {&ended_for<Cause::norm_underflows>, &change_units},
    {&judged, &amg_in_double},
    {&any, &more_digits},
    {&judged, &attainable_tolerance},
    {&ended<Status::time_limit>, &more_time},
    {&met<Cause::krylov_space_exhausted>, &bare_after_exhaustion},
    {&met<Cause::krylov_space_exhausted>, &no_solution},
    {&met<Cause::inconsistent>, &no_solution},
    {&ended_for<Cause::zero_row>, &no_solution},
    {&ended_for<Cause::singular>, &regular_matrix},
    {&ended_for<Cause::rounding_of_x>, &tolerance_of_x},
    {&ended_for<Cause::outside_range>, &no_solution},
    {&ended<Status::max_iterations>, &after_few_iterations},
    {&judged, &more_null_vectors},
    {&judged, &symmetric_indefinite},
    {&ended<Status::max_iterations>, &longer_cycle},
    {&ended<Status::max_iterations>, &while_it_falls},
    {&ended<Status::max_iterations>, &stronger_for_definite},
    {&ended<Status::max_iterations>, &minimising_for_slow},
    {&ended_for<Cause::precond_not_positive>, &definite_preconditioner},
    {&ended<Status::not_positive_definite>, &minimising_for_indefinite},
    {&ended<Status::stagnation>, &longer_cycle},
    {&ended<Status::stagnation>, &stronger_for_definite},
    {&ended<Status::stagnation>, &minimising_for_stagnation},
    {&ended<Status::diverged>, &minimising_for_divergence},
    {&ended<Status::diverged>, &bare_after_divergence},
    {&ended<Status::breakdown>, &minimising_for_breakdown},
    {&ended<Status::breakdown>, &bare_after_breakdown},
    {&ended<Status::not_finite>, &inspect_matrix},
    {&judged, &stronger},
    {&judged, &inspect_matrix},
};

}  // namespace

MaybeSuggestion suggestion_for(const Situation& situation) {
  if (situation.report().converged()) return std::nullopt;
  for (const Rule& rule : rules) {
    if (!rule.applies(situation)) continue;
    if (MaybeSuggestion found = rule.suggest(situation)) return found;
  }
  return std::nullopt;
}

}  // namespace newel::detail
