// SPDX-License-Identifier: Apache-2.0
/// LastResort: the method of the table that "auto" takes when all others have failed. Internal.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "solver/chain/solver_chain.hpp"
#include "solver/operators/operators.hpp"

namespace newel::detail {

/// Made from the matrix as it is at the first failure, and kept if it has solved the system, or if rounding alone
/// kept it from that.
template <class T, Space S>
class LastResort {
 public:
  /// Whether it has solved the system that the others failed at, or shown that no x does, so that solves begin with
  /// it.
  bool answers() const { return answers_; }
  /// A has new values: they are read when the method is needed.
  void values_changed() {
    values_are_new_ = true;
    structurally_singular_.reset();
  }
  /// The rows are in another order: the method is made again when it is needed.
  void order_changed() { forget(); }

  /// One attempt from x, or from zero if the residual of `before` is not finite; both vectors are in solver order.
  /// Nothing if the system does not leave the solver to "auto", or if there is no such method here; also where that
  /// would take too long or too much memory, which is noted in `before`. If the others have come as close as rounding
  /// lets them, only a short attempt is made.
  std::optional<SolveReport> solve(const Operators<T, S>& system, Span<const T, S> b, Span<T, S> x,
                                   const StopCriterion& stop, const ProgressFn& progress, SolveReport& before);

  /// The same for all columns together, by a method that answers. None: it is not there any more.
  std::vector<SolveReport> solve_columns(const Operators<T, S>& system, Span<const T, S> b, Span<T, S> x,
                                         Index columns, const StopCriterion& stop, const ProgressFn& progress,
                                         InitialGuess guess);

  /// Whether the system may be solved by it, and so few rows can be paired with different columns in which they have
  /// an entry that the matrix is singular, which factors show at once, and others hardly ever. On a host. Pairs them
  /// once for the same values, unless the diagonal shows it.
  bool is_structurally_singular(const Operators<T, S>& system);

  /// Whether there is one for such a system.
  static bool exists_for(const Operators<T, S>& system) { return method_for(system) != nullptr; }
  /// Makes it now if that is estimated to take at most so many seconds; false: it is not there.
  bool ready_within(const Operators<T, S>& system, double seconds);
  /// After `ready_within` has refused: with how many seconds it may be made; infinity: with none.
  double seconds_to_be_ready() const { return seconds_to_be_ready_; }
  /// The same, and the first solve begins with it.
  bool begins_within(const Operators<T, S>& system, double seconds) {
    return answers_ = ready_within(system, seconds);
  }

 private:
  static const SolverMethod* method_for(const Operators<T, S>& system);
  bool prepare(const Operators<T, S>& system, const SolverMethod& method, double most_seconds);
  static void complete(const Operators<T, S>& system, SolveReport& report, double seconds);
  void forget();

  std::shared_ptr<KrylovSolver<T, S>> solver_;
  std::unique_ptr<SolverChain<T, S>> chain_;  // of that solver alone: it knows what to do at the ends of the range
  bool values_are_new_ = false, answers_ = false;
  std::optional<bool> structurally_singular_;  // once it was asked for
  double seconds_to_be_ready_ = 0;
};

}  // namespace newel::detail
