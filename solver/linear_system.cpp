// SPDX-License-Identifier: Apache-2.0
// The facade: order, format, preconditioner and solver of one pattern.
#include <purlin/solver/linear_system.hpp>

#include <algorithm>
#include <chrono>
#include <optional>

#include <purlin/core/error.hpp>
#include <purlin/core/instantiate.hpp>
#include <purlin/core/matrix_traits.hpp>
#include <purlin/core/vector_ops.hpp>
#include <purlin/precond/choice.hpp>
#include <purlin/solver/canonical.hpp>
#include <purlin/solver/choice.hpp>
#include <purlin/solver/memory_estimate.hpp>
#include <purlin/solver/solver_chain.hpp>

namespace purlin {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

constexpr int trial_iterations = 32;

// A right-hand side without structure that a preconditioner could like or dislike; the same on every machine.
template <class T>
std::vector<T> trial_rhs(Index n) {
  std::vector<T> b(static_cast<std::size_t>(n));
  std::uint64_t state = 0;
  for (T& value : b) {
    std::uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    value = static_cast<T>(static_cast<double>(z >> 12) / 2251799813685248.0 - 1);
  }
  return b;
}

// The solvers know their preconditioner as an operator only.
void name_preconditioner(std::string& reason, const std::string& name) {
  const std::string anonymous = "the preconditioner";
  const std::size_t at = reason.find(anonymous);
  if (at != std::string::npos && name != "none") reason.insert(at + anonymous.size(), " " + name);
}

}  // namespace

template <class T, Space S>
struct LinearSystem<T, S>::Impl {
  Context<S> ctx;
  SystemOptions options;
  Index rows = 0;
  std::optional<detail::CanonicalMatrix<T, S>> canonical;
  RowOrder<S> order;
  OperatorPtr<T, S> A;
  OperatorPtr<T, S> M;
  FormatChoice format;
  SolverChoice choice;
  std::optional<MatrixTraits> traits;  // where something is chosen by them
  std::string precond_reason;
  std::optional<detail::SolverChain<T, S>> chain;
  Array<T, S> ordered_b, ordered_x;  // where the system is renumbered
  bool matrix_sound = true;          // false after a refresh that failed
  bool precond_sound = true;
  std::vector<std::pair<std::string, double>> setup_seconds;

  Impl(const Context<S>& ctx_, const CsrView<T, S>& a, SystemOptions options_)
      : ctx(ctx_), options(std::move(options_)), rows(a.rows) {
    ctx.make_current();
    require_memory(a);
    CsrView<T, S> view = a;
    timed("check", [&] { view = checked(a); });
    timed("format choice", [&] { choose_format(view); });
    timed("order", [&] {
      order = options.old_of_new.empty() ? plan_order<T>(ctx, Pattern<S>(view), options.spmv)
                                         : make_row_order(ctx, options.old_of_new, options.part_begin);
    });
    timed("choice", [&] { choose(view); });
    require_memory(a);  // again: now the method is known
    PermutedCsr<T, S> permuted;
    if (!order.natural()) {
      timed("permute", [&] { permuted = permute(ctx, view, order); });
      view = permuted.view();
    }
    timed("format", [&] { A = make_spmv(ctx, view, order, options.spmv); });
    timed("preconditioner", [&] { make_preconditioner(view); });
    options.precond.pattern = nullptr;  // read, and no longer needed
    timed("vectors", [&] { make_vectors(); });
    if (canonical) canonical->drop_pattern();
  }

  template <class F>
  void timed(const char* phase, F&& f) {
    const auto start = Clock::now();
    f();
    ctx.synchronize();
    setup_seconds.emplace_back(phase, seconds_since(start));
  }

  // Says so before anything is allocated when format, preconditioner and vectors cannot fit.
  void require_memory(const CsrView<T, S>& a) const {
    SolverOptions first = options.solver;
    if (!choice.order.empty()) first.name = choice.order.front();
    const SystemSize size{a.rows, a.nnz(), sizeof(T), !order.natural()};
    const std::uint64_t wanted = estimate_system(options.spmv, options.precond, first, size).total();
    const std::uint64_t available = ctx.memory()->available_bytes();
    if (wanted > available) throw OutOfMemory(name_of(S), "this system (an estimate)", wanted, available);
  }

  CsrView<T, S> checked(const CsrView<T, S>& a) {
    if (a.rows != a.cols) {
      throw InputError("a linear system needs a square matrix, not " + std::to_string(a.rows) + " x " +
                       std::to_string(a.cols));
    }
    if (!options.canonicalise) {
      check_csr(ctx, a);
      return a;
    }
    canonical.emplace(ctx, a);
    return canonical->view();
  }

  void choose_format(const CsrView<T, S>& view) {
    const std::string asked = canonical_name(options.spmv.format);
    format.format = options.spmv.format;
    if (!is_format_choice(asked)) return;
    const double products =
        options.expected_products > 0 ? options.expected_products : expected_products(rows, options.stop.rel_tol);
    const bool may_renumber = options.old_of_new.empty();
    format = asked == "auto" ? forecast_format<T>(ctx, Pattern<S>(view), options.spmv, products, may_renumber)
                             : measure_formats(ctx, view, options.spmv, products, may_renumber);
    options.spmv.format = format.format;
  }

  void choose(const CsrView<T, S>& view) {
    const bool choose_precond = canonical_name(options.precond.name) == "auto";
    if (options.solver.name == "auto" || choose_precond) traits = matrix_traits(ctx, view);
    if (options.solver.name == "auto") {
      choice = choose_solver(*traits);
    } else {
      choice = {{options.solver.name}, "asked for"};
    }
    if (choice.order.front() == "cg") options.precond.symmetric = true;
  }

  void make_preconditioner(const CsrView<T, S>& view) {
    if (canonical_name(options.precond.name) != "auto") {
      M = make_precond(ctx, view, order, options.precond, options.spmv);
      return;
    }
    const PrecondUse use{*traits, options.stop.rel_tol, options.expected_products};
    const TryPrecond<T, S> attempt = [&](const LinearOperator<T, S>* candidate) { return tried(candidate); };
    ChosenPrecond<T, S> chosen = choose_precond<T, S>(ctx, view, order, options.precond, options.spmv, use, attempt);
    M = std::move(chosen.M);
    options.precond.name = chosen.choice.name;
    precond_reason = chosen.choice.reason;
  }

  PrecondTrial tried(const LinearOperator<T, S>* candidate) {
    SolverOptions solver = options.solver;
    if (solver.restart == 0) solver.restart = trial_iterations;
    StopCriterion stop = options.stop;
    stop.max_iterations = std::min(trial_iterations, stop.max_iterations);
    detail::SolverChain<T, S> first(ctx, {{choice.order.front()}, ""}, solver, *A, candidate,
                                    options.null_space == NullSpace::constant);
    const Array<T, S> b = make_array(ctx, trial_rhs<T>(rows));
    Array<T, S> x(ctx, rows);
    fill<T, S>(ctx, T(0), x.span());
    const SolveReport report = first.solve(b.cspan(), x.span(), stop, {});
    PrecondTrial trial;
    trial.iterations = report.iterations;
    trial.seconds = report.seconds;
    trial.failed = report.status == Status::breakdown || report.status == Status::not_positive_definite ||
                   report.status == Status::not_finite;
    for (const double residual : report.history) {
      if (report.history.front() > 0) trial.reduction = std::min(trial.reduction, residual / report.history.front());
    }
    return trial;
  }

  void make_vectors() {
    chain.emplace(ctx, choice, options.solver, *A, M.get(), options.null_space == NullSpace::constant);
    if (order.natural()) return;
    ordered_b = Array<T, S>(ctx, rows);
    ordered_x = Array<T, S>(ctx, rows);
  }

  SolveReport solve_ordered(Span<const T, S> b, Span<T, S> x, const ProgressFn& progress) {
    if (!matrix_sound || !precond_sound)
      throw InputError("the last refresh failed; refresh with values that the preconditioner admits");
    SolveReport report = chain->solve(b, x, options.stop, progress);
    ctx.synchronize();  // x may be read from any stream
    name_preconditioner(report.reason, options.precond.name);
    for (Attempt& attempt : report.attempts) name_preconditioner(attempt.reason, options.precond.name);
    return report;
  }

  template <class F>
  void refresh_preconditioner(RefreshScope scope, F&& f) {
    if (M == nullptr || scope == RefreshScope::operator_only) return;
    precond_sound = false;
    f();
    precond_sound = true;
  }

  void enter_slots() const {
    ctx.make_current();
    if (canonical) throw InputError("a matrix that had to be made canonical cannot be written in place");
  }

  // Public entries start here: the device is current, and no vector is shorter or longer than the system.
  void enter(std::initializer_list<std::int64_t> lengths) const {
    ctx.make_current();
    for (const std::int64_t length : lengths) {
      if (length == rows) continue;
      throw InputError("a vector of length " + std::to_string(length) + " for a system of " + std::to_string(rows) +
                       " unknowns");
    }
  }
};

template <class T, Space S>
LinearSystem<T, S>::LinearSystem(const Context<S>& ctx, const CsrView<T, S>& a, SystemOptions options)
    : impl_(std::make_unique<Impl>(ctx, a, std::move(options))) {}
template <class T, Space S>
LinearSystem<T, S>::~LinearSystem() = default;
template <class T, Space S>
LinearSystem<T, S>::LinearSystem(LinearSystem&&) noexcept = default;
template <class T, Space S>
LinearSystem<T, S>& LinearSystem<T, S>::operator=(LinearSystem&&) noexcept = default;

template <class T, Space S>
Index LinearSystem<T, S>::rows() const {
  return impl_->rows;
}

template <class T, Space S>
void LinearSystem<T, S>::refresh(Span<const T, S> values, RefreshScope scope) {
  Impl& s = *impl_;
  s.ctx.make_current();
  s.matrix_sound = false;
  const Span<const T, S> canonical = s.canonical ? s.canonical->values(s.ctx, values) : values;
  s.A->refresh(s.ctx, canonical);
  s.matrix_sound = true;
  s.refresh_preconditioner(scope, [&] { s.M->refresh(s.ctx, canonical); });
}

template <class T, Space S>
Slots<T, S> LinearSystem<T, S>::matrix_slots() {
  impl_->enter_slots();
  return impl_->A->slots(impl_->ctx);
}

template <class T, Space S>
Slots<T, S> LinearSystem<T, S>::preconditioner_slots() {
  impl_->enter_slots();
  return impl_->M == nullptr ? Slots<T, S>{} : impl_->M->slots(impl_->ctx);
}

template <class T, Space S>
void LinearSystem<T, S>::slots_written(RefreshScope scope) {
  Impl& s = *impl_;
  s.enter_slots();
  s.matrix_sound = false;
  s.A->slots_written(s.ctx);
  s.matrix_sound = true;
  s.refresh_preconditioner(scope, [&] { s.M->slots_written(s.ctx); });
}

template <class T, Space S>
SolveReport LinearSystem<T, S>::solve(Span<const T, S> b, Span<T, S> x, const ProgressFn& progress) {
  Impl& s = *impl_;
  s.enter({b.size, x.size});
  if (s.order.natural()) return s.solve_ordered(b, x, progress);
  to_solver_order(b, s.ordered_b);
  to_solver_order(x, s.ordered_x);
  SolveReport report = s.solve_ordered(s.ordered_b, s.ordered_x, progress);
  to_user_order(s.ordered_x, x);
  s.ctx.synchronize();
  return report;
}

template <class T, Space S>
SolveReport LinearSystem<T, S>::solve_ordered(Span<const T, S> b, Span<T, S> x, const ProgressFn& progress) {
  impl_->enter({b.size, x.size});
  return impl_->solve_ordered(b, x, progress);
}

template <class T, Space S>
void LinearSystem<T, S>::to_solver_order(Span<const T, S> user_order, Span<T, S> solver_order) const {
  const Impl& s = *impl_;
  s.enter({user_order.size, solver_order.size});
  if (s.order.natural()) return copy<T>(s.ctx, user_order, solver_order);
  gather<T, S>(s.ctx, user_order, s.order.old_of_new.cspan(), solver_order);
}

template <class T, Space S>
void LinearSystem<T, S>::to_user_order(Span<const T, S> solver_order, Span<T, S> user_order) const {
  const Impl& s = *impl_;
  s.enter({user_order.size, solver_order.size});
  if (s.order.natural()) return copy<T>(s.ctx, solver_order, user_order);
  gather<T, S>(s.ctx, solver_order, s.order.new_of_old.cspan(), user_order);
}

template <class T, Space S>
void LinearSystem<T, S>::multiply(Span<const T, S> x, Span<T, S> y) {
  Impl& s = *impl_;
  s.enter({x.size, y.size});
  if (s.order.natural()) return s.A->apply(s.ctx, T(1), x, T(0), y);
  to_solver_order(x, s.ordered_x);
  s.A->apply(s.ctx, T(1), s.ordered_x.cspan(), T(0), s.ordered_b);
  to_user_order(s.ordered_b, y);
}

template <class T, Space S>
SystemInfo LinearSystem<T, S>::info() const {
  const Impl& s = *impl_;
  SystemInfo info;
  info.matrix = s.A->info();
  if (s.M != nullptr) {
    info.preconditioner = s.M->info();
  } else {
    info.preconditioner.name = "none";
    info.preconditioner.rows = info.preconditioner.cols = s.rows;
  }
  info.preconditioner_reason = s.precond_reason;
  info.solver = s.choice.order.front();
  info.solver_reason = s.choice.reason;
  info.format = s.format;
  info.order = s.order.report;
  info.reordered = !s.order.natural();
  info.setup_seconds = s.setup_seconds;
  info.bytes = s.ctx.memory()->use().bytes;
  return info;
}

template <class T, Space S>
const RowOrder<S>& LinearSystem<T, S>::order() const {
  return impl_->order;
}

template <class T, Space S>
const LinearOperator<T, S>& LinearSystem<T, S>::ordered_matrix() const {
  return *impl_->A;
}

template <class T, Space S>
const LinearOperator<T, S>* LinearSystem<T, S>::ordered_preconditioner() const {
  return impl_->M.get();
}

template <class T, Space S>
InverseResidual LinearSystem<T, S>::preconditioner_residual() const {
  const Impl& s = *impl_;
  s.enter({});
  if (s.M != nullptr) return inverse_residual(s.ctx, *s.A, *s.M, s.options.precond.side);
  const FunctionOperator<T, S> identity(
      s.rows, s.rows, [](const auto& ctx, T alpha, auto x, T beta, auto y) { axpby<T, S>(ctx, alpha, x, beta, y); });
  return inverse_residual(s.ctx, *s.A, identity);
}

template <class T, Space S>
void LinearSystem<T, S>::set_stop_criterion(const StopCriterion& stop) {
  impl_->options.stop = stop;
}

template <class T, Space S>
const StopCriterion& LinearSystem<T, S>::stop_criterion() const {
  return impl_->options.stop;
}

#define X(T, S) template class LinearSystem<T, S>;
PURLIN_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace purlin
