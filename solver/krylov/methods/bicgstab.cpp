// SPDX-License-Identifier: Apache-2.0
// The preconditioned BiCGStab method.
#include <newel/solver/bicgstab.hpp>

#include <cmath>
#include <limits>
#include <optional>

#include "core/vectors/instantiate.hpp"
#include "solver/krylov/steps/bicgstab_steps.hpp"
#include "solver/krylov/monitor/convergence_monitor.hpp"
#include "solver/krylov/steps/iteration_graph.hpp"
#include "solver/krylov/resident/resident_bicgstab.hpp"

namespace newel {

using namespace detail;

namespace {

constexpr int most_restarts = 5;

// Keeps a copy of the best iterate seen, at most every 16 iterations.
template <class T, Space S>
class BestIterate {
 public:
  BestIterate(const Context<S>& ctx, Span<T, S> x, Span<T, S> kept) : ctx_(ctx), x_(x), kept_(kept) {}

  // The guess is the first; one of zeros is not copied.
  void begin(double residual, bool zero) {
    from_zero_ = zero;
    if (!zero) return keep(0, residual);
    what_ = {residual, 0};
  }
  void offer(int iteration, double residual) {
    if (iteration < what_.iteration + iterations_between_keeping || !(residual < what_.residual)) return;
    keep(iteration, residual);
  }
  // x = the kept iterate
  void restore() const {
    if (from_zero_ && what_.iteration == 0) return fill<T, S>(ctx_, T(0), x_);
    copy<T>(ctx_, Span<const T, S>(kept_), x_);
  }
  KeptIterate& what() { return what_; }
  void follow(Span<T, S> x) { x_ = x; }

 private:
  void keep(int iteration, double residual) {
    copy<T>(ctx_, Span<const T, S>(x_), kept_);
    what_ = {residual, iteration};
  }

  const Context<S>& ctx_;
  Span<T, S> x_, kept_;
  KeptIterate what_;
  bool from_zero_ = false;
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
      may_be_resident_(resident),
      graph_(std::make_unique<IterationGraph<S>>()) {}
template <class T, Space S>
Bicgstab<T, S>::Bicgstab(Bicgstab&&) noexcept = default;
template <class T, Space S>
Bicgstab<T, S>& Bicgstab<T, S>::operator=(Bicgstab&&) noexcept = default;
template <class T, Space S>
Bicgstab<T, S>::~Bicgstab() = default;

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

/// One call of `solve`: recurrences, each of which begins with r0 = r = b - A x, until one gives the outcome.
template <class T, Space S>
class Bicgstab<T, S>::Run {
 public:
  Run(Bicgstab& solver, const SolveRequest<T, S>& system)
      : own_(solver),
        system_(system),
        convergence_(own_.name(), own_.r_.size(), system, &own_.state_.data()->scratch, own_.last_iterations_),
        best_(system.ctx, system.x, own_.best_x_) {}

  SolveReport all() {
    bool more = open();
    while (more) {
      if (opened_) offer_x();
      const Ended ended = on_chip_ ? iterate_on_chip() : iterate();
      opened_ = true;
      if (ended == Ended::reported) break;
      if (ended == Ended::event) more = broken_down() ? restart() : judge();
      if (ended == Ended::exchanged) more = renew_residual();
    }
    if (convergence_.iterations() > 0 && convergence_.report().status != Status::converged) return_best();
    own_.last_iterations_ = convergence_.iterations_with_present();
    return convergence_.close(own_.r_, own_.t_);
  }

 private:
  /// How a recurrence ended.
  enum class Ended {
    reported,   ///< with the outcome
    event,      ///< or the solve was interrupted
    exchanged,  ///< other operators have come, with which another one begins
    in_loop,    ///< not yet: the loop has to begin one, from r = b - A x
  };

  static Span<const T, S> in(Span<T, S> vector) { return vector; }
  void offer_x() { best_.offer(convergence_.iterations(), convergence_.report().recurrence_residual); }

  bool fits_on_chip() {
    own_.prepare(system_->ctx, system_->A, system_->M);
    if constexpr (S == Space::device) return own_.resident_ != nullptr && own_.resident_->fits();
    return false;
  }

  // r = b - A x, unless the chip is to form it. False where nothing is left to do.
  bool open() {
    on_chip_ = fits_on_chip();
    opened_ = !on_chip_;
    if (on_chip_) return true;
    if (!convergence_.open(own_.r_.span())) return false;
    best_.begin(convergence_.residual(), system_->guess == InitialGuess::zero);
    return true;
  }

  // The recurrence goes on with other operators if one kernel can have these too, and M is the same.
  Ended iterate_on_chip() {
    if constexpr (S == Space::device) {
      ResidentBegin begin = opened_ ? ResidentBegin::residual : ResidentBegin::guess;
      double r0_norm = 0;
      for (;;) {
        switch (own_.resident_->run(*system_, convergence_, {own_.r_, own_.p_, own_.r0_, own_.best_x_}, best_.what(),
                                    begin, r0_norm)) {
          case ResidentEnd::reported:
            return Ended::reported;
          case ResidentEnd::event:
            return Ended::event;
          case ResidentEnd::continue_in_loop:
            on_chip_ = false;
            return Ended::in_loop;
          case ResidentEnd::exchange:
            begin = ResidentBegin::onward;
            if (!exchange() || !on_chip_) return Ended::exchanged;
        }
      }
    }
    return Ended::event;
  }

  // The steps of a recurrence.
  Ended iterate() {
    const Context<S>& ctx = system_->ctx;
    const BicgstabState start = fresh_state<T>(convergence_.fresh_monitor(), convergence_.residual());
    copy<BicgstabState>(ctx, Span<const BicgstabState, Space::host>(&start, 1), own_.state_.span());
    copy<T>(ctx, in(own_.r_), own_.r0_.span());  // r0 = r
    for (;;) {
      if (!step_) bind();
      bool running = true, due = false;
      while (running && !due) {
        offer_x();
        own_.graph_->repeat(convergence_.until_poll(), step_);
        running = convergence_.poll(&own_.state_.data()->monitor);
        due = running && convergence_.exchange_due();
      }
      if (!due) return Ended::event;
      if (!exchange() || on_chip_) return Ended::exchanged;  // one kernel has a recurrence of its own
    }
  }

  void bind() {
    step_ = own_.iteration(system_->ctx, system_->A, system_->M, system_->x);
    own_.graph_->bind(system_->ctx, system_->A, system_->M, system_->x);
  }

  // Whether M is the same, so that the recurrence may go on.
  bool exchange() {
    bool same_preconditioner = true;
    const auto changed =
        convergence_.exchange({own_.r_, own_.r0_, own_.p_, own_.v_, own_.best_x_}, &same_preconditioner);
    if (!changed) return true;
    system_.emplace(*changed);
    best_.follow(system_->x);
    step_ = nullptr;
    on_chip_ = fits_on_chip();
    return same_preconditioner;
  }

  bool broken_down() {
    return is_breakdown(convergence_.event()) && convergence_.report().restarts < most_restarts &&
           !convergence_.interrupted();
  }

  bool restart() {
    ++convergence_.report().restarts;
    return renew_residual();
  }

  // r = b - A x. False where x meets the tolerance or is not finite.
  bool renew_residual() {
    const bool met = convergence_.form_residual(own_.r_);
    const bool finite = std::isfinite(convergence_.residual());
    if (met && finite) convergence_.conclude(Status::converged);
    if (met || !finite) convergence_.conclude(Event::not_finite);
    return !met && finite;
  }

  // True where the recurrence met the tolerance and b - A x does not.
  bool judge() {
    const Event event = convergence_.event();
    if (is_breakdown(event) && convergence_.interrupted()) convergence_.conclude(Event::none);
    convergence_.conclude(event);
    return event == Event::tolerance_met && !convergence_.confirm(own_.r_);
  }

  // x = the best iterate. The kept one was judged by the recurrence, which may have drifted: the true residuals
  // decide.
  void return_best() {
    const Context<S>& ctx = system_->ctx;
    const Span<T, S> x = system_->x;
    if (convergence_.form_residual(own_.r_) || convergence_.residual() <= best_.what().residual) return;
    const double last = convergence_.residual();
    copy<T>(ctx, in(x), own_.t_.span());
    best_.restore();
    if (convergence_.form_residual(own_.r_) || !(convergence_.residual() > last)) return;
    copy<T>(ctx, own_.t_.cspan(), x);
    convergence_.form_residual(own_.r_);
  }

  Bicgstab& own_;
  std::optional<SolveRequest<T, S>> system_;  // changed by an exchange
  ConvergenceMonitor<T, S> convergence_;
  BestIterate<T, S> best_;
  bool on_chip_ = false;  // one kernel iterates
  bool opened_ = false;   // |b| and |b - A x0| are known
  std::function<void()> step_;
};

template <class T, Space S>
SolveReport Bicgstab<T, S>::run(const SolveRequest<T, S>& request) {
  return Run(*this, request).all();
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
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel
