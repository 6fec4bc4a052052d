// SPDX-License-Identifier: Apache-2.0
// The facade: order, format, preconditioner and solver of one pattern.
#include <newel/solver/linear_system.hpp>

#include "core/vectors/instantiate.hpp"
#include "solver/krylov/monitor/solve_limits.hpp"
#include "solver/operators/single_copy.hpp"
#include "solver/system/system_entry.hpp"
#include "solver/system/system_setup.hpp"

namespace newel {
namespace {

using detail::SystemState;

// Where it was the format that was to be chosen, with the reason of that.
void add_learnt(const std::string& learnt, SystemInfo& info) {
  if (learnt.empty()) return;
  if (!info.format.reason.empty()) {
    info.format.reason += "; " + learnt;
  } else if (info.preconditioner_reason.empty()) {
    info.format.reason = learnt;
  } else {
    info.preconditioner_reason.add("; " + learnt);
  }
}

}  // namespace

namespace detail {

template <class T, Space S>
void EndOfSystem<T, S>::operator()(SystemState<T, S>* state) const noexcept {
  state->gate.settle();
  delete state;
}

template <class T, Space S>
SolveReport solve_as_given(SystemState<T, S>& state, Span<const T, S> b, Span<T, S> x, const ProgressFn& progress,
                           InitialGuess guess) {
  enter(state, {b.size, x.size});
  require_apart<T, S>(b, x, "b and x");
  return solve<T, S>(state, b, x, progress, guess);
}

template <class T, Space S>
std::vector<SolveReport> solve_columns_as_given(SystemState<T, S>& state, Span<const T, S> b, Span<T, S> x,
                                                Index columns, const ProgressFn& progress, InitialGuess guess) {
  SystemState<T, S>& s = enter_columns<T, S>(state, b, x, columns);
  if (columns == 1) return {solve_as_given<T, S>(s, b, x, progress, guess)};
  const SolveLimits<S> limits(s.ctx, s.seconds_of_solve(), progress);
  SystemMoves<T, S> moves(s);
  if (columns > 0) moves.decide_by_expectation();
  if (columns > 0 && !s.pinned) moves.before_solve(false, false);
  if (s.natural()) return solve_columns_ordered<T, S>(s, b, x, columns, limits.progress(), guess);
  for (Array<T, S>* vectors : {&s.vectors.bs, &s.vectors.xs}) {
    if (vectors->size() >= b.size) continue;
    *vectors = Array<T, S>();
    *vectors = Array<T, S>(s.ctx, b.size);
  }
  const Span<T, S> ordered_b = s.vectors.bs.span().subspan(0, b.size),
                   ordered_x = s.vectors.xs.span().subspan(0, b.size);
  const auto column_of = [&](auto vectors, Index c) { return vectors.subspan(std::int64_t{c} * s.rows, s.rows); };
  for (Index c = 0; c < columns; ++c) {
    s.gather_to_solver_order(column_of(b, c), column_of(ordered_b, c));
    if (guess == InitialGuess::in_x) s.gather_to_solver_order(column_of(x, c), column_of(ordered_x, c));
  }
  std::vector<SolveReport> reports =
      solve_columns_ordered<T, S>(s, ordered_b, ordered_x, columns, limits.progress(), guess);
  for (Index c = 0; c < columns; ++c) s.gather_to_user_order(column_of(ordered_x, c), column_of(x, c));
  s.ctx.synchronize();
  return reports;
}

}  // namespace detail

template <class T, Space S>
LinearSystem<T, S>::LinearSystem(const Context<S>& ctx, const CsrView<T, S>& a, SystemOptions options,
                                 SystemParts<T, S> parts)
    : LinearSystem(ctx, MatrixInput<T, S>(a), std::move(options), std::move(parts)) {}
template <class T, Space S>
LinearSystem<T, S>::LinearSystem(const Context<S>& ctx, const MatrixInput<T, S>& a, SystemOptions options,
                                 SystemParts<T, S> parts)
    : state_(new SystemState<T, S>(ctx, options)) {
  detail::SystemSetup<T, S>(*state_).from_matrix(a, std::move(options), std::move(parts));
}
template <class T, Space S>
LinearSystem<T, S>::LinearSystem(const Context<S>& ctx, std::shared_ptr<const LinearOperator<T, S>> a,
                                 SystemOptions options, SystemParts<T, S> parts)
    : state_(new SystemState<T, S>(ctx, options)) {
  detail::SystemSetup<T, S>(*state_).from_operator(std::move(a), std::move(options), std::move(parts));
}

template <class T, Space S>
Index LinearSystem<T, S>::rows() const {
  return state_->rows;
}

template <class T, Space S>
void LinearSystem<T, S>::refresh(Span<const T, S> values, RefreshScope scope) {
  SystemState<T, S>& s = detail::enter(*state_, {});
  s.refresh(s.assembled ? s.assembled->values(s.ctx, values) : values, scope);
}

template <class T, Space S>
void LinearSystem<T, S>::move_nodes(std::shared_ptr<const NodeCoordinates> coordinates) {
  SystemState<T, S>& s = detail::enter(*state_, {});
  if (s.equivalent.answers()) s.equivalent.made().move_nodes(coordinates);
  if (!s.equivalent.alone()) s.operators->move_nodes(std::move(coordinates));
}

template <class T, Space S>
SolveReport LinearSystem<T, S>::solve(Span<const T, S> b, Span<T, S> x, const ProgressFn& progress,
                                      InitialGuess guess) {
  return detail::solve_as_given<T, S>(*state_, b, x, progress, guess);
}

template <class T, Space S>
std::vector<SolveReport> LinearSystem<T, S>::solve_columns(Span<const T, S> b, Span<T, S> x, Index columns,
                                                           const ProgressFn& progress, InitialGuess guess) {
  return detail::solve_columns_as_given<T, S>(*state_, b, x, columns, progress, guess);
}

template <class T, Space S>
void LinearSystem<T, S>::multiply(Span<const T, S> x, Span<T, S> y) {
  SystemState<T, S>& s = detail::enter(*state_, {x.size, y.size});
  detail::require_apart<T, S>(x, y, "x and y");
  s.require_sound();
  if (s.natural()) return s.operators->matrix().apply(s.ctx, T(1), x, T(0), y);
  s.gather_to_solver_order(x, s.vectors.x);
  s.operators->matrix().apply(s.ctx, T(1), s.vectors.x.cspan(), T(0), s.vectors.b);
  s.gather_to_user_order(s.vectors.b, y);
}

template <class T, Space S>
SystemInfo LinearSystem<T, S>::info() const {
  const SystemState<T, S>& s = *state_;
  s.gate.require_free();
  if (s.equivalent.answers()) {  // the matrix as it was given only judges
    SystemInfo info = s.equivalent.made().info();
    info.setup_seconds = s.setup.seconds;
    return info;
  }
  s.alternatives->weigh();
  SystemInfo info = detail::info_of(*s.operators);
  info.precision_reason = s.setup.why_double;
  info.setup_seconds = s.setup.seconds;
  info.bytes = s.ctx.memory()->use().bytes;
  add_learnt(s.shared.learnt, info);
  return info;
}

template <class T, Space S>
void LinearSystem<T, S>::set_stop_criterion(const StopCriterion& stop) {
  state_->gate.require_free();
  state_->stop = stop;
}

template <class T, Space S>
InverseResidual inverse_residual(const LinearSystem<T, S>& system) {
  const SystemState<T, S>& s = detail::enter(*system.state_, {});
  if (s.equivalent.answers()) return inverse_residual(s.equivalent.made().inner());
  const LinearOperator<T, S>& A = s.operators->matrix();
  const LinearOperator<T, S>* M = s.operators->preconditioner();
  if (M != nullptr) return inverse_residual(s.ctx, A, *M, precond_side(s.operators->options.precond));
  const FunctionOperator<T, S> identity(
      s.rows, s.rows, [](const auto& ctx, T alpha, auto x, T beta, auto y) { axpby<T, S>(ctx, alpha, x, beta, y); });
  return inverse_residual(s.ctx, A, identity);
}

#define X(T, S)                                                                                         \
  template struct detail::EndOfSystem<T, S>;                                                            \
  template class LinearSystem<T, S>;                                                                    \
  template InverseResidual inverse_residual(const LinearSystem<T, S>&);                                 \
  template SolveReport detail::solve_as_given(detail::SystemState<T, S>&, Span<const T, S>, Span<T, S>, \
                                              const ProgressFn&, InitialGuess);                         \
  template std::vector<SolveReport> detail::solve_columns_as_given(                                     \
      detail::SystemState<T, S>&, Span<const T, S>, Span<T, S>, Index, const ProgressFn&, InitialGuess);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel
