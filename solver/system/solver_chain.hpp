// SPDX-License-Identifier: Apache-2.0
/// The solvers that a choice names, tried in turn, each from the best x of those before. Internal.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <newel/solver/method.hpp>
#include "solver/krylov/monitor/null_space.hpp"
#include "solver/krylov/monitor/operator_exchange.hpp"
#include "solver/krylov/monitor/scaled_system.hpp"

namespace newel::detail {

/// One solver of a chain.
template <class T, Space S>
struct ChainStep {
  std::string name;                                           ///< for messages
  const SolverMethod* method;                                 ///< null: none of the table's
  bool mixed;                                                 ///< iterates in single precision for a system in double
  std::function<std::shared_ptr<KrylovSolver<T, S>>()> make;  ///< or gives one that others refresh
};

/// The methods that a choice names, made by the table for n unknowns. Throws InputError for unknown names.
template <class T, Space S>
std::vector<ChainStep<T, S>> chain_steps(const Context<S>& ctx, Index n, const std::vector<std::string>& names,
                                         const SolverOptions& options);

/// After these outcomes another solver may do better from the same x.
bool worth_another_solver(const SolveReport& report);
/// The same of another preconditioner: not against rounding, nor for a b that no x produces.
bool worth_another_preconditioner(const SolveReport& report);

/// What the attempts call attainable becomes one figure, the residual of the best x. Where another attempt came far
/// below what one of them reached, none of them knows.
void settle_attainable(SolveReport& whole);

/// Makes the sentences of a report and its attempts. `preconditioner` is its name, or empty.
void write_reasons(SolveReport& report, const std::string& preconditioner);

/// What a report says of the residual of its x, for a report whose x has been replaced by that of `from`.
void take_residual(SolveReport& report, const SolveReport& from);

/// The last attempt's outcome, seen from outside it.
void overrule(SolveReport& report, Status status, const Failure& failure);

/// Appends what a later attempt did to the report of the earlier ones. The history has the start once.
void append_attempt(SolveReport& whole, SolveReport&& next);

/// The steps of a system that iterates in single precision first: the first of them in mixed precision in front,
/// where its method has that.
template <Space S>
std::vector<ChainStep<double, S>> with_mixed_step(const Context<S>& ctx, std::vector<ChainStep<double, S>> steps,
                                                  const LowSystem<S>& low, const SolverOptions& options);

template <class T, Space S>
class SolverChain {
 public:
  /// Makes the first of the steps, of which there is one at the least; the others are made when they are first
  /// needed. A and M (which may be null) outlive the chain. With `constant_null_space` the mean is taken out of x;
  /// throws InputError when A does not map the constant vector to zero.
  SolverChain(const Context<S>& ctx, std::vector<ChainStep<T, S>> steps, const LinearOperator<T, S>& A,
              const LinearOperator<T, S>* M, bool constant_null_space);

  /// Continues with the next solver after breakdown, indefiniteness, stagnation or divergence; iterations and time
  /// are those of all together. The report lists every attempt. A system that fails since squares leave the range of
  /// T is solved again in other units, powers of two; a first attempt without an iteration is then not listed. A
  /// right-hand side with a part that a singular matrix cannot produce is solved without that part and ends with
  /// `stagnation`. With the guess `zero`, x holds zeros.
  SolveReport solve(Span<const T, S> b, Span<T, S> x, const StopCriterion& stop, const ProgressFn& progress,
                    InitialGuess guess = InitialGuess::in_x);

  /// The same for `columns` right-hand sides, which lie one after the other in b, as their solutions do in x. Where
  /// the first solver has batches, as CG has, it takes them side by side, and columns on which it fails continue
  /// alone; other solvers take column after column. The time limit is that of all together.
  std::vector<SolveReport> solve_columns(Span<const T, S> b, Span<T, S> x, Index columns, const StopCriterion& stop,
                                         const ProgressFn& progress, InitialGuess guess = InitialGuess::in_x);

  /// The owner of A and M, whom solves for one right-hand side ask for faster ones on their way; null: none do.
  void set_exchange(OperatorExchange<T, S>* exchange) { exchange_ = exchange; }
  /// Other operators of the same system, in the place of those before, which need not exist any more.
  void use(const LinearOperator<T, S>& A, const LinearOperator<T, S>* M);
  /// The first solver is not tried any more, where there is another.
  void drop_first();
  /// Does now for these what the first solve would do once, allocations included.
  void prepare();
  /// What the chain keeps between its attempts of x, to be renumbered with it, and what else may lie there; empty:
  /// nothing.
  Span<T, S> kept_x() { return best_x_.span(); }

  /// To be called when A or M has new values: what is known about them is checked again in the next solve, which
  /// throws InputError where the constant vector is no longer mapped to zero.
  void values_changed() { null_space_known_ = false; }

 private:
  using Clock = std::chrono::steady_clock;

  KrylovSolver<T, S>& solver(std::size_t step);
  bool can_make(std::size_t step, SolveReport& whole);
  SolveReport attempt(std::size_t step, Span<const T, S>& b, Span<T, S>& x, const StopCriterion& stop,
                      const ProgressFn& progress, InitialGuess guess = InitialGuess::in_x);
  SolveReport patient_attempt(std::size_t step, Span<const T, S>& b, Span<T, S>& x, const StopCriterion& stop,
                              const ProgressFn& progress, InitialGuess guess = InitialGuess::in_x);
  void restore_best(Span<T, S> x) const;
  void look_for_inconsistency(SolveReport& report, Span<const T, S> b, Span<const T, S> x);
  void solve_in_range(std::size_t step, SolveReport& whole, Span<const T, S> b, Span<T, S> x,
                      const StopCriterion& stop, const ProgressFn& progress);
  void shorten(SolveReport& whole, Span<const T, S> b, Span<T, S> x);
  SolveReport of_guess(const SolveReport& report) const;
  void finish_in_null_space(SolveReport& report, double outside, Span<const T, S> b, Span<const T, S> x,
                            const StopCriterion& stop);
  void judge_anew(SolveReport& report, Span<const T, S> b, Span<const T, S> x);
  /// Room for `size` values, which is kept: later solves allocate nothing.
  template <class V>
  void at_least(Array<V, S>& array, std::int64_t size) {
    if (array.size() >= size) return;
    array = Array<V, S>();
    array = Array<V, S>(ctx_, size);
  }
  bool batched() const;
  void check_null_space();
  double split_off_constant(Span<const T, S> b, const StopCriterion& stop, Span<T, S> projected);
  SolveReport go_on(SolveReport whole, Span<const T, S> b, Span<T, S> x, const StopCriterion& stop,
                    const ProgressFn& progress, Clock::time_point start);
  std::vector<SolveReport> solve_batch(Span<const T, S> b, Span<T, S> x, Index columns, const StopCriterion& stop,
                                       ColumnProgress& progress, InitialGuess guess);
  struct Scaled;
  SolveReport go_on_in_other_units(SolveReport whole, const SystemUnits& units, Span<const T, S> b, Span<T, S> x,
                                   const StopCriterion& stop, const ProgressFn& progress);
  SolveReport solve_scaled(SolveReport whole, const SystemUnits& units, Span<const T, S> b, Span<T, S> x,
                           const StopCriterion& stop, const ProgressFn& progress);
  bool guess_is_in_range(const Scaled& in, Span<const T, S> x) const;
  void judge_scaled_back(SolveReport& report, Scaled& in, int to_units, Span<const T, S> x) const;
  std::optional<SystemUnits> units_for(const SolveReport& report, Span<const T, S> b) const;
  bool has_several() const { return steps_.size() > 1; }

  Context<S> ctx_;
  std::vector<ChainStep<T, S>> steps_;
  const LinearOperator<T, S>* A_;
  const LinearOperator<T, S>* M_;
  std::unique_ptr<ZeroMeanPrecond<T, S>> zero_mean_;          ///< with the constant null space
  std::vector<std::shared_ptr<KrylovSolver<T, S>>> solvers_;  ///< of each step; null: not made yet
  Array<T, S> best_x_;                                        ///< if several attempts may be made
  bool best_is_zero_ = false;                                 ///< and `best_x_` is not filled
  Array<T, S> projected_b_;                                   ///< b without its mean
  Array<T, S> image_;        ///< of a vector, to see what A's range is; and residuals that are formed anew
  Array<double, S> scalar_;  ///< what sums and norms leave
  OperatorExchange<T, S>* exchange_ = nullptr;
  bool range_has_mean_zero_ = false, null_space_known_ = false;
  std::unique_ptr<BatchSolver<T, S>> batch_;  ///< from the first call for several columns on
  std::shared_ptr<Scaled> scaled_;            ///< from the first system on that left the range of T
  Array<T, S> guesses_, projected_columns_;   ///< of all columns, as `best_x_` and `projected_b_` are of one
};

}  // namespace newel::detail
