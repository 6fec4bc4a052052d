// SPDX-License-Identifier: Apache-2.0
/// Views of a LinearSystem: its solves on a separate thread, its own row numbering, its memory of values and its
/// history. A view is copied freely and refers to the system, also after the system has moved.
#pragma once

#include <vector>

#include <newel/core/csr.hpp>
#include <newel/reorder/row_order.hpp>
#include <newel/solver/candidate.hpp>
#include <newel/solver/decision.hpp>
#include <newel/solver/guess.hpp>
#include <newel/solver/krylov.hpp>
#include <newel/solver/pending_solve.hpp>
#include <newel/solver/system_options.hpp>
#include <newel/spmv/operator.hpp>

namespace newel {

template <class T, Space S>
class LinearSystem;

namespace detail {
template <class T, Space S>
struct SystemState;
}  // namespace detail

/// The solves of a LinearSystem on a separate thread: x, counts and history are the same.
///
/// The memory of b and x, and what `progress` refers to, must stay valid and unchanged until the report is taken
/// (`PendingSolve::get`) or the PendingSolve is destroyed. `progress` is called on that thread. `get` rethrows what
/// the solve throws. Until then the context and its copies belong to the solve; on the device, their stream too. Both
/// functions return at once. They throw InUse if a solve is pending, and std::system_error if no thread can be
/// started.
template <class T, Space S>
class AsyncSolves {
 public:
  /// Runs `LinearSystem::solve`.
  [[nodiscard]] PendingSolve solve(Span<const T, S> b, Span<T, S> x, ProgressFn progress = {},
                                   InitialGuess guess = InitialGuess::in_x) const;
  /// Runs `LinearSystem::solve_columns`.
  [[nodiscard]] PendingColumns solve_columns(Span<const T, S> b, Span<T, S> x, Index columns,
                                             ProgressFn progress = {}, InitialGuess guess = InitialGuess::in_x) const;

 private:
  friend class LinearSystem<T, S>;
  explicit AsyncSolves(detail::SystemState<T, S>& state) : state_(&state) {}

  detail::SystemState<T, S>* state_;
};

/// A LinearSystem in solver order, the row numbering that it uses internally. Lengths that do not fit throw
/// InputError.
///
/// From the first use of one of these functions on, solves change neither format nor preconditioner, because the
/// caller may hold what a change would replace; only `SystemHistory::improve` does. Before the first solve the system
/// first changes to the format and preconditioner that are expected to be worth their setup cost. The values of
/// `InPlaceValues` do the same.
template <class T, Space S>
class OrderedSystem {
 public:
  /// `LinearSystem::solve` with b and x in solver order.
  [[nodiscard]] SolveReport solve(Span<const T, S> b, Span<T, S> x, const ProgressFn& progress = {},
                                  InitialGuess guess = InitialGuess::in_x) const;
  /// `LinearSystem::solve_columns` with the vectors in solver order.
  [[nodiscard]] std::vector<SolveReport> solve_columns(Span<const T, S> b, Span<T, S> x, Index columns,
                                                       const ProgressFn& progress = {},
                                                       InitialGuess guess = InitialGuess::in_x) const;

  /// Renumbers the vector `user_order` into `solver_order`. Queued on the stream.
  void from_user_order(Span<const T, S> user_order, Span<T, S> solver_order) const;
  /// The inverse of `from_user_order`.
  void to_user_order(Span<const T, S> solver_order, Span<T, S> user_order) const;

  /// The numbering, for the caller's own operators in addition to A (`permute`, `make_spmv`). Valid as long as the
  /// system, as are A and M.
  const RowOrder<S>& order() const;
  /// A.
  const LinearOperator<T, S>& matrix() const;
  /// M; null if there is none.
  const LinearOperator<T, S>* preconditioner() const;

 private:
  friend class LinearSystem<T, S>;
  explicit OrderedSystem(detail::SystemState<T, S>& state) : state_(&state) {}

  detail::SystemState<T, S>* state_;
};

/// New values that reach a LinearSystem without `LinearSystem::refresh`: the caller computes them where they are
/// stored, or they are those of an operator that the caller gave.
template <class T, Space S>
class InPlaceValues {
 public:
  /// Where the matrix stores its values, and where the preconditioner stores the values that it is built from (empty
  /// for "none"). For callers that compute values in place instead of passing CSR values. Entries are those of the
  /// matrix given to the constructor. Throws InputError if the matrix had to be assembled, and in mixed precision.
  /// Waits on the stream.
  Slots<T, S> matrix() const;
  Slots<T, S> preconditioner() const;

  /// Call this when the slots have been written, on the stream of the context. It does what `LinearSystem::refresh`
  /// does for new values, with the same errors. With `operator_only` the preconditioner's slots need not be written.
  void written(RefreshScope scope = RefreshScope::everything) const;

  /// Call this when an operator of the caller, A or M, represents a different matrix than before. The null space is
  /// checked again, and Jacobi is rebuilt from the new diagonal unless the scope is `operator_only`. Errors as for
  /// `LinearSystem::refresh`. CUDA graphs are kept: an operator that reports `capturable` must have kept its
  /// addresses.
  void operator_changed(RefreshScope scope = RefreshScope::everything) const;

 private:
  friend class LinearSystem<T, S>;
  explicit InPlaceValues(detail::SystemState<T, S>& state) : state_(&state) {}

  detail::SystemState<T, S>* state_;
};

/// What the solves of a LinearSystem have shown so far, what may follow from it, and how to continue from it.
template <class T, Space S>
class SystemHistory {
 public:
  /// The combinations of format and preconditioner that the automatic choices compare by the cost model, fastest for
  /// one solve first. Iterations are estimated from earlier solves, or else from the size. Empty if the model does
  /// not apply: for operators, for mixed precision with a named format or preconditioner, for the caller's own M, for
  /// measured formats, and if both format and preconditioner were named. Reads the pattern.
  std::vector<SystemCandidate> candidates() const;

  /// Changes to a better format or preconditioner if "auto" chose the present one and the iterations of all solves so
  /// far have recovered the setup cost of the new one. Returns whether anything changed. `solve` does this by itself
  /// until the caller uses `LinearSystem::ordered` or slots. If this returns true, what those returned before is
  /// invalid.
  bool improve() const;

  /// What has been decided and learnt so far, to start a new system from (`SystemOptions::decision`), for example in
  /// a later run. Measures no times. Values of A and M are not included.
  SystemDecision decision() const;

  /// The past solutions that guesses are made from (GuessOptions) and the recycled vectors (RecycleOptions), for
  /// `set_guess_state` of a system of another run: with the matrix values of this one and the same options, its
  /// further solves then have the same bits as those of this one, as far as `SystemOptions::decision` says. Empty if
  /// nothing is kept. Waits on the stream.
  GuessState guess_state() const;
  /// Continues from that state, or forgets what is kept if it is empty. Throws InputError if the state is of another
  /// number of unknowns or of other options. The values are not checked: see GuessOptions and
  /// RecycleOptions.
  void set_guess_state(const GuessState& state) const;

 private:
  friend class LinearSystem<T, S>;
  explicit SystemHistory(detail::SystemState<T, S>& state) : state_(&state) {}

  detail::SystemState<T, S>* state_;
};

}  // namespace newel
