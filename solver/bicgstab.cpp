// SPDX-License-Identifier: Apache-2.0
// The preconditioned BiCGStab method.
#include <purlin/solver/bicgstab.hpp>

#include <cmath>
#include <limits>

#include <purlin/core/instantiate.hpp>
#include <purlin/solver/bicgstab_steps.hpp>
#include <purlin/solver/convergence_monitor.hpp>
#include <purlin/solver/resident_bicgstab.hpp>

namespace purlin {

using namespace detail;

namespace {

constexpr int most_restarts = 5;

// Keeps a copy of the best iterate seen, at most every 16 iterations.
template <class T, Space S>
class BestIterate {
 public:
  BestIterate(const Context<S>& ctx, Span<T, S> x, Span<T, S> kept) : ctx_(ctx), x_(x), kept_(kept) {}

  // The guess is the first.
  void begin(double residual) { keep(0, residual); }
  void offer(int iteration, double residual) {
    if (iteration < what_.iteration + iterations_between_keeping || !(residual < what_.residual)) return;
    keep(iteration, residual);
  }
  // x = the kept iterate
  void restore() const { copy<T>(ctx_, Span<const T, S>(kept_), x_); }
  KeptIterate& what() { return what_; }

 private:
  void keep(int iteration, double residual) {
    copy<T>(ctx_, Span<const T, S>(x_), kept_);
    what_ = {residual, iteration};
  }

  const Context<S>& ctx_;
  Span<T, S> x_, kept_;
  KeptIterate what_;
};

template <class T>
BicgstabState fresh_state(const MonitorState& monitor, double residual) {
  BicgstabState state{};
  state.monitor = monitor;
  state.rho = residual * residual;
  state.r0_norm = state.r_norm = residual;
  state.epsilon = std::numeric_limits<T>::epsilon();
  state.first = true;
  return state;
}

bool is_breakdown(Event event) { return event == Event::rho_vanished || event == Event::omega_vanished; }

}  // namespace

template <class T, Space S>
Bicgstab<T, S>::Bicgstab(const Context<S>& ctx, Index n, bool resident)
    : r_(ctx, n),
      r0_(ctx, n),
      p_(ctx, n),
      v_(ctx, n),
      t_(ctx, n),
      ph_(ctx, n),
      sh_(ctx, n),
      best_x_(ctx, n),
      state_(ctx, 1),
      may_be_resident_(resident) {}

// One iteration moves, in addition to two products with A and two with M: the direction 4 vectors, r0.v 2, the half
// step 3, the two dots 2, the update 9.
template <class T, Space S>
std::function<void()> Bicgstab<T, S>::iteration(const Context<S>& ctx, const LinearOperator<T, S>& A,
                                                const LinearOperator<T, S>* M, Span<T, S> x) {
  const std::int64_t n = r_.size();
  BicgstabState* const s = state_.data();
  const Span<T, S> r = r_, r0 = r0_, p = p_, v = v_, t = t_;
  const Span<T, S> ph = M != nullptr ? ph_.span() : p, sh = M != nullptr ? sh_.span() : r;
  const auto in = [](Span<T, S> vector) { return Span<const T, S>(vector); };
  return [=, &ctx, &A] {
    sweep(ctx, n, BicgstabDirection<T>{s, r.data, v.data, p.data});  // p = r + beta (p - omega v)
    if (M != nullptr) M->apply(ctx, T(1), in(p), T(0), ph);          // p^ = M p
    A.apply(ctx, T(1), in(ph), T(0), v);                             // v = A p^
    dot<T, S>(ctx, in(r0), in(v), &s->r0v);                          // alpha = rho / r0.v
    sweep(ctx, n, BicgstabHalfStep<T>{s, v.data, r.data});           // s = r - alpha v
    if (M != nullptr) M->apply(ctx, T(1), in(r), T(0), sh);          // s^ = M s
    A.apply(ctx, T(1), in(sh), T(0), t);                             // t = A s^
    sweep(ctx, n, BicgstabDots<T>{s, t.data, r.data});               // omega = t.s / t.t
    // x += alpha p^ + omega s^, r = s - omega t, rho = r0.r
    sweep(ctx, n, BicgstabUpdate<T>{s, ph.data, sh.data, t.data, r0.data, x.data, r.data});
  };
}

template <class T, Space S>
SolveReport Bicgstab<T, S>::solve(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M,
                                  Span<const T, S> b, Span<T, S> x, const StopCriterion& stop,
                                  const ProgressFn& progress) {
  BicgstabState* const s = state_.data();
  const Span<T, S> r = r_, t = t_;
  const auto in = [](Span<T, S> vector) { return Span<const T, S>(vector); };
  const SolveArguments<T, S> system{ctx, A, M, b, x, stop, progress};
  ConvergenceMonitor<T, S> convergence(name(), r_.size(), system, &s->scratch, last_iterations_);
  BestIterate<T, S> best(ctx, x, best_x_);

  prepare(ctx, A, M);
  bool on_chip = resident_ != nullptr && resident_->fits();
  bool opened = !on_chip, bound = false;
  bool more = on_chip || convergence.open(r);  // r = b - A x
  if (opened && more) best.begin(convergence.residual());
  const std::function<void()> step = iteration(ctx, A, M, x);
  while (more) {
    if (opened) best.offer(convergence.iterations(), convergence.report().recurrence_residual);
    if constexpr (S == Space::device) {
      if (on_chip) {
        const ResidentEnd end = resident_->run(system, convergence, {r, p_, r0_, best_x_}, best.what(), opened);
        if (end == ResidentEnd::reported) break;
        on_chip = end == ResidentEnd::event;
        opened = true;
      }
    }
    if (!on_chip) {
      if (!bound) graph_.bind(ctx, A, M, x);
      bound = true;
      const BicgstabState start = fresh_state<T>(convergence.fresh_monitor(), convergence.residual());
      copy<BicgstabState>(ctx, Span<const BicgstabState, Space::host>(&start, 1), state_.span());
      copy<T>(ctx, in(r), r0_.span());  // r0 = r
      do {
        best.offer(convergence.iterations(), convergence.report().recurrence_residual);
        graph_.repeat(convergence.check_every(), step);
      } while (convergence.poll(&s->monitor));
    }
    const Event event = convergence.event();
    if (is_breakdown(event) && convergence.report().restarts < most_restarts && !convergence.interrupted()) {
      ++convergence.report().restarts;
      more = !convergence.form_residual(r) && std::isfinite(convergence.residual());  // r = b - A x
      if (!more && std::isfinite(convergence.residual())) convergence.conclude(Status::converged);
      if (!more) convergence.conclude(Event::not_finite);
    } else {
      if (is_breakdown(event) && convergence.interrupted()) convergence.conclude(Event::none);
      convergence.conclude(event);
      more = event == Event::tolerance_met && !convergence.confirm(r);
    }
  }
  if (convergence.iterations() > 0 && convergence.report().status != Status::converged) {
    const bool maybe_better = !convergence.form_residual(r) && !(convergence.residual() <= best.what().residual);
    if (maybe_better) {
      // The kept one was judged by the recurrence, which may have drifted: the true residuals decide.
      const double last = convergence.residual();
      copy<T>(ctx, in(x), t);
      best.restore();
      if (!convergence.form_residual(r) && convergence.residual() > last) {
        copy<T>(ctx, in(t), x);
        convergence.form_residual(r);
      }
    }
  }
  last_iterations_ = convergence.iterations();
  return convergence.close(r, t);
}

template <class T, Space S>
void Bicgstab<T, S>::prepare(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M) {
  if constexpr (S == Space::device) {
    if (!may_be_resident_ || (resident_ != nullptr && resident_->serves(ctx, A, M))) return;
    ctx.make_current();
    resident_ = std::make_shared<ResidentBicgstab<T>>(ctx, A, M);
  }
}

#define X(T, S) template class Bicgstab<T, S>;
PURLIN_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace purlin
