// SPDX-License-Identifier: Apache-2.0
// When a system is solved through another one.
#include "solver/system/equivalent_route.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include <newel/core/vector_ops.hpp>
#include <newel/precond/pattern_options.hpp>
#include <newel/precond/registry.hpp>
#include "core/memory/work_limit.hpp"
#include "core/vectors/alone.hpp"
#include "core/vectors/instantiate.hpp"
#include "core/vectors/over_ranks.hpp"
#include "solver/chain/attempts.hpp"
#include "solver/equivalent/equivalent_solve.hpp"
#include "solver/operators/present_matrix.hpp"
#include "solver/system/callers_rows.hpp"

namespace newel::detail {
namespace {

// Rows that differ by as much have no digit of double precision in common: |b - A x| says nothing of the small ones.
constexpr int bits_beyond_digits = 50;
// Rows that differ by as much may be why a solve failed.
constexpr int many_bits = 10;
// Of a system that was matched before anything else was tried. Of those that converge at all, nearly all take less.
constexpr int most_iterations_matched = 1500;

bool differ_by(const MatrixTraits& traits, int bits) {
  const bool known = traits.least_row_max > 0 && std::isfinite(traits.max_abs);
  return known && std::ilogb(traits.max_abs) - std::ilogb(traits.least_row_max) >= bits;
}

const ScalingOptions& scaling_of(const SystemOptions& options) { return options.solver.of<ScalingOptions>(); }

// Whether "auto" may do it at all.
template <class T, Space S>
bool is_open(const SystemOptions& options, const Operators<T, S>& system) {
  return options.solver.name == "auto" && options.null_space == NullSpace::none &&
         options.precond.of<PatternOptions>().pattern == nullptr && !system.parts.has_preconditioner() &&
         ranks_of(system.ctx) == nullptr && system.A != nullptr && system.chosen.traits && !system.chosen.diagonal;
}

}  // namespace

ScalingWish demanded_scaling(const SystemOptions& options) {
  const ScalingOptions& asked = scaling_of(options);
  ScalingWish wish{asked.scale == Use::on, asked.match == Use::on, "requested"};
  if (options.decision && (options.decision->scaled || options.decision->matched)) {
    wish = {asked.scale == Use::on || (options.decision->scaled && asked.scale == Use::automatic),
            asked.match == Use::on || (options.decision->matched && asked.match == Use::automatic), "decided before"};
  }
  return wish.any() ? wish : ScalingWish{};
}

void require_scalable(const SystemOptions& options, bool has_matrix, bool own_parts) {
  const ScalingOptions& asked = scaling_of(options);
  if (asked.scale != Use::on && asked.match != Use::on) return;
  const std::string what = asked.scale == Use::on ? "scale" : "match";
  if (!has_matrix) throw InputError("'" + what + "' needs the entries of a matrix on one rank, not an operator");
  if (own_parts) throw InputError("'" + what + "' changes the matrix, which a given preconditioner does not know");
  if (options.null_space != NullSpace::none) {
    throw InputError("'" + what + "' changes the null space of the matrix, and 'null_space' names one");
  }
}

template <class T, Space S>
ScalingWish EquivalentRoute<T, S>::automatic(const Operators<T, S>& system) const {
  if (!is_open(options_, system) || system.given_order()) return {};
  const ScalingOptions& asked = scaling_of(options_);
  const MatrixTraits& traits = *system.chosen.traits;
  const bool scale = asked.scale == Use::automatic;
  const std::string& precond = system.options.precond.name;  // that for saddle points has shown that it serves
  const bool chosen = precond != "none" && !same_name(precond, "auto");
  const bool saddle = chosen && find_preconditioner(precond).automatic == AutoPrecond::saddle;
  if (asked.match == Use::automatic && !traits.symmetric() && !traits.full_diagonal() && !saddle) {
    return {scale, true, "a diagonal with zeros, and a matrix that is not symmetric", most_iterations_matched};
  }
  if (!scale || !differ_by(traits, bits_beyond_digits)) return {};
  return {true, false, "the rows differ by more than the digits of the precision"};
}

template <class T, Space S>
bool EquivalentRoute<T, S>::may_help(const Operators<T, S>& system, const SolveReport& report) const {
  const ScalingOptions& asked = scaling_of(options_);
  const bool scale = asked.scale == Use::automatic, match = asked.match == Use::automatic;
  if (always_ || failed_ || !is_open(options_, system) || report.failure.cause == Cause::singular) return false;
  if (report.converged()) return scale && !report.warning.empty();
  const MatrixTraits& traits = *system.chosen.traits;
  return worth_another_preconditioner(report) &&
         ((scale && differ_by(traits, many_bits)) || (match && !traits.symmetric()));
}

// False: it lacks memory, or the matrix does not allow it, which is noted in `before`.
template <class T, Space S>
template <class Work>
bool EquivalentRoute<T, S>::unless_refused(const Operators<T, S>& system, SolveReport& before, const Work& work) {
  try {
    work();
    return true;
  } catch (const OutOfMemory& e) {
    require_alone(system.ctx);
    before.failure.untried.push_back({"", e.what()});
  } catch (const InputError& e) {
    before.failure.untried.push_back({"", e.what()});
  }
  if (!always_) made_.reset();
  answers_ = false;
  failed_ = true;
  return false;
}

template <class T, Space S>
void EquivalentRoute<T, S>::plan(const Operators<T, S>& system, const ScalingWish& wish) {
  wish_ = wish;
  SolveReport nobody;
  unless_refused(system, nobody, [&] { answers_ = prepare(system); });
  // Structurally singular: the direct solver says so of the system as it was given, and names rows.
  if (answers_ && wish.match && !made_->info().scaling.matched) {
    made_.reset();
    answers_ = false;
    failed_ = true;
  }
}

template <class T, Space S>
bool EquivalentRoute<T, S>::prepared_in_time(const Operators<T, S>& system) {
  try {
    return prepare(system);
  } catch (const WorkInterrupted&) {
    if (!always_) made_.reset();
    return false;
  }
}

template <class T, Space S>
std::optional<SolveReport> EquivalentRoute<T, S>::solve(const Operators<T, S>& system, Span<const T, S> b,
                                                        Span<T, S> x, const StopCriterion& stop,
                                                        const ProgressFn& progress, InitialGuess guess,
                                                        SolveReport& before) {
  const auto start = std::chrono::steady_clock::now();
  std::optional<SolveReport> found;
  unless_refused(system, before, [&] {
    if (!prepared_in_time(system)) return;
    if (!std::isfinite(before.true_residual)) guess = InitialGuess::zero;
    StopCriterion own = stop;
    own.max_iterations = std::min(own.max_iterations, wish_.most_iterations);
    SolveReport report = EquivalentSolve<T, S>(*made_, system.matrix(), own, progress).run(b, x, guess);
    name_in_callers_order(system.ctx, system.order, report);
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    answers_ = report.converged();
    failed_ = !answers_;
    if (!always_ && !answers_) made_.reset();
    found = std::move(report);
  });
  return found;
}

template <class T, Space S>
std::vector<SolveReport> EquivalentRoute<T, S>::solve_columns(const Operators<T, S>& system, Span<const T, S> b,
                                                              Span<T, S> x, Index columns, const StopCriterion& stop,
                                                              const ProgressFn& progress, InitialGuess guess) {
  if (!prepared_in_time(system)) return {};
  return EquivalentSolve<T, S>(*made_, system.matrix(), stop, progress).run_columns(b, x, columns, guess);
}

// False: the matrix is not there.
template <class T, Space S>
bool EquivalentRoute<T, S>::prepare(const Operators<T, S>& system) {
  if (made_ != nullptr && !values_are_new_) return true;
  const PresentMatrix<T, S> present(system);
  const std::optional<CsrView<T, S>>& a = present.view();
  if (!a) return false;
  if (made_ != nullptr) {
    made_->refresh(*a, everything_is_new_ ? RefreshScope::everything : RefreshScope::operator_only);
  } else {
    if (!wish_.any()) {
      const ScalingOptions& asked = scaling_of(options_);
      const bool match = asked.match == Use::automatic && !system.chosen.traits->symmetric();
      wish_ = {asked.scale == Use::automatic, match, "a solve without it has failed, or left a row almost unsolved"};
    }
    SystemOptions options = options_;
    options.decision.reset();
    options.old_of_new.clear();  // the matrix is in that order
    options.part_begin.clear();
    made_ = std::make_unique<ScaledSystem<T, S>>(system.ctx, *a, wish_, std::move(options));
  }
  values_are_new_ = everything_is_new_ = false;
  return true;
}

#define X(T, S) template class EquivalentRoute<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
