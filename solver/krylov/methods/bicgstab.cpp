// SPDX-License-Identifier: Apache-2.0
// The BiCGStab method, preconditioned from the right: Saad, Iterative Methods for Sparse Linear Systems,
// algorithm 7.7.
#include <newel/solver/bicgstab.hpp>

#include <limits>

#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"
#include "solver/krylov/methods/recurrence.hpp"
#include "solver/krylov/resident/resident_bicgstab.hpp"
#include "solver/krylov/steps/bicgstab_steps.hpp"
#include "solver/krylov/steps/iteration_graph.hpp"

namespace newel {
namespace detail {
namespace {

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

}  // namespace

/// BiCGStab as the driver moves it.
template <class T, Space S>
class BicgstabRecurrence final : public Recurrence<T, S> {
 public:
  BicgstabRecurrence(const Context<S>& ctx, Index n, bool resident)
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

  // r0 = r = b - A x; p = r comes with the first step.
  void begin(MonitorState monitor, double residual) override {
    const BicgstabState start = fresh_state<T>(monitor, residual);
    copy<BicgstabState>(system_->ctx, Span<const BicgstabState, Space::host>(&start, 1), state_.span());
    copy<T>(system_->ctx, r_.cspan(), r0_.span());  // r0 = r
  }

  // One iteration moves, in addition to two products with A and two with M: the direction 4 vectors, r0.v 2, the half
  // step 3, the two dots 2, the update 9.
  void step() {
    const auto& [ctx, A, M, b, x, stop, progress, guess, exchange, give_up] = *system_;
    const std::int64_t n = r_.size();
    BicgstabState* const s = state_.data();
    const Span<T, S> r = r_, p = p_, v = v_, t = t_;
    const Span<T, S> ph = M != nullptr ? ph_.span() : p, sh = M != nullptr ? sh_.span() : r;
    sweep(ctx, n, BicgstabDirection<T>{s, r.data, v.data, p.data});  // p = r + beta (p - omega v)
    if (M != nullptr) M->apply(ctx, T(1), p, T(0), ph);              // p^ = M p
    A.apply(ctx, T(1), ph, T(0), v);                                 // v = A p^
    dot<T, S>(ctx, r0_.cspan(), v, &s->r0v);                         // alpha = rho / r0.v
    sweep(ctx, n, BicgstabHalfStep<T>{s, v.data, r.data});           // s = r - alpha v
    if (M != nullptr) M->apply(ctx, T(1), r, T(0), sh);              // s^ = M s
    A.apply(ctx, T(1), sh, T(0), t);                                 // t = A s^
    sweep(ctx, n, BicgstabDots<T>{s, t.data, r.data});               // omega = t.s / t.t
    // x += alpha p^ + omega s^, r = s - omega t, rho = r0.r
    sweep(ctx, n, BicgstabUpdate<T>{s, ph.data, sh.data, t.data, r0_.data(), x.data, r.data});
  }

  bool advance(int count) override {
    graph_.repeat(count, [this] { step(); });
    return true;
  }
  void complete(ConvergenceMonitor<T, S>&, bool) override {}  // x has every step in full

  Verdict judge(Event event) override {
    if (event == Event::tolerance_met) return Verdict::confirm;
    const bool broken_down = event == Event::rho_vanished || event == Event::omega_vanished;
    return broken_down ? Verdict::breakdown : Verdict::outcome;
  }

  RecurrenceParts<T, S> parts() override {
    BicgstabState* const state = state_.data();
    return {"bicgstab",      r_,   t_, best_x_, {r_, r0_, p_, v_, best_x_}, &state->monitor, &state->scratch,
            Keeps::iterates, false};
  }
  void bind(const SolveRequest<T, S>& system) override {
    system_ = &system;
    graph_.bind(system.ctx, system.A, system.M, system.x);
  }

  void prepare(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M) {
    if constexpr (S == Space::device) {
      if (!may_be_resident_ || (resident_ != nullptr && resident_->serves(ctx, A, M))) return;
      ctx.make_current();
      resident_ = std::make_shared<ResidentBicgstab<T>>(ctx, A, M);
    }
  }
  bool fits_on_chip() override {
    prepare(system_->ctx, system_->A, system_->M);
    if constexpr (S == Space::device) return resident_ != nullptr && resident_->fits();
    return false;
  }
  ResidentEnd run_on_chip([[maybe_unused]] ConvergenceMonitor<T, S>& convergence, [[maybe_unused]] KeptIterate& best,
                          [[maybe_unused]] ResidentBegin begin) override {
    if constexpr (S == Space::device) {
      return resident_->run(*system_, convergence, {r_, p_, r0_, best_x_}, best, begin, r0_norm_);
    }
    return ResidentEnd::declined;
  }

 private:
  Array<T, S> r_, r0_, p_, v_, t_, ph_, sh_, best_x_;
  Array<BicgstabState, S> state_;
  bool may_be_resident_;
  std::shared_ptr<ResidentBicgstab<T>> resident_;  // on a device
  double r0_norm_ = 0;                             // of the recurrence that is there
  const SolveRequest<T, S>* system_ = nullptr;
  IterationGraph<S> graph_;
};

}  // namespace detail

template <class T, Space S>
Bicgstab<T, S>::Bicgstab(const Context<S>& ctx, Index n, bool resident)
    : RecurrenceSolver<T, S>(std::make_unique<detail::BicgstabRecurrence<T, S>>(ctx, n, resident)) {}

template <class T, Space S>
void Bicgstab<T, S>::prepare(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M) {
  this->template recurrence<detail::BicgstabRecurrence<T, S>>().prepare(ctx, A, M);
}

#define X(T, S) template class Bicgstab<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel
