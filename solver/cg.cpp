// SPDX-License-Identifier: Apache-2.0
// The preconditioned conjugate gradient method.
#include <purlin/solver/cg.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include <purlin/core/error.hpp>
#include <purlin/core/instantiate.hpp>
#include <purlin/core/vector_ops.hpp>
#include <purlin/solver/cg_steps.hpp>
#include <purlin/solver/convergence_monitor.hpp>
#include <purlin/solver/resident_cg.hpp>
#include <purlin/solver/symmetry.hpp>

namespace purlin {

using namespace detail;

namespace {

CgState fresh_state(const MonitorState& monitor, bool preconditioned) {
  CgState state{};
  state.monitor = monitor;
  state.rho_old = std::numeric_limits<double>::infinity();
  state.preconditioned = preconditioned;
  return state;
}

}  // namespace

template <class T, Space S>
Cg<T, S>::Cg(const Context<S>& ctx, Index n, bool resident)
    : r_(ctx, n), z_(ctx, n), p_(ctx, n), q_(ctx, n), start_x_(ctx, n), state_(ctx, 1), may_be_resident_(resident) {}

// One iteration moves, in addition to the matrix: the direction reads z, p, x and writes p, x; q = A p reads p,
// writes q, then reads both for p.q where the format cannot fuse it; the update reads q, r and writes r. Ten vectors
// without a preconditioner, twelve with one that is diagonal, whose D both steps read in the place of z. Any other
// adds its own pass, z = M r.
template <class T, Space S>
std::function<void()> Cg<T, S>::iteration(const Context<S>& ctx, const LinearOperator<T, S>& A,
                                          const LinearOperator<T, S>* M, Span<T, S> x) {
  const std::int64_t n = r_.size();
  const T* const d = M != nullptr ? M->diagonal().data : nullptr;
  CgState* const s = state_.data();
  const Span<T, S> r = r_, p = p_, q = q_, z = M != nullptr && d == nullptr ? z_.span() : r;
  const auto direction = [=, &ctx] {
    if (d != nullptr) return sweep(ctx, n, CgDirection<T, true>{s, d, r.data, p.data, x.data});
    sweep(ctx, n, CgDirection<T, false>{s, nullptr, z.data, p.data, x.data});
  };
  const auto update = [=, &ctx] {
    if (d != nullptr) return sweep(ctx, n, CgUpdate<T, true>{s, d, q.data, r.data});
    sweep(ctx, n, CgUpdate<T, false>{s, nullptr, q.data, r.data});
  };
  return [=, &ctx, &A] {
    if (z.data != r.data) M->apply_dot(ctx, r, z, &s->rz);  // z = M r, rho = r.z
    direction();                                            // x += alpha p, p = z + (rho / rho_old) p
    A.apply_dot(ctx, p, q, &s->pq);                         // q = A p, p.q
    update();                                               // r -= alpha q, |r|, with D: rho = r.D r
  };
}

// With D the first rho = r.D r; any other M leaves it when it forms z.
template <class T, Space S>
void Cg<T, S>::first_rho(const Context<S>& ctx, const LinearOperator<T, S>* M) {
  if (M != nullptr && !M->diagonal().empty()) M->apply_dot(ctx, r_, q_, &state_.data()->rz);
}

// x += alpha p
template <class T, Space S>
void Cg<T, S>::finish(const Context<S>& ctx, Span<T, S> x) {
  sweep(ctx, r_.size(), CgLastStep<T>{state_.data(), p_.data(), x.data});
}

template <class T, Space S>
SolveReport Cg<T, S>::solve(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M,
                            Span<const T, S> b, Span<T, S> x, const StopCriterion& stop, const ProgressFn& progress) {
  CgState* const s = state_.data();
  const SolveArguments<T, S> system{ctx, A, M, b, x, stop, progress};
  ConvergenceMonitor<T, S> convergence(name(), r_.size(), system, &s->scratch, last_iterations_);
  convergence.watch_growth(first_growth, most_growth<T>, [&] { return symmetry_fault(ctx, A, M); });
  bool more = open(system, convergence);  // r = b - A x
  Start best;  // a resident solve has kept the guess, and leaves the rest from where it came
  if (convergence.iterations() > 0) best.residual = convergence.report().initial_residual;
  const std::function<void()> step = iteration(ctx, A, M, x);
  if (more) graph_.bind(ctx, A, M, x);
  while (more) {
    CgState start = fresh_state(convergence.fresh_monitor(), M != nullptr);
    start.rr = convergence.residual() * convergence.residual();
    if (!(convergence.residual() > best.residual)) {
      copy<T>(ctx, Span<const T, S>(x), start_x_.span());
      best = {convergence.residual(), convergence.iterations(), -1};
    } else if (best.end < 0) {
      best.end = convergence.iterations();
    }
    copy<CgState>(ctx, Span<const CgState, Space::host>(&start, 1), state_.span());
    fill<T, S>(ctx, T(0), p_);
    first_rho(ctx, M);
    do {
      graph_.repeat(convergence.check_every(), step);
    } while (convergence.poll(&s->monitor));
    finish(ctx, x);
    convergence.conclude(convergence.event(), r_);
    more = convergence.event() == Event::tolerance_met && !convergence.confirm(r_);  // r = b - A x
  }
  if (convergence.report().status == Status::diverged) return_to_best(system, convergence, best);
  last_iterations_ = convergence.iterations();
  return convergence.close(r_, q_);
}

// The iterates are not kept on the way, which would cost every solve; those of one that diverged are few.
template <class T, Space S>
void Cg<T, S>::return_to_best(const SolveArguments<T, S>& system, ConvergenceMonitor<T, S>& convergence,
                              const Start& start) {
  const auto& [ctx, A, M, b, x, stop, progress] = system;
  const std::vector<double>& history = convergence.report().history;
  const auto first = history.begin() + start.begin;
  const auto best = std::min_element(first, start.end < 0 ? history.end() : history.begin() + start.end + 1);
  copy<T>(ctx, start_x_.cspan(), x);
  iterate(ctx, A, M, b, x, static_cast<int>(best - first));
  if (convergence.form_residual(r_) || convergence.residual() <= *first) return;
  copy<T>(ctx, start_x_.cspan(), x);
  convergence.form_residual(r_);
}

template <class T, Space S>
void Cg<T, S>::iterate(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M,
                       Span<const T, S> b, Span<T, S> x, int iterations) {
  check_system<T, S>(r_.size(), A, M, b, x);
  if (iterations < 0) throw InputError("the number of iterations is 0 or more, not " + std::to_string(iterations));
  if (iterations == 0) return;
  ctx.make_current();
  graph_.bind(ctx, A, M, x);
  MonitorState monitor{};
  monitor.growth_limit = std::numeric_limits<double>::infinity();
  monitor.max_iterations = iterations;

  copy<T>(ctx, b, r_.span());
  A.apply(ctx, T(-1), Span<const T, S>(x), T(1), r_);  // r = b - A x
  sweep(ctx, r_.size(), CgStart<T>{fresh_state(monitor, M != nullptr), state_.data(), r_.data()});
  fill<T, S>(ctx, T(0), p_);
  first_rho(ctx, M);
  graph_.repeat(iterations, iteration(ctx, A, M, x));
  finish(ctx, x);
}

template <class T, Space S>
void Cg<T, S>::prepare(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M) {
  if constexpr (S == Space::device) {
    if (!may_be_resident_ || (resident_ != nullptr && resident_->serves(ctx, A, M))) return;
    ctx.make_current();
    resident_ = std::make_shared<ResidentCg<T>>(ctx, A, M);
  }
}

// r = b - A x. Where the system fits on the chip it is solved there, and as a rule nothing is left to do.
template <class T, Space S>
bool Cg<T, S>::open(const SolveArguments<T, S>& system, ConvergenceMonitor<T, S>& convergence) {
  if constexpr (S == Space::device) {
    prepare(system.ctx, system.A, system.M);
    if (may_be_resident_ && resident_->fits()) {
      return resident_->solve(system, convergence, {r_, p_, q_, start_x_}) == ResidentEnd::continue_in_loop;
    }
  }
  return convergence.open(r_.span());
}

#define X(T, S) template class Cg<T, S>;
PURLIN_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace purlin
