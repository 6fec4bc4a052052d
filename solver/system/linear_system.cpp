// SPDX-License-Identifier: Apache-2.0
// The facade: order, format, preconditioner and solver of one pattern.
#include <newel/solver/linear_system.hpp>

#include "core/vectors/instantiate.hpp"
#include "solver/system/system_state.hpp"

namespace newel {

template <class T, Space S>
struct LinearSystem<T, S>::Impl : detail::SystemState<T, S> {
  using detail::SystemState<T, S>::SystemState;
};

template <class T, Space S>
LinearSystem<T, S>::LinearSystem(const Context<S>& ctx, const CsrView<T, S>& a, SystemOptions options,
                                 SystemParts<T, S> parts)
    : LinearSystem(ctx, MatrixInput<T, S>(a), std::move(options), std::move(parts)) {}
template <class T, Space S>
LinearSystem<T, S>::LinearSystem(const Context<S>& ctx, const MatrixInput<T, S>& a, SystemOptions options,
                                 SystemParts<T, S> parts)
    : impl_(std::make_unique<Impl>(ctx, options)) {
  impl_->set_up(a, std::move(options), std::move(parts));
}
template <class T, Space S>
LinearSystem<T, S>::LinearSystem(const Context<S>& ctx, std::shared_ptr<const LinearOperator<T, S>> a,
                                 SystemOptions options, SystemParts<T, S> parts)
    : impl_(std::make_unique<Impl>(ctx, options)) {
  impl_->set_up(std::move(a), std::move(options), std::move(parts));
}
template <class T, Space S>
LinearSystem<T, S>::~LinearSystem() {
  settled();
}
template <class T, Space S>
LinearSystem<T, S>::LinearSystem(LinearSystem&& other) noexcept : impl_(other.settled()) {}
template <class T, Space S>
LinearSystem<T, S>& LinearSystem<T, S>::operator=(LinearSystem&& other) noexcept {
  auto taken = other.settled();
  settled();
  impl_ = std::move(taken);
  return *this;
}

// What a solve under way uses, once it has ended.
template <class T, Space S>
std::unique_ptr<typename LinearSystem<T, S>::Impl> LinearSystem<T, S>::settled() noexcept {
  if (impl_ != nullptr) impl_->gate.settle();
  return std::move(impl_);
}

template <class T, Space S>
Index LinearSystem<T, S>::rows() const {
  return impl_->rows;
}

template <class T, Space S>
void LinearSystem<T, S>::refresh(Span<const T, S> values, RefreshScope scope) {
  Impl& s = *impl_;
  s.enter({});
  s.refresh(s.assembled ? s.assembled->values(s.ctx, values) : values, scope);
}

template <class T, Space S>
void LinearSystem<T, S>::move_nodes(std::shared_ptr<const NodeCoordinates> coordinates) {
  impl_->enter({});
  impl_->operators->move_nodes(std::move(coordinates));
}

template <class T, Space S>
Slots<T, S> LinearSystem<T, S>::matrix_slots() {
  impl_->enter_slots();
  impl_->pin();
  return impl_->operators->matrix_slots();
}

template <class T, Space S>
Slots<T, S> LinearSystem<T, S>::preconditioner_slots() {
  impl_->enter_slots();
  impl_->pin();
  return impl_->operators->preconditioner_slots();
}

template <class T, Space S>
void LinearSystem<T, S>::slots_written(RefreshScope scope) {
  impl_->enter_slots();
  impl_->slots_written(scope);
}

template <class T, Space S>
void LinearSystem<T, S>::operator_changed(RefreshScope scope) {
  impl_->enter({});
  impl_->chain->values_changed();
  impl_->operators->operator_changed(scope);
}

template <class T, Space S>
SolveReport LinearSystem<T, S>::solve(Span<const T, S> b, Span<T, S> x, const ProgressFn& progress,
                                      InitialGuess guess) {
  Impl& s = *impl_;
  s.enter({b.size, x.size});
  detail::require_apart<T, S>(b, x, "b and x");
  return s.solve(b, x, progress, guess);
}

template <class T, Space S>
SolveReport LinearSystem<T, S>::solve_ordered(Span<const T, S> b, Span<T, S> x, const ProgressFn& progress,
                                              InitialGuess guess) {
  impl_->enter({b.size, x.size});
  impl_->pin();
  return impl_->solve_ordered(b, x, progress, guess);
}

template <class T, Space S>
std::vector<SolveReport> LinearSystem<T, S>::solve_columns(Span<const T, S> b, Span<T, S> x, Index columns,
                                                           const ProgressFn& progress, InitialGuess guess) {
  Impl& s = *impl_;
  s.enter_columns(b, x, columns);
  if (columns == 1) return {solve(b, x, progress, guess)};
  const detail::SolveLimits<S> limits(s.ctx, s.seconds_of_solve(), progress);
  if (columns > 0) s.decide_by_expectation();
  if (columns > 0 && !s.pinned) s.improve(false, false);
  if (s.natural()) return s.solve_columns_ordered(b, x, columns, limits.progress(), guess);
  for (Array<T, S>* vectors : {&s.ordered_bs, &s.ordered_xs}) {
    if (vectors->size() >= b.size) continue;
    *vectors = Array<T, S>();
    *vectors = Array<T, S>(s.ctx, b.size);
  }
  const Span<T, S> ordered_b = s.ordered_bs.span().subspan(0, b.size),
                   ordered_x = s.ordered_xs.span().subspan(0, b.size);
  const auto column_of = [&](auto vectors, Index c) { return vectors.subspan(std::int64_t{c} * s.rows, s.rows); };
  for (Index c = 0; c < columns; ++c) {
    s.gather_to_solver_order(column_of(b, c), column_of(ordered_b, c));
    if (guess == InitialGuess::in_x) s.gather_to_solver_order(column_of(x, c), column_of(ordered_x, c));
  }
  std::vector<SolveReport> reports = s.solve_columns_ordered(ordered_b, ordered_x, columns, limits.progress(), guess);
  for (Index c = 0; c < columns; ++c) s.gather_to_user_order(column_of(ordered_x, c), column_of(x, c));
  s.ctx.synchronize();
  return reports;
}

template <class T, Space S>
std::vector<SolveReport> LinearSystem<T, S>::solve_columns_ordered(Span<const T, S> b, Span<T, S> x, Index columns,
                                                                   const ProgressFn& progress, InitialGuess guess) {
  impl_->enter_columns(b, x, columns);
  impl_->pin();
  return impl_->solve_columns_ordered(b, x, columns, progress, guess);
}

template <class T, Space S>
PendingSolve LinearSystem<T, S>::solve_async(Span<const T, S> b, Span<T, S> x, ProgressFn progress,
                                             InitialGuess guess) {
  return impl_->gate.template start<SolveReport>([=](const ProgressFn& told) { return solve(b, x, told, guess); },
                                                 std::move(progress));
}

template <class T, Space S>
PendingColumns LinearSystem<T, S>::solve_columns_async(Span<const T, S> b, Span<T, S> x, Index columns,
                                                       ProgressFn progress, InitialGuess guess) {
  return impl_->gate.template start<std::vector<SolveReport>>(
      [=](const ProgressFn& told) { return solve_columns(b, x, columns, told, guess); }, std::move(progress));
}

template <class T, Space S>
void LinearSystem<T, S>::to_solver_order(Span<const T, S> user_order, Span<T, S> solver_order) const {
  const Impl& s = *impl_;
  s.enter({user_order.size, solver_order.size});
  impl_->pin();
  s.gather_to_solver_order(user_order, solver_order);
}

template <class T, Space S>
void LinearSystem<T, S>::to_user_order(Span<const T, S> solver_order, Span<T, S> user_order) const {
  const Impl& s = *impl_;
  s.enter({user_order.size, solver_order.size});
  impl_->pin();
  s.gather_to_user_order(solver_order, user_order);
}

template <class T, Space S>
void LinearSystem<T, S>::multiply(Span<const T, S> x, Span<T, S> y) {
  Impl& s = *impl_;
  s.enter({x.size, y.size});
  detail::require_apart<T, S>(x, y, "x and y");
  s.require_sound();
  if (s.natural()) return s.operators->matrix().apply(s.ctx, T(1), x, T(0), y);
  s.gather_to_solver_order(x, s.ordered_x);
  s.operators->matrix().apply(s.ctx, T(1), s.ordered_x.cspan(), T(0), s.ordered_b);
  s.gather_to_user_order(s.ordered_b, y);
}

template <class T, Space S>
std::vector<SystemCandidate> LinearSystem<T, S>::candidates() const {
  impl_->enter({});
  return impl_->candidates();
}

template <class T, Space S>
SystemDecision LinearSystem<T, S>::decision() const {
  impl_->gate.require_free();
  return impl_->decision();
}

template <class T, Space S>
bool LinearSystem<T, S>::improve() {
  impl_->enter({});
  return impl_->improve(false, true);
}

template <class T, Space S>
SystemInfo LinearSystem<T, S>::info() const {
  const Impl& s = *impl_;
  s.gate.require_free();
  SystemInfo info = s.info();
  info.setup_seconds = s.setup_seconds;
  info.bytes = s.ctx.memory()->use().bytes;
  s.add_learnt(info);
  return info;
}

template <class T, Space S>
const RowOrder<S>& LinearSystem<T, S>::order() const {
  impl_->gate.require_free();
  impl_->pin();
  return impl_->operators->order();
}

template <class T, Space S>
const LinearOperator<T, S>& LinearSystem<T, S>::ordered_matrix() const {
  impl_->gate.require_free();
  impl_->pin();
  return impl_->operators->matrix();
}

template <class T, Space S>
const LinearOperator<T, S>* LinearSystem<T, S>::ordered_preconditioner() const {
  impl_->gate.require_free();
  impl_->pin();
  return impl_->operators->preconditioner();
}

template <class T, Space S>
InverseResidual LinearSystem<T, S>::preconditioner_residual() const {
  const Impl& s = *impl_;
  s.enter({});
  const LinearOperator<T, S>& A = s.operators->matrix();
  const LinearOperator<T, S>* M = s.operators->preconditioner();
  if (M != nullptr) return inverse_residual(s.ctx, A, *M, s.side());
  const FunctionOperator<T, S> identity(
      s.rows, s.rows, [](const auto& ctx, T alpha, auto x, T beta, auto y) { axpby<T, S>(ctx, alpha, x, beta, y); });
  return inverse_residual(s.ctx, A, identity);
}

template <class T, Space S>
void LinearSystem<T, S>::set_stop_criterion(const StopCriterion& stop) {
  impl_->gate.require_free();
  impl_->stop = stop;
}

template <class T, Space S>
const StopCriterion& LinearSystem<T, S>::stop_criterion() const {
  impl_->gate.require_free();
  return impl_->stop;
}

#define X(T, S) template class LinearSystem<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel
