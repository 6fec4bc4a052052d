// SPDX-License-Identifier: Apache-2.0
// The preconditioned BiCGStab method.
#include <purlin/solver/bicgstab.hpp>

#include <cmath>
#include <limits>

#include <purlin/core/instantiate.hpp>
#include <purlin/solver/bicgstab_steps.hpp>
#include <purlin/solver/journal.hpp>

namespace purlin {

using namespace detail;

namespace {

constexpr int most_restarts = 5;
constexpr int iterations_between_keeping = 16;

// Keeps a copy of the best iterate seen, at most every 16 iterations.
template <class T, Space S>
class BestIterate {
 public:
  BestIterate(const Context<S>& ctx, Span<T, S> x, Span<T, S> kept, double residual)
      : ctx_(ctx), x_(x), kept_(kept), residual_(residual) {
    copy<T>(ctx_, Span<const T, S>(x_), kept_);
  }
  void offer(int iteration, double residual) {
    if (iteration < kept_at_ + iterations_between_keeping || !(residual < residual_)) return;
    copy<T>(ctx_, Span<const T, S>(x_), kept_);
    kept_at_ = iteration;
    residual_ = residual;
  }
  // x = the kept iterate
  void restore() const { copy<T>(ctx_, Span<const T, S>(kept_), x_); }
  double residual() const { return residual_; }

 private:
  const Context<S>& ctx_;
  Span<T, S> x_, kept_;
  double residual_;
  int kept_at_ = 0;
};

bool is_breakdown(Event event) { return event == Event::rho_vanished || event == Event::omega_vanished; }

}  // namespace

template <class T, Space S>
Bicgstab<T, S>::Bicgstab(const Context<S>& ctx, Index n)
    : r_(ctx, n),
      r0_(ctx, n),
      p_(ctx, n),
      v_(ctx, n),
      t_(ctx, n),
      ph_(ctx, n),
      sh_(ctx, n),
      best_x_(ctx, n),
      state_(ctx, 1) {}

// One iteration moves, beside two products with A and two with M: the direction 4 vectors, r0.v 2, the half step 3,
// the two dots 2, the update 9.
template <class T, Space S>
SolveReport Bicgstab<T, S>::solve(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M,
                                  Span<const T, S> b, Span<T, S> x, const StopCriterion& stop,
                                  const ProgressFn& progress) {
  const std::int64_t n = r_.size();
  BicgstabState* const s = state_.data();
  const Span<T, S> r = r_, r0 = r0_, p = p_, v = v_, t = t_;
  const Span<T, S> ph = M != nullptr ? ph_.span() : p, sh = M != nullptr ? sh_.span() : r;
  const auto in = [](Span<T, S> vector) { return Span<const T, S>(vector); };
  const auto iteration = [&] {
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
  Journal<T, S> journal(name(), n, {ctx, A, M, b, x, stop, progress}, &s->scratch, last_iterations_);
  graph_.bind(ctx, A, M, x);

  bool more = journal.open(r);  // r = b - A x
  const bool iterated = more;
  BestIterate<T, S> best(ctx, x, best_x_, journal.residual());
  while (more) {
    BicgstabState start{};
    start.monitor = journal.fresh_monitor();
    start.rho = journal.residual() * journal.residual();
    start.r0_norm = start.r_norm = journal.residual();
    start.epsilon = std::numeric_limits<T>::epsilon();
    start.first = true;
    copy<BicgstabState>(ctx, Span<const BicgstabState, Space::host>(&start, 1), state_.span());
    copy<T>(ctx, in(r), r0);  // r0 = r
    do {
      best.offer(journal.iterations(), journal.report().recurrence_residual);
      graph_.repeat(journal.check_every(), iteration);
    } while (journal.look(&s->monitor));
    const Event event = journal.event();
    if (is_breakdown(event) && journal.report().restarts < most_restarts && !journal.interrupted()) {
      ++journal.report().restarts;
      more = !journal.form_residual(r) && std::isfinite(journal.residual());  // r = b - A x
      if (!more && std::isfinite(journal.residual())) journal.conclude(Status::converged, "");
      if (!more) journal.conclude(Event::not_finite);
    } else {
      if (is_breakdown(event) && journal.interrupted()) journal.conclude(Event::none);
      journal.conclude(event);
      more = event == Event::tolerance_met && !journal.confirm(r, t);
    }
  }
  if (iterated && journal.report().status != Status::converged) {
    const bool maybe_better = !journal.form_residual(r) && !(journal.residual() <= best.residual());
    if (maybe_better) {
      // The kept one was judged by the recurrence, which may have drifted: the true residuals decide.
      const double last = journal.residual();
      copy<T>(ctx, in(x), t);
      best.restore();
      if (!journal.form_residual(r) && journal.residual() > last) {
        copy<T>(ctx, in(t), x);
        journal.form_residual(r);
      }
    }
  }
  last_iterations_ = journal.iterations();
  return journal.close(r);
}

#define X(T, S) template class Bicgstab<T, S>;
PURLIN_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace purlin
