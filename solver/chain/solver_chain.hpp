// SPDX-License-Identifier: Apache-2.0
/// The solvers that a choice names, tried in turn, each from the best x of those before. Internal.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "solver/chain/attempts.hpp"
#include "solver/chain/constant_null_space.hpp"
#include "solver/chain/returned_x.hpp"
#include "solver/chain/solver_list.hpp"
#include "solver/krylov/monitor/column_progress.hpp"
#include "solver/krylov/monitor/operator_exchange.hpp"
#include "solver/krylov/monitor/scaled_system.hpp"

namespace newel::detail {

template <class T, Space S>
class OtherUnits;

template <class T, Space S>
class SolverChain {
 public:
  /// Makes the first of the steps, of which there is one at the least; the others are made when they are first
  /// needed. A and M (which may be null) outlive the chain. With `constant_null_space` the mean is taken out of x;
  /// throws InputError when A does not map the constant vector to zero. `recycling` is what the methods pass on from
  /// solve to solve, and outlives the chain; null: nothing.
  SolverChain(const Context<S>& ctx, std::vector<ChainStep<T, S>> steps, const LinearOperator<T, S>& A,
              const LinearOperator<T, S>* M, bool constant_null_space, Recycling<T, S>* recycling = nullptr);

  /// Continues with the next solver after breakdown, indefiniteness, stagnation or divergence; iterations and time
  /// are those of all together. The report lists every attempt. A system that fails since squares leave the range of
  /// T is solved again in other units, powers of two; a first attempt without an iteration is then not listed. A
  /// right-hand side with a part that a singular matrix cannot produce is solved without that part and ends with
  /// `stagnation`. With the guess `zero`, x holds zeros. `exchange` is the owner of A and M, whom the solve asks for
  /// faster ones on its way; null: it asks nobody.
  SolveReport solve(Span<const T, S> b, Span<T, S> x, const StopCriterion& stop, const ProgressFn& progress,
                    InitialGuess guess = InitialGuess::in_x, OperatorExchange<T, S>* exchange = nullptr);

  /// The same for `columns` right-hand sides, which lie one after the other in b, as their solutions do in x. Where
  /// the first solver has batches, as CG has, it takes them side by side, and columns on which it fails continue
  /// alone; other solvers take column after column. The time limit is that of all together.
  std::vector<SolveReport> solve_columns(Span<const T, S> b, Span<T, S> x, Index columns, const StopCriterion& stop,
                                         const ProgressFn& progress, InitialGuess guess = InitialGuess::in_x);

  /// Other operators of the same system, in the place of those before, which need not exist any more.
  void use(const LinearOperator<T, S>& A, const LinearOperator<T, S>* M);
  /// The first solver is not tried any more, where there is another.
  void drop_first() { solvers_.drop_first(); }
  /// Does now for these what the first solve would do once, allocations included.
  void prepare();
  /// What the chain keeps between its attempts of x, to be renumbered with it, and what else may lie there; empty:
  /// nothing.
  Span<T, S> kept_x() { return best_.x.span(); }

  /// To be called when A or M has new values: what is known about them is checked again in the next solve, which
  /// throws InputError where the constant vector is no longer mapped to zero.
  void values_changed() {
    if (ones_ != nullptr) ones_->values_changed();
  }

 private:
  using Clock = std::chrono::steady_clock;

  /// M as the solvers apply it.
  const LinearOperator<T, S>* precond() const { return ones_ != nullptr ? ones_->precond() : M_; }
  /// Of one solver; where another follows, and `may_give_up`, it ends when its patience has run out.
  SolveReport attempt(std::size_t step, Span<const T, S>& b, Span<T, S>& x, const StopCriterion& stop,
                      const ProgressFn& progress, InitialGuess guess, bool may_give_up = true);
  SolveReport go_on(SolveReport whole, Span<const T, S> b, Span<T, S> x, const StopCriterion& stop,
                    const ProgressFn& progress, Clock::time_point start);
  SolveReport go_on_in_other_units(SolveReport whole, const SystemUnits& units, Span<const T, S> b, Span<T, S> x,
                                   const StopCriterion& stop, const ProgressFn& progress);
  void solve_in_range(std::size_t step, SolveReport& whole, Span<const T, S> b, Span<T, S> x,
                      const StopCriterion& stop, const ProgressFn& progress);
  void finish(SolveReport& report, double outside, Span<const T, S> b, Span<const T, S> x, const StopCriterion& stop);
  std::vector<SolveReport> solve_batch(Span<const T, S> b, Span<T, S> x, Index columns, const StopCriterion& stop,
                                       ColumnProgress& progress, InitialGuess guess);

  Context<S> ctx_;
  SolverList<T, S> solvers_;
  const LinearOperator<T, S>* A_;
  const LinearOperator<T, S>* M_;
  std::unique_ptr<ConstantNullSpace<T, S>> ones_;  ///< null: A is regular, as far as is known
  KeptX<T, S> best_;                               ///< if several attempts may be made
  Array<T, S> projected_b_;                        ///< b without its mean
  ReturnedResidual<T, S> judge_;
  OperatorExchange<T, S>* exchange_ = nullptr;  ///< of the present solve
  Recycling<T, S>* recycling_;
  std::shared_ptr<OtherUnits<T, S>> other_units_;  ///< from the first system on that left the range of T
  Array<T, S> guesses_, projected_columns_;        ///< of all columns, as `best_` and `projected_b_` are of one
};

}  // namespace newel::detail
