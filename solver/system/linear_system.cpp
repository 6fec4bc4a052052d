// SPDX-License-Identifier: Apache-2.0
// The facade: order, format, preconditioner and solver of one pattern.
#include <newel/solver/linear_system.hpp>

#include "core/vectors/instantiate.hpp"
#include "solver/krylov/monitor/solve_limits.hpp"
#include "solver/operators/single_copy.hpp"
#include "solver/system/solve_session.hpp"
#include "solver/system/system_setup.hpp"

namespace newel {
namespace {

using detail::SystemMoves;
using detail::SystemState;

template <class T, Space S>
void require_apart(Span<const T, S> read, Span<const T, S> written, const char* which) {
  if (read.size == 0 || read.data >= written.data + written.size || written.data >= read.data + read.size) return;
  throw InputError(std::string(which) + " share memory");
}

// Public entries start here: no solve is pending, the device is current, and no vector is shorter or longer than the
// system.
template <class T, Space S>
SystemState<T, S>& enter(SystemState<T, S>& s, std::initializer_list<std::int64_t> lengths) {
  s.gate.require_free();
  s.ctx.make_current();
  for (const std::int64_t length : lengths) {
    if (length == s.rows) continue;
    throw InputError("a vector of length " + std::to_string(length) + " for a system of " + std::to_string(s.rows) +
                     " unknowns");
  }
  return s;
}

// The same for columns one after the other.
template <class T, Space S>
SystemState<T, S>& enter_columns(SystemState<T, S>& s, Span<const T, S> b, Span<const T, S> x, Index columns) {
  enter(s, {});
  if (columns < 0) throw InputError("the number of columns must be 0 or more, not " + std::to_string(columns));
  const std::int64_t size = std::int64_t{s.rows} * columns;
  for (const std::int64_t length : {b.size, x.size}) {
    if (length == size) continue;
    throw InputError(std::to_string(length) + " values for " + std::to_string(columns) + " columns of " +
                     std::to_string(s.rows) + " unknowns");
  }
  require_apart<T, S>(b, x, "b and x");
  return s;
}

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
  SystemMoves<T, S>(s).pin();
  return s;
}

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
  detail::SystemSetup<T, S>(*impl_).from_matrix(a, std::move(options), std::move(parts));
}
template <class T, Space S>
LinearSystem<T, S>::LinearSystem(const Context<S>& ctx, std::shared_ptr<const LinearOperator<T, S>> a,
                                 SystemOptions options, SystemParts<T, S> parts)
    : impl_(std::make_unique<Impl>(ctx, options)) {
  detail::SystemSetup<T, S>(*impl_).from_operator(std::move(a), std::move(options), std::move(parts));
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
  enter(s, {});
  s.refresh(s.assembled ? s.assembled->values(s.ctx, values) : values, scope);
}

template <class T, Space S>
void LinearSystem<T, S>::move_nodes(std::shared_ptr<const NodeCoordinates> coordinates) {
  SystemState<T, S>& s = enter(*impl_, {});
  if (s.equivalent.answers()) s.equivalent.made().move_nodes(coordinates);
  if (!s.equivalent.alone()) s.operators->move_nodes(std::move(coordinates));
}

template <class T, Space S>
Slots<T, S> LinearSystem<T, S>::matrix_slots() {
  detail::Operators<T, S>& s = *pinned(enter_slots(*impl_)).operators;
  s.require_slots();
  return s.A->slots(s.ctx);
}

template <class T, Space S>
Slots<T, S> LinearSystem<T, S>::preconditioner_slots() {
  detail::Operators<T, S>& s = *pinned(enter_slots(*impl_)).operators;
  s.require_slots();
  return s.M != nullptr ? s.M->slots(s.ctx) : Slots<T, S>{};
}

template <class T, Space S>
void LinearSystem<T, S>::slots_written(RefreshScope scope) {
  enter_slots(*impl_).slots_written(scope);
}

template <class T, Space S>
void LinearSystem<T, S>::operator_changed(RefreshScope scope) {
  enter(*impl_, {}).values_changed();
  impl_->operators->operator_changed(scope);
}

template <class T, Space S>
SolveReport LinearSystem<T, S>::solve(Span<const T, S> b, Span<T, S> x, const ProgressFn& progress,
                                      InitialGuess guess) {
  enter(*impl_, {b.size, x.size});
  require_apart<T, S>(b, x, "b and x");
  return detail::solve<T, S>(*impl_, b, x, progress, guess);
}

template <class T, Space S>
SolveReport LinearSystem<T, S>::solve_ordered(Span<const T, S> b, Span<T, S> x, const ProgressFn& progress,
                                              InitialGuess guess) {
  pinned(enter(*impl_, {b.size, x.size}));
  return detail::SolveSession<T, S>(*impl_, false).run(b, x, progress, guess);
}

template <class T, Space S>
std::vector<SolveReport> LinearSystem<T, S>::solve_columns(Span<const T, S> b, Span<T, S> x, Index columns,
                                                           const ProgressFn& progress, InitialGuess guess) {
  SystemState<T, S>& s = enter_columns<T, S>(*impl_, b, x, columns);
  if (columns == 1) return {solve(b, x, progress, guess)};
  const detail::SolveLimits<S> limits(s.ctx, s.seconds_of_solve(), progress);
  SystemMoves<T, S> moves(s);
  if (columns > 0) moves.decide_by_expectation();
  if (columns > 0 && !s.pinned) moves.before_solve(false, false);
  if (s.natural()) return detail::solve_columns_ordered<T, S>(s, b, x, columns, limits.progress(), guess);
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
      detail::solve_columns_ordered<T, S>(s, ordered_b, ordered_x, columns, limits.progress(), guess);
  for (Index c = 0; c < columns; ++c) s.gather_to_user_order(column_of(ordered_x, c), column_of(x, c));
  s.ctx.synchronize();
  return reports;
}

template <class T, Space S>
std::vector<SolveReport> LinearSystem<T, S>::solve_columns_ordered(Span<const T, S> b, Span<T, S> x, Index columns,
                                                                   const ProgressFn& progress, InitialGuess guess) {
  SystemState<T, S>& s = pinned(enter_columns<T, S>(*impl_, b, x, columns));
  return detail::solve_columns_ordered<T, S>(s, b, x, columns, progress, guess);
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
  pinned(enter(*impl_, {user_order.size, solver_order.size})).gather_to_solver_order(user_order, solver_order);
}

template <class T, Space S>
void LinearSystem<T, S>::to_user_order(Span<const T, S> solver_order, Span<T, S> user_order) const {
  pinned(enter(*impl_, {user_order.size, solver_order.size})).gather_to_user_order(solver_order, user_order);
}

template <class T, Space S>
void LinearSystem<T, S>::multiply(Span<const T, S> x, Span<T, S> y) {
  SystemState<T, S>& s = enter(*impl_, {x.size, y.size});
  require_apart<T, S>(x, y, "x and y");
  s.require_sound();
  if (s.natural()) return s.operators->matrix().apply(s.ctx, T(1), x, T(0), y);
  s.gather_to_solver_order(x, s.vectors.x);
  s.operators->matrix().apply(s.ctx, T(1), s.vectors.x.cspan(), T(0), s.vectors.b);
  s.gather_to_user_order(s.vectors.b, y);
}

template <class T, Space S>
std::vector<SystemCandidate> LinearSystem<T, S>::candidates() const {
  return detail::candidates(enter(*impl_, {}));
}

template <class T, Space S>
SystemDecision LinearSystem<T, S>::decision() const {
  impl_->gate.require_free();
  return detail::decision_so_far<T, S>(*impl_);
}

template <class T, Space S>
GuessState LinearSystem<T, S>::guess_state() const {
  return detail::guess_state(enter(*impl_, {}));
}

template <class T, Space S>
void LinearSystem<T, S>::set_guess_state(const GuessState& state) {
  detail::set_guess_state(enter(*impl_, {}), state);
}

template <class T, Space S>
bool LinearSystem<T, S>::improve() {
  return SystemMoves<T, S>(enter(*impl_, {})).before_solve(false, true);
}

template <class T, Space S>
SystemInfo LinearSystem<T, S>::info() const {
  const Impl& s = *impl_;
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
const RowOrder<S>& LinearSystem<T, S>::order() const {
  impl_->gate.require_free();
  return pinned(*impl_).operators->row_order();
}

template <class T, Space S>
const LinearOperator<T, S>& LinearSystem<T, S>::ordered_matrix() const {
  impl_->gate.require_free();
  return pinned(*impl_).operators->matrix();
}

template <class T, Space S>
const LinearOperator<T, S>* LinearSystem<T, S>::ordered_preconditioner() const {
  impl_->gate.require_free();
  return pinned(*impl_).operators->preconditioner();
}

template <class T, Space S>
InverseResidual LinearSystem<T, S>::preconditioner_residual() const {
  const SystemState<T, S>& s = enter(*impl_, {});
  if (s.equivalent.answers()) return s.equivalent.made().inner().preconditioner_residual();
  const LinearOperator<T, S>& A = s.operators->matrix();
  const LinearOperator<T, S>* M = s.operators->preconditioner();
  if (M != nullptr) return inverse_residual(s.ctx, A, *M, precond_side(s.operators->options.precond));
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
