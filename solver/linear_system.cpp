// SPDX-License-Identifier: Apache-2.0
// The facade: order, format, preconditioner and solver of one pattern.
#include <purlin/solver/linear_system.hpp>

#include <optional>

#include <purlin/core/assembled_matrix.hpp>
#include <purlin/core/error.hpp>
#include <purlin/core/number_text.hpp>
#include <purlin/core/instantiate.hpp>
#include <purlin/core/vector_ops.hpp>
#include <purlin/solver/given_operators.hpp>
#include <purlin/solver/memory_estimate.hpp>
#include <purlin/solver/mixed_operators.hpp>
#include <purlin/solver/solve_gate.hpp>
#include <purlin/solver/system_learning.hpp>
#include <purlin/solver/system_operators.hpp>

namespace purlin {
namespace {

template <class T, Space S>
void require_apart(Span<const T, S> read, Span<const T, S> written, const char* which) {
  if (read.size == 0 || read.data >= written.data + written.size || written.data >= read.data + read.size) return;
  throw InputError(std::string(which) + " share memory");
}

}  // namespace

template <class T, Space S>
struct LinearSystem<T, S>::Impl {
  Context<S> ctx;
  StopCriterion stop;
  Index rows = 0;
  PrecondSide precond_side;
  std::optional<AssembledMatrix<T, S>> assembled;  // where the input was not taken as it came
  std::unique_ptr<detail::SystemOperators<T, S>> operators;
  std::optional<detail::SolverChain<T, S>> chain;
  Array<T, S> ordered_b, ordered_x;    // where the system is renumbered
  Array<T, S> guess;                   // where another preconditioner may begin again from it
  Array<T, S> ordered_bs, ordered_xs;  // likewise, of the most columns that were solved for at once
  detail::PhaseSeconds setup_seconds;
  std::string why_double;  // though mixed precision was requested
  detail::SolveGate gate;
  mutable detail::SystemLearning learning;
  bool change_failed = false;  // for want of memory, say: not tried again

  Impl(const Context<S>& ctx_, const SystemOptions& options)
      : ctx(ctx_), stop(options.stop), precond_side(purlin::precond_side(options.precond)), gate(ctx.lock()) {
    gate.require_free();
    ctx.make_current();
    if (options.columns < 1)
      throw InputError("SystemOptions::columns is 1 or more, not " + std::to_string(options.columns));
    if (!(options.expected_products >= 0)) throw InputError("SystemOptions::expected_products is not negative");
  }

  void set_up(const MatrixInput<T, S>& a, SystemOptions options, SystemParts<T, S> parts) {
    CsrView<T, S> view;
    options.solver.name = canonical_name(options.solver.name);
    a.check_lengths();
    rows = static_cast<Index>(a.rows());
    if (parts.has_preconditioner()) options.precond.name = "none";
    require_memory(options, a.most_entries());
    detail::timed(ctx, setup_seconds, "check", [&] { view = checked(a, options.canonicalise); });
    operators = make_operators(view, options, parts);
    finish_setup();
    if (assembled) assembled->drop_pattern();
  }

  void set_up(std::shared_ptr<const LinearOperator<T, S>> a, SystemOptions options, SystemParts<T, S> parts) {
    if (a == nullptr) throw InputError("a linear system needs an operator, not a null pointer");
    options.solver.name = canonical_name(options.solver.name);
    rows = a->rows();
    SystemOptions bare = options;
    bare.spmv.format = "csr";
    bare.precond.name = "none";
    require_memory(bare, 0);
    operators =
        std::make_unique<detail::GivenOperators<T, S>>(ctx, std::move(a), std::move(options), std::move(parts));
    finish_setup();
  }

  void require_memory(const SystemOptions& options, Offset nonzeros) const {
    SystemSize size{rows, nonzeros, sizeof(T), false, options.mixed};
    size.columns = options.columns;
    size.null_space = options.null_space == NullSpace::constant;
    detail::require_memory(ctx, estimate_system(options.spmv, options.precond, options.solver, size));
  }

  void finish_setup() {
    const detail::PhaseSeconds phases = operators->info().setup_seconds;
    setup_seconds.insert(setup_seconds.end(), phases.begin(), phases.end());
    detail::timed(ctx, setup_seconds, "vectors", [&] { make_vectors(); });
  }

  std::unique_ptr<detail::SystemOperators<T, S>> make_operators(const CsrView<T, S>& a, SystemOptions options,
                                                                const SystemParts<T, S>& parts) {
    if (options.mixed) {
      if constexpr (!std::is_same_v<T, double>) {
        throw InputError("mixed precision is for systems in double");
      } else {
        try {
          return std::make_unique<detail::MixedOperators<S>>(ctx, a, options, parts);
        } catch (const ZeroDiagonal&) {  // in single precision; double says whether it is so
        } catch (const NotPositiveDefinite&) {
        }
        why_double = "in double, since single precision does not support it";
      }
    }
    options.mixed = false;
    return std::make_unique<detail::PlainOperators<T, S>>(ctx, a, options, parts);
  }

  bool natural() const { return operators->order().natural(); }

  void gather_to_solver_order(Span<const T, S> user_order, Span<T, S> solver_order) const {
    if (natural()) return copy<T>(ctx, user_order, solver_order);
    gather<T, S>(ctx, user_order, operators->order().old_of_new.cspan(), solver_order);
  }
  void gather_to_user_order(Span<const T, S> solver_order, Span<T, S> user_order) const {
    if (natural()) return copy<T>(ctx, solver_order, user_order);
    gather<T, S>(ctx, solver_order, operators->order().new_of_old.cspan(), user_order);
  }

  CsrView<T, S> checked(const MatrixInput<T, S>& a, bool canonicalise) {
    if (a.rows() != a.cols()) {
      throw InputError("a linear system needs a square matrix, not " + std::to_string(a.rows()) + " x " +
                       std::to_string(a.cols()));
    }
    if (const auto csr = a.as_csr(); csr && !canonicalise) {
      check_csr(ctx, *csr);
      return *csr;
    }
    assembled.emplace(ctx, a);
    return assembled->view();
  }

  void make_vectors() {
    chain.emplace(operators->make_chain());
    if (operators->has_next_preconditioner()) guess = Array<T, S>(ctx, rows);
    if (natural()) return;
    ordered_b = Array<T, S>(ctx, rows);
    ordered_x = Array<T, S>(ctx, rows);
  }

  SolveReport solve_ordered(Span<const T, S> b, Span<T, S> x, const ProgressFn& progress) {
    require_sound();
    if (guess.size() > 0) copy<T>(ctx, Span<const T, S>(x), guess.span());
    SolveReport report = chain->solve(b, x, stop, progress);
    write_reasons(report);
    if (!learning.pinned()) try_other_preconditioners(report, b, x, progress);
    ctx.synchronize();  // x may be read from any stream
    learning.count(report.iterations);
    return report;
  }

  // Under "auto" the next pair of solvers and preconditioner continues from the best x, or begins again where that is
  // hardly better than the guess: an x that a bad preconditioner has blown up may be far from any solution.
  void try_other_preconditioners(SolveReport& report, Span<const T, S> b, Span<T, S> x, const ProgressFn& progress) {
    constexpr double some_progress = 1e-2;
    const auto start = std::chrono::steady_clock::now();
    Array<T, S> best;
    while (guess.size() > 0 && detail::worth_another_solver(report) && report.iterations < stop.max_iterations) {
      StopCriterion left = stop;
      left.max_iterations -= report.iterations;
      if (stop.time_limit_seconds > 0) {
        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
        left.time_limit_seconds = stop.time_limit_seconds - report.seconds - spent.count();
        if (left.time_limit_seconds <= 0) return;
      }
      const std::string before = operators->preconditioner_name();
      if (!operators->next_preconditioner()) return;
      chain.emplace(operators->make_chain());
      report.changed = "preconditioner " + operators->preconditioner_name() + " for " + before + ", which failed";
      if (best.size() == 0) best = Array<T, S>(ctx, rows);
      copy<T>(ctx, Span<const T, S>(x), best.span());
      if (!(report.true_residual < some_progress * report.initial_residual)) copy<T>(ctx, guess.cspan(), x);
      SolveReport next = chain->solve(b, x, left, progress);
      write_reasons(next);
      if (!next.converged() && !(next.true_residual <= report.true_residual)) {
        copy<T>(ctx, best.cspan(), x);
        next.true_residual = report.true_residual;
      }
      std::string changed = std::move(report.changed);
      detail::append_attempt(report, std::move(next));
      report.changed = std::move(changed);
    }
  }

  // Moves an unpinned system to a format whose setup the iterations so far have paid for. Returns what it did.
  std::string improve() {
    const FormatChoice* const choice = operators->format_choice();
    if (choice == nullptr || change_failed || !operators->sound()) return "";
    const FormatTrial* const better = learning.better_than(*choice);
    if (better == nullptr) return "";
    const std::string changed = "format " + better->format + " for " + choice->format + " after " +
                                detail::plain_number(learning.iterations()) + " iterations";
    try {
      auto moved = operators->in_format(better->format);
      change_failed = moved == nullptr;
      if (change_failed) return "";
      chain.reset();
      operators = std::move(moved);
      make_vectors();
    } catch (const OutOfMemory&) {
      change_failed = true;
      if (!chain) make_vectors();
      return "";
    }
    learning.moved();
    return changed;
  }

  std::vector<SolveReport> solve_columns_ordered(Span<const T, S> b, Span<T, S> x, Index columns,
                                                 const ProgressFn& progress) {
    require_sound();
    std::vector<SolveReport> reports = chain->solve_columns(b, x, columns, stop, progress);
    ctx.synchronize();
    for (SolveReport& report : reports) write_reasons(report);
    return reports;
  }

  void require_sound() const {
    if (operators->sound()) return;
    throw InputError("the last refresh failed; refresh with values that the preconditioner accepts");
  }

  void write_reasons(SolveReport& report) const {
    const std::string& name = operators->preconditioner_name();
    detail::write_reasons(report, name == "none" ? "" : name);
  }

  // As `enter`, for columns one after the other.
  void enter_columns(Span<const T, S> b, Span<const T, S> x, Index columns) const {
    enter({});
    if (columns < 0) throw InputError("the number of columns is 0 or more, not " + std::to_string(columns));
    const std::int64_t size = std::int64_t{rows} * columns;
    for (const std::int64_t length : {b.size, x.size}) {
      if (length == size) continue;
      throw InputError(std::to_string(length) + " values for " + std::to_string(columns) + " columns of " +
                       std::to_string(rows) + " unknowns");
    }
    require_apart<T, S>(b, x, "b and x");
  }

  void enter_slots() const {
    enter({});
    if (assembled && !assembled->borrowed()) {
      throw InputError("a matrix that had to be assembled cannot be written in place");
    }
  }

  // Public entries start here: no solve is pending, the device is current, and no vector is shorter or longer than
  // the system.
  void enter(std::initializer_list<std::int64_t> lengths) const {
    gate.require_free();
    ctx.make_current();
    for (const std::int64_t length : lengths) {
      if (length == rows) continue;
      throw InputError("a vector of length " + std::to_string(length) + " for a system of " + std::to_string(rows) +
                       " unknowns");
    }
  }
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
  s.chain->values_changed();
  s.operators->refresh(s.assembled ? s.assembled->values(s.ctx, values) : values, scope);
}

template <class T, Space S>
Slots<T, S> LinearSystem<T, S>::matrix_slots() {
  impl_->enter_slots();
  impl_->learning.pin();
  return impl_->operators->matrix_slots();
}

template <class T, Space S>
Slots<T, S> LinearSystem<T, S>::preconditioner_slots() {
  impl_->enter_slots();
  impl_->learning.pin();
  return impl_->operators->preconditioner_slots();
}

template <class T, Space S>
void LinearSystem<T, S>::slots_written(RefreshScope scope) {
  impl_->enter_slots();
  impl_->chain->values_changed();
  impl_->operators->slots_written(scope);
}

template <class T, Space S>
void LinearSystem<T, S>::operator_changed(RefreshScope scope) {
  impl_->enter({});
  impl_->chain->values_changed();
  impl_->operators->operator_changed(scope);
}

template <class T, Space S>
SolveReport LinearSystem<T, S>::solve(Span<const T, S> b, Span<T, S> x, const ProgressFn& progress) {
  Impl& s = *impl_;
  s.enter({b.size, x.size});
  require_apart<T, S>(b, x, "b and x");
  std::string changed = s.improve();
  SolveReport report;
  if (s.natural()) {
    report = s.solve_ordered(b, x, progress);
  } else {
    s.gather_to_solver_order(b, s.ordered_b);
    s.gather_to_solver_order(x, s.ordered_x);
    report = s.solve_ordered(s.ordered_b, s.ordered_x, progress);
    s.gather_to_user_order(s.ordered_x, x);
    s.ctx.synchronize();
  }
  if (report.changed.empty()) report.changed = std::move(changed);
  return report;
}

template <class T, Space S>
SolveReport LinearSystem<T, S>::solve_ordered(Span<const T, S> b, Span<T, S> x, const ProgressFn& progress) {
  impl_->enter({b.size, x.size});
  impl_->learning.pin();
  return impl_->solve_ordered(b, x, progress);
}

template <class T, Space S>
std::vector<SolveReport> LinearSystem<T, S>::solve_columns(Span<const T, S> b, Span<T, S> x, Index columns,
                                                           const ProgressFn& progress) {
  Impl& s = *impl_;
  s.enter_columns(b, x, columns);
  if (columns == 1) return {solve(b, x, progress)};
  if (s.natural()) return s.solve_columns_ordered(b, x, columns, progress);
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
    s.gather_to_solver_order(column_of(x, c), column_of(ordered_x, c));
  }
  std::vector<SolveReport> reports = s.solve_columns_ordered(ordered_b, ordered_x, columns, progress);
  for (Index c = 0; c < columns; ++c) s.gather_to_user_order(column_of(ordered_x, c), column_of(x, c));
  s.ctx.synchronize();
  return reports;
}

template <class T, Space S>
std::vector<SolveReport> LinearSystem<T, S>::solve_columns_ordered(Span<const T, S> b, Span<T, S> x, Index columns,
                                                                   const ProgressFn& progress) {
  impl_->enter_columns(b, x, columns);
  impl_->learning.pin();
  return impl_->solve_columns_ordered(b, x, columns, progress);
}

template <class T, Space S>
PendingSolve LinearSystem<T, S>::solve_async(Span<const T, S> b, Span<T, S> x, ProgressFn progress) {
  return impl_->gate.template start<SolveReport>([=](const ProgressFn& told) { return solve(b, x, told); },
                                                 std::move(progress));
}

template <class T, Space S>
PendingColumns LinearSystem<T, S>::solve_columns_async(Span<const T, S> b, Span<T, S> x, Index columns,
                                                       ProgressFn progress) {
  return impl_->gate.template start<std::vector<SolveReport>>(
      [=](const ProgressFn& told) { return solve_columns(b, x, columns, told); }, std::move(progress));
}

template <class T, Space S>
void LinearSystem<T, S>::to_solver_order(Span<const T, S> user_order, Span<T, S> solver_order) const {
  const Impl& s = *impl_;
  s.enter({user_order.size, solver_order.size});
  s.learning.pin();
  s.gather_to_solver_order(user_order, solver_order);
}

template <class T, Space S>
void LinearSystem<T, S>::to_user_order(Span<const T, S> solver_order, Span<T, S> user_order) const {
  const Impl& s = *impl_;
  s.enter({user_order.size, solver_order.size});
  s.learning.pin();
  s.gather_to_user_order(solver_order, user_order);
}

template <class T, Space S>
void LinearSystem<T, S>::multiply(Span<const T, S> x, Span<T, S> y) {
  Impl& s = *impl_;
  s.enter({x.size, y.size});
  require_apart<T, S>(x, y, "x and y");
  s.require_sound();
  if (s.natural()) return s.operators->matrix().apply(s.ctx, T(1), x, T(0), y);
  s.gather_to_solver_order(x, s.ordered_x);
  s.operators->matrix().apply(s.ctx, T(1), s.ordered_x.cspan(), T(0), s.ordered_b);
  s.gather_to_user_order(s.ordered_b, y);
}

template <class T, Space S>
SystemInfo LinearSystem<T, S>::info() const {
  const Impl& s = *impl_;
  s.gate.require_free();
  SystemInfo info = s.operators->info();
  info.setup_seconds = s.setup_seconds;
  info.bytes = s.ctx.memory()->use().bytes;
  if (info.preconditioner_reason.empty()) info.preconditioner_reason = s.why_double;
  return info;
}

template <class T, Space S>
const RowOrder<S>& LinearSystem<T, S>::order() const {
  impl_->gate.require_free();
  impl_->learning.pin();
  return impl_->operators->order();
}

template <class T, Space S>
const LinearOperator<T, S>& LinearSystem<T, S>::ordered_matrix() const {
  impl_->gate.require_free();
  impl_->learning.pin();
  return impl_->operators->matrix();
}

template <class T, Space S>
const LinearOperator<T, S>* LinearSystem<T, S>::ordered_preconditioner() const {
  impl_->gate.require_free();
  impl_->learning.pin();
  return impl_->operators->preconditioner();
}

template <class T, Space S>
InverseResidual LinearSystem<T, S>::preconditioner_residual() const {
  const Impl& s = *impl_;
  s.enter({});
  const LinearOperator<T, S>& A = s.operators->matrix();
  const LinearOperator<T, S>* M = s.operators->preconditioner();
  if (M != nullptr) return inverse_residual(s.ctx, A, *M, s.precond_side);
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
PURLIN_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace purlin
