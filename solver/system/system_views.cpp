// SPDX-License-Identifier: Apache-2.0
// Views of a system: what they say is done by its state.
#include <newel/solver/system_views.hpp>

#include "core/vectors/instantiate.hpp"
#include "solver/system/system_entry.hpp"
#include "solver/system/system_moves.hpp"

namespace newel {
namespace {

using detail::enter;
using detail::SystemState;

template <class T, Space S>
SystemState<T, S>& enter_slots(SystemState<T, S>& s) {
  enter(s, {});
  if (s.assembled && !s.assembled->borrowed()) {
    throw InputError("the matrix was assembled from other arrays and cannot be written in place");
  }
  return s;
}

// Somebody outside depends on the format and the preconditioner from now on.
template <class T, Space S>
SystemState<T, S>& pinned(SystemState<T, S>& s) {
  detail::SystemMoves<T, S>(s).pin();
  return s;
}

// The operators, whose slots are going to be written.
template <class T, Space S>
detail::Operators<T, S>& with_slots(SystemState<T, S>& state) {
  detail::Operators<T, S>& operators = *pinned(enter_slots(state)).operators;
  operators.require_slots();
  return operators;
}

}  // namespace

template <class T, Space S>
PendingSolve AsyncSolves<T, S>::solve(Span<const T, S> b, Span<T, S> x, ProgressFn progress,
                                      InitialGuess guess) const {
  return state_->gate.template start<SolveReport>(
      [=, &s = *state_](const ProgressFn& told) { return detail::solve_as_given<T, S>(s, b, x, told, guess); },
      std::move(progress));
}

template <class T, Space S>
PendingColumns AsyncSolves<T, S>::solve_columns(Span<const T, S> b, Span<T, S> x, Index columns, ProgressFn progress,
                                                InitialGuess guess) const {
  return state_->gate.template start<std::vector<SolveReport>>(
      [=, &s = *state_](const ProgressFn& told) {
        return detail::solve_columns_as_given<T, S>(s, b, x, columns, told, guess);
      },
      std::move(progress));
}

template <class T, Space S>
SolveReport OrderedSystem<T, S>::solve(Span<const T, S> b, Span<T, S> x, const ProgressFn& progress,
                                       InitialGuess guess) const {
  pinned(enter(*state_, {b.size, x.size}));
  return detail::SolveSession<T, S>(*state_, false).run(b, x, progress, guess);
}

template <class T, Space S>
std::vector<SolveReport> OrderedSystem<T, S>::solve_columns(Span<const T, S> b, Span<T, S> x, Index columns,
                                                            const ProgressFn& progress, InitialGuess guess) const {
  SystemState<T, S>& s = pinned(detail::enter_columns<T, S>(*state_, b, x, columns));
  return detail::solve_columns_ordered<T, S>(s, b, x, columns, progress, guess);
}

template <class T, Space S>
void OrderedSystem<T, S>::from_user_order(Span<const T, S> user_order, Span<T, S> solver_order) const {
  pinned(enter(*state_, {user_order.size, solver_order.size})).gather_to_solver_order(user_order, solver_order);
}

template <class T, Space S>
void OrderedSystem<T, S>::to_user_order(Span<const T, S> solver_order, Span<T, S> user_order) const {
  pinned(enter(*state_, {user_order.size, solver_order.size})).gather_to_user_order(solver_order, user_order);
}

template <class T, Space S>
const RowOrder<S>& OrderedSystem<T, S>::order() const {
  state_->gate.require_free();
  return pinned(*state_).operators->row_order();
}

template <class T, Space S>
const LinearOperator<T, S>& OrderedSystem<T, S>::matrix() const {
  state_->gate.require_free();
  return pinned(*state_).operators->matrix();
}

template <class T, Space S>
const LinearOperator<T, S>* OrderedSystem<T, S>::preconditioner() const {
  state_->gate.require_free();
  return pinned(*state_).operators->preconditioner();
}

template <class T, Space S>
Slots<T, S> InPlaceValues<T, S>::matrix() const {
  detail::Operators<T, S>& s = with_slots(*state_);
  return s.A->slots(s.ctx);
}

template <class T, Space S>
Slots<T, S> InPlaceValues<T, S>::preconditioner() const {
  detail::Operators<T, S>& s = with_slots(*state_);
  return s.M != nullptr ? s.M->slots(s.ctx) : Slots<T, S>{};
}

template <class T, Space S>
void InPlaceValues<T, S>::written(RefreshScope scope) const {
  enter_slots(*state_).slots_written(scope);
}

template <class T, Space S>
void InPlaceValues<T, S>::operator_changed(RefreshScope scope) const {
  enter(*state_, {}).values_changed();
  state_->operators->operator_changed(scope);
}

template <class T, Space S>
std::vector<SystemCandidate> SystemHistory<T, S>::candidates() const {
  return detail::candidates(enter(*state_, {}));
}

template <class T, Space S>
bool SystemHistory<T, S>::improve() const {
  return detail::SystemMoves<T, S>(enter(*state_, {})).before_solve(false, true);
}

template <class T, Space S>
SystemDecision SystemHistory<T, S>::decision() const {
  state_->gate.require_free();
  return detail::decision_so_far<T, S>(*state_);
}

template <class T, Space S>
GuessState SystemHistory<T, S>::guess_state() const {
  return detail::guess_state(enter(*state_, {}));
}

template <class T, Space S>
void SystemHistory<T, S>::set_guess_state(const GuessState& state) const {
  detail::set_guess_state(enter(*state_, {}), state);
}

#define X(T, S)                       \
  template class AsyncSolves<T, S>;   \
  template class OrderedSystem<T, S>; \
  template class InPlaceValues<T, S>; \
  template class SystemHistory<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel
