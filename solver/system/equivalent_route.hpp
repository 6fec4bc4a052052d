// SPDX-License-Identifier: Apache-2.0
/// EquivalentRoute: when a system is solved through another one. Internal.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "solver/operators/operators.hpp"
#include "solver/equivalent/scaled_system.hpp"

namespace newel::detail {

/// What the options demand, for a system of which only the entries may be known; nothing under "auto".
ScalingWish demanded_scaling(const SystemOptions& options);
/// Throws InputError if they demand what such a system does not allow.
void require_scalable(const SystemOptions& options, bool has_matrix, bool own_parts);

/// What solves of A x = b need of an EquivalentSystem: made at once, where that is demanded, rows fix unknowns or
/// differ beyond all digits; or, as a ScaledSystem, after a failure. That is kept if it has solved the system.
template <class T, Space S>
class EquivalentRoute {
 public:
  /// What the caller asked for, before anything was decided.
  void set_options(SystemOptions options) { options_ = std::move(options); }
  /// From now on all solves take it, and nothing else.
  void begin(std::unique_ptr<EquivalentSystem<T, S>> system) {
    made_ = std::move(system);
    always_ = true;
  }
  /// What "auto" does before the first solve; the preconditioner may still have to be chosen.
  ScalingWish automatic(const Operators<T, S>& system) const;
  /// Makes that, so that solves begin with it until one fails.
  void plan(const Operators<T, S>& system, const ScalingWish& wish);

  /// Whether solves begin with it, and whether nothing else may follow.
  bool answers() const { return made_ != nullptr && (always_ || answers_); }
  bool alone() const { return made_ != nullptr && always_; }
  EquivalentSystem<T, S>& made() const { return *made_; }

  /// A has new values: they are read when they are needed.
  void values_changed(RefreshScope scope) {
    values_are_new_ = true;
    failed_ = false;
    everything_is_new_ = everything_is_new_ || scope == RefreshScope::everything;
  }
  /// The rows are in another order: what was made after a failure is made again when it is needed.
  void order_changed() {
    if (!always_) made_.reset();
  }

  /// Whether it may help where a solve has failed, or hardly solved a row.
  bool may_help(const Operators<T, S>& system, const SolveReport& report) const;
  /// One attempt from x, or from zero if the residual of `before` is not finite. Nothing where the matrix is not at
  /// hand, or does not allow it, which is noted in `before`.
  std::optional<SolveReport> solve(const Operators<T, S>& system, Span<const T, S> b, Span<T, S> x,
                                   const StopCriterion& stop, const ProgressFn& progress, InitialGuess guess,
                                   SolveReport& before);
  /// All columns, by a system that answers; none if time is over before it is there.
  std::vector<SolveReport> solve_columns(const Operators<T, S>& system, Span<const T, S> b, Span<T, S> x,
                                         Index columns, const StopCriterion& stop, const ProgressFn& progress,
                                         InitialGuess guess);

 private:
  bool prepare(const Operators<T, S>& system);
  /// Within a solve, which has to end with a report.
  bool prepared_in_time(const Operators<T, S>& system);
  template <class Work>
  bool unless_refused(const Operators<T, S>& system, SolveReport& before, const Work& work);

  std::unique_ptr<EquivalentSystem<T, S>> made_;
  SystemOptions options_;
  ScalingWish wish_;  // unless all solves take it
  bool always_ = false, answers_ = false, failed_ = false;
  bool values_are_new_ = false, everything_is_new_ = false;
};

}  // namespace newel::detail
