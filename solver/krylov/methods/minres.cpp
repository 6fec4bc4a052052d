// SPDX-License-Identifier: Apache-2.0
// The preconditioned MINRES method: Elman, Silvester and Wathen, Finite Elements and Fast Iterative Solvers, second
// edition, algorithm 4.1 (2.4 without a preconditioner).
#include <newel/solver/minres.hpp>

#include <limits>

#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"
#include "solver/krylov/methods/recurrence.hpp"
#include "solver/krylov/monitor/symmetry.hpp"
#include "solver/krylov/steps/iteration_graph.hpp"
#include "solver/krylov/steps/least_gain.hpp"
#include "solver/krylov/steps/minres_steps.hpp"

namespace newel {
namespace detail {
namespace {

template <class T>
MinresState fresh_state(const MonitorState& monitor, double residual, bool preconditioned) {
  MinresState state{};
  state.monitor = monitor;
  state.vv = residual * residual;
  state.gamma_old = 1;  // v_0 = 0
  state.cosine = state.cosine_old = 1;
  state.epsilon = std::numeric_limits<T>::epsilon();
  state.preconditioned = preconditioned;
  return state;
}

}  // namespace

/// MINRES as the driver moves it.
template <class T, Space S>
class MinresRecurrence final : public Recurrence<T, S> {
 public:
  MinresRecurrence(const Context<S>& ctx, Index n)
      : r_(ctx, n),
        v_(ctx, n),
        v_old_(ctx, n),
        u_(ctx, n),
        z_(ctx, n),
        q_(ctx, n),
        w_(ctx, n),
        w_old_(ctx, n),
        best_x_(ctx, n),
        state_(ctx, 1) {}

  // v = r = b - A x, z = M v, gamma = sqrt(v.z), u = z / gamma; the vectors before them are 0.
  void begin(MonitorState monitor, double residual) override {
    const auto& [ctx, A, M, b, x, stop, progress, guess, exchange, give_up] = *system_;
    before_ = residual;
    MinresState start = fresh_state<T>(monitor, residual, M != nullptr);
    start.lanczos_norm = lanczos_norm_;
    start.matrix_norm = matrix_norm_;
    copy<MinresState>(ctx, Span<const MinresState, Space::host>(&start, 1), state_.span());
    copy<T>(ctx, r_.cspan(), v_.span());
    fill<T, S>(ctx, T(0), v_old_);
    fill<T, S>(ctx, T(0), w_);
    fill<T, S>(ctx, T(0), w_old_);
    MinresState* const s = state_.data();
    const Span<T, S> z = M != nullptr ? z_.span() : v_.span();
    if (M != nullptr) M->apply_dot(ctx, v_.cspan(), z, &s->vz);
    sweep(ctx, v_.size(), MinresStart<T>{s, z.data, x.data, u_.data()});
  }

  // One step moves, in addition to the matrix: the product with its dot 2 vectors, the Lanczos vector 5, the update
  // 11; a preconditioner that is diagonal 2 more. Any other adds its own pass, z = M v, and one for z.
  template <bool diagonal>
  void step() {
    const auto& [ctx, A, M, b, x, stop, progress, guess, exchange, give_up] = *system_;
    const std::int64_t n = r_.size();
    MinresState* const s = state_.data();
    T *const v = v_.data(), *const v_old = v_old_.data(), *const u = u_.data(), *const q = q_.data();
    T *const w = w_.data(), *const w_old = w_old_.data(), *const r = r_.data();
    const bool forms_z = M != nullptr && !diagonal;
    const T* const z = forms_z ? z_.data() : v;
    A.apply_dot(ctx, u_.cspan(), q_, &s->delta);                    // q = A u, delta = u.q
    sweep(ctx, n, MinresLanczos<T, diagonal>{s, D_, q, v, v_old});  // v = q - delta/gamma v - gamma/gamma_old v_old
    if (forms_z) M->apply_dot(ctx, v_.cspan(), z_, &s->vz);         // z = M v, gamma = sqrt(v.z)
    // w = (u - alpha3 w_old - alpha2 w) / alpha1, x += c eta w, r = s^2 r + c eta / gamma v, u = z / gamma
    sweep(ctx, n, MinresUpdate<T, diagonal>{s, D_, v, z, u, w, w_old, x.data, r});
  }

  bool advance(int count) override {
    if (D_ != nullptr) {
      graph_.repeat(count, [this] { step<true>(); });
    } else {
      graph_.repeat(count, [this] { step<false>(); });
    }
    return true;
  }
  // x has every step in full. Norms are those of the solve: where a recurrence begins in the null space, its own say
  // nothing.
  void complete(ConvergenceMonitor<T, S>&, bool) override {
    lanczos_norm_ = fetch(system_->ctx, static_cast<const double*>(&state_.data()->lanczos_norm));
    matrix_norm_ = fetch(system_->ctx, static_cast<const double*>(&state_.data()->matrix_norm));
  }

  // Where rounding has taken r away from b - A x, another recurrence begins as long as that gains something.
  Verdict judge(Event event) override {
    const SolveRequest<T, S>& system = *system_;
    if (event == Event::tolerance_met) return Verdict::confirm;
    if (event == Event::recurrence_spent) return Verdict::cycle_end;
    if (event == Event::precond_not_positive) {
      const bool is_true =
          is_precond_not_positive_along<T, S>(system.ctx, *system.M, v_, q_, &state_.data()->scratch);
      return is_true ? Verdict::outcome : Verdict::confirm;
    }
    return Verdict::outcome;
  }
  bool stagnates(const ConvergenceMonitor<T, S>& convergence) override {
    return !(convergence.residual.norm() < (1 - least_gain) * before_);
  }

  RecurrenceParts<T, S> parts() override {
    MinresState* const state = state_.data();
    return {"minres",
            r_,
            q_,
            best_x_,
            {r_, v_, v_old_, u_, w_, w_old_, best_x_},
            &state->monitor,
            &state->scratch,
            Keeps::iterates,
            false};
  }
  void bind(const SolveRequest<T, S>& system) override {
    system_ = &system;
    lanczos_norm_ = 0;  // which depends on M
    D_ = system.M != nullptr ? system.M->traits().diagonal.data : nullptr;
    graph_.bind(system.ctx, system.A, system.M, system.x);
  }
  // With M, |r| may grow while |r| in the norm of M falls.
  void watch(ConvergenceMonitor<T, S>& convergence) override {
    matrix_norm_ = 0;
    convergence.growth.watch(first_growth, most_growth<T>,
                             [this] { return symmetry_fault(system_->ctx, system_->A, system_->M); });
  }

 private:
  Array<T, S> r_, v_, v_old_, u_, z_, q_, w_, w_old_, best_x_;
  Array<MinresState, S> state_;
  const SolveRequest<T, S>* system_ = nullptr;
  const T* D_ = nullptr;                       // the diagonal of M, or null
  double before_ = 0;                          // |b - A x| where the recurrence began
  double lanczos_norm_ = 0, matrix_norm_ = 0;  // see MinresState, of the recurrences before
  IterationGraph<S> graph_;
};

}  // namespace detail

template <class T, Space S>
Minres<T, S>::Minres(const Context<S>& ctx, Index n)
    : RecurrenceSolver<T, S>(std::make_unique<detail::MinresRecurrence<T, S>>(ctx, n)) {}

#define X(T, S) template class Minres<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel
