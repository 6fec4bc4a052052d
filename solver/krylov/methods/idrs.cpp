// SPDX-License-Identifier: Apache-2.0
// IDR(s) with biorthogonal directions, preconditioned from the right: van Gijzen and Sonneveld, Algorithm 913, figure
// 2; the columns of M and alpha come from one product with all shadow vectors, as in Collignon and van Gijzen (2011).
#include <newel/solver/idrs.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

#include <newel/core/error.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"
#include "core/vectors/over_ranks.hpp"
#include "core/vectors/random.hpp"
#include "solver/krylov/methods/recurrence.hpp"
#include "solver/krylov/steps/basis.hpp"
#include "solver/krylov/steps/idrs_steps.hpp"
#include "solver/krylov/steps/iteration_graph.hpp"

namespace newel {
namespace detail {
namespace {

constexpr std::uint64_t first_seed = 2;
constexpr double mean_square = 7.0 / 3;  // of a number whose length is evenly spread over [1, 2)

int shadow_vectors(std::int64_t n, int s) {
  if (s < 1 || s > IdrsState::most) throw InputError("IDR(s) has 1 to 8 shadow vectors, not " + std::to_string(s));
  return static_cast<int>(std::clamp<std::int64_t>(n, 1, s));
}

template <class T>
IdrsState fresh_state(const MonitorState& monitor, int s, std::int64_t rows) {
  IdrsState state{};
  state.monitor = monitor;
  for (int i = 0; i < s; ++i) state.at(i, i) = 1;  // M = I
  state.omega = 1;
  state.shadow_norm = std::sqrt(mean_square * static_cast<double>(rows));
  state.epsilon = std::numeric_limits<T>::epsilon();
  state.s = s;
  return state;
}

// Products go on until the recurrence stops.
PassGate gate_of(const IdrsState* state) { return {&state->monitor, nullptr, nullptr, nullptr}; }

// Steps read columns by fours.
template <class F>
void of_width(int columns, const F& f) {
  if (columns <= 4) return f(std::integral_constant<int, 4>());
  f(std::integral_constant<int, IdrsState::most>());
}

}  // namespace

/// IDR(s) as the driver moves it.
template <class T, Space S>
class IdrsRecurrence final : public Recurrence<T, S> {
 public:
  IdrsRecurrence(const Context<S>& ctx, Index n, int s)
      : n_(n),
        s_(shadow_vectors(all_rows(ctx, n), s)),
        P_(ctx, std::int64_t{s_} * n),
        G_(ctx, std::int64_t{s_} * n),
        U_(ctx, std::int64_t{s_} * n),
        r_(ctx, n),
        v_(ctx, n),
        z_(ctx, n),
        best_x_(ctx, n),
        partial_(ctx, basis_scratch(ctx, n, s_)),
        state_(ctx, 1) {}

  // G = U = 0, M = I, omega = 1, P anew
  void begin(MonitorState monitor, double) override {
    const Context<S>& ctx = system_->ctx;
    const std::int64_t rows = all_rows(ctx, n_);
    const IdrsState start = fresh_state<T>(monitor, s_, rows);
    copy<IdrsState>(ctx, Span<const IdrsState, Space::host>(&start, 1), state_.span());
    fill<T, S>(ctx, T(0), G_);
    fill<T, S>(ctx, T(0), U_);
    for (int i = 0; i < s_; ++i) {
      fill_random<T, S>(ctx, RandomKind::signed_length, first_seed + begun_, i * rows, column(P_, i));
    }
    ++begun_;
    position_ = 0;
  }

  // One step of s moves, in addition to the products, 3 s + 11 vectors, without a preconditioner that is not
  // diagonal.
  void reduce(int k) {
    const Context<S>& ctx = system_->ctx;
    IdrsState* const s = state_.data();
    const Span<T, S> u = column(U_, k), g = column(G_, k);
    if (k == 0) {
      shadow(r_);                    // f = P^T r
      sweep(ctx, 0, IdrsShadow(s));  // M c = f
    }
    direction(k);                                               // u_k = omega M (r - G c) + U c
    system_->A.apply(ctx, T(1), Span<const T, S>(u), T(0), g);  // g_k = A u_k
    shadow(g);                                                  // P^T g_k
    sweep(ctx, 0, IdrsColumn(s, k));  // alpha, M_ik, beta = f_k / M_kk, f = f - beta M_k, M c = f
    // g_k = g_k - G alpha, u_k = u_k - U alpha, r = r - beta g_k, x = x + beta u_k
    of_width(k, [&](auto width) {
      sweep(ctx, n_, IdrsUpdate<T, width.value>{s, k, n_, G_.data(), U_.data(), r_.data(), system_->x.data});
    });
  }

  // The last of s + 1, which enters the next space: 8 vectors.
  void stabilise() {
    const auto& [ctx, A, M, b, x, stop, progress, guess, exchange, give_up, recycling] = *system_;
    IdrsState* const s = state_.data();
    const Span<T, S> r = r_, t = v_, z = M != nullptr ? z_.span() : r;
    if (M != nullptr) M->apply(ctx, T(1), r, T(0), z);                              // z = M r
    A.apply(ctx, T(1), z, T(0), t);                                                 // t = A z
    basis_dot(ctx, gate_of(s), r.data, n_, 1, t.data, s->t_dots, partial_.data());  // t.r, t.t
    sweep(ctx, n_, IdrsStabilise<T>{s, t.data, z.data, x.data, r.data});  // x = x + omega z, r = r - omega t
  }

  bool advance(int count) override {
    while (count > 0) {
      const int now = std::min(count, s_ + 1 - position_);
      graph_.range(position_, now, [this](int k) { k < s_ ? reduce(k) : stabilise(); });
      position_ = (position_ + now) % (s_ + 1);
      count -= now;
    }
    return true;
  }
  void complete(ConvergenceMonitor<T, S>&, bool) override {}  // x has every step in full

  Verdict judge(Event event) override {
    if (event == Event::tolerance_met) return Verdict::confirm;
    const bool broken_down = event == Event::rho_vanished || event == Event::omega_vanished;
    return broken_down ? Verdict::breakdown : Verdict::outcome;
  }

  RecurrenceParts<T, S> parts() override {
    IdrsState* const state = state_.data();
    std::vector<Span<T, S>> carried = {r_, best_x_};
    for (int i = 0; i < s_; ++i) carried.insert(carried.end(), {column(P_, i), column(G_, i), column(U_, i)});
    return {"idrs", r_, v_, best_x_, carried, &state->monitor, &state->scratch, Keeps::iterates, false};
  }
  void bind(const SolveRequest<T, S>& system) override {
    system_ = &system;
    D_ = system.M != nullptr ? system.M->traits().diagonal.data : nullptr;
    graph_.bind(system.ctx, system.A, system.M, system.x);
  }
  void watch(ConvergenceMonitor<T, S>&) override { begun_ = 0; }

 private:
  Span<T, S> column(Array<T, S>& V, int k) { return V.span().subspan(std::int64_t{k} * n_, n_); }
  // P^T w and w.w
  void shadow(Span<T, S> w) {
    basis_dot(system_->ctx, gate_of(state_.data()), P_.data(), n_, s_, w.data, state_.data()->shadow,
              partial_.data());
  }

  template <IdrsPrecond precond>
  void direction_with(int k) {
    of_width(s_ - k, [&](auto width) {
      sweep(system_->ctx, n_,
            IdrsDirection<T, precond, width.value>{state_.data(), k, n_, D_, r_.data(), G_.data(), U_.data(),
                                                   v_.data()});
    });
  }
  void direction(int k) {
    const LinearOperator<T, S>* const M = system_->M;
    if (M == nullptr) return direction_with<IdrsPrecond::none>(k);
    if (D_ != nullptr) return direction_with<IdrsPrecond::diagonal>(k);
    direction_with<IdrsPrecond::other>(k);               // v = r - G c
    M->apply(system_->ctx, T(1), v_.cspan(), T(0), z_);  // z = M v
    of_width(s_ - k, [&](auto width) {                   // u_k = omega z + U c
      sweep(system_->ctx, n_, IdrsCombine<T, width.value>{state_.data(), k, n_, z_.data(), U_.data()});
    });
  }

  Index n_;
  int s_;
  Array<T, S> P_, G_, U_;  // s columns of n
  Array<T, S> r_, v_, z_, best_x_;
  Array<double, S> partial_;
  Array<IdrsState, S> state_;
  const SolveRequest<T, S>* system_ = nullptr;
  const T* D_ = nullptr;     // the diagonal of M, or null
  int position_ = 0;         // of the next step in its cycle of s + 1
  std::uint64_t begun_ = 0;  // recurrences of this solve
  IterationGraph<S> graph_;
};

}  // namespace detail

template <class T, Space S>
Idrs<T, S>::Idrs(const Context<S>& ctx, Index n, int s)
    : RecurrenceSolver<T, S>(std::make_unique<detail::IdrsRecurrence<T, S>>(ctx, n, s)) {}

#define X(T, S) template class Idrs<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel
