// SPDX-License-Identifier: Apache-2.0
/// BiCGStab for a group of a batch: Saad, algorithm 7.7, preconditioned from the right. Internal.
#pragma once

#include "solver/batched/batched_rounds.hpp"
#include "solver/krylov/steps/bicgstab_recurrence.hpp"

namespace newel::detail {

struct BatchedBicgstab {
  static constexpr int own_vectors = 6;  ///< x, r, r0, p, v, t; M p and M s are the published one
  static constexpr bool holds_entries = false;
  static constexpr bool has_basis = false;
  /// Of a thread with so many rows on a device, at most.
  static constexpr int registers(int rows) { return rows > 4 ? 200 : 128; }

  template <class Team>
  class Recurrence {
    using T = typename Team::Value;
    using At = typename Team::At;
    static constexpr int lanes = Team::lanes;

   public:
    NEWEL_HD explicit Recurrence(Team& team)
        : z_(team.published()), r0_(team.own()), p_(team.own()), v_(team.own()), t_(team.own()) {}

    NEWEL_HD void run(Team& team, typename Team::Own& x, typename Team::Own& r, BatchedStates<lanes>& state) {
      PerLane<T, lanes> on;
      team.each([&](At i) { r0_[i] = p_[i] = r[i]; });
      for (int l = 0; l < lanes; ++l) {
        r0_norm_[l] = state[l].residual;
        rho_[l] = state[l].residual * state[l].residual;
      }
      while (mark_running(state, on)) {
        first_half(team, x, r, state, on);
        second_half(team, x, r, state, on);
      }
    }

   private:
    // v = A M p, alpha = rho / r0.v, x += alpha M p, r = s = r - alpha v
    NEWEL_HD void first_half(Team& team, typename Team::Own& x, typename Team::Own& r, BatchedStates<lanes>& state,
                             PerLane<T, lanes>& on) {
      team.template precond_sums<0>(p_, [&](At i, T z, double*) { z_[i] = z; });
      team.publish(z_);
      const auto r0v = team.template product_sums<1>(z_, [&](At i, T v, double* mine) {
        v_[i] = v;
        mine[0] = static_cast<double>(r0_[i]) * static_cast<double>(v);
      });
      for (int l = 0; l < lanes; ++l) {
        const double alpha = bicgstab_alpha(rho_[l], r0v(0, l));
        const bool sound = bicgstab_is_sound(alpha);
        if (state[l].running() && !sound) state[l].event = bicgstab_alpha_event(r0v(0, l));
        alpha_[l] = sound ? alpha : 0.0;
      }
      mark_running(state, on);
      const auto ss = team.template sums<1>([&](At i, double* mine) {
        const T alpha = static_cast<T>(alpha_[i.lane]), next = x[i] + alpha * z_[i];
        x[i] = on[i.lane] != 0 ? next : x[i];
        r[i] = bicgstab_next_r(r[i], alpha, v_[i]);
        mine[0] = static_cast<double>(r[i]) * static_cast<double>(r[i]);
      });
      for (int l = 0; l < lanes; ++l) s_norm_[l] = sqrt(ss(0, l));
    }

    // t = A M s, omega = t.s / t.t, x += omega M s, r = s - omega t, p = r + beta (p - omega v)
    NEWEL_HD void second_half(Team& team, typename Team::Own& x, typename Team::Own& r, BatchedStates<lanes>& state,
                              PerLane<T, lanes>& on) {
      team.template precond_sums<0>(r, [&](At i, T z, double*) { z_[i] = z; });
      team.publish(z_);
      const auto t = team.template product_sums<2>(z_, [&](At i, T t_i, double* mine) {
        t_[i] = t_i;
        mine[0] = static_cast<double>(t_i) * static_cast<double>(r[i]);
        mine[1] = static_cast<double>(t_i) * static_cast<double>(t_i);
      });
      PerLane<double, lanes> omega;
      for (int l = 0; l < lanes; ++l) {
        omega[l] = bicgstab_omega(t(0, l), t(1, l));
        const bool finite = omega[l] - omega[l] == 0;
        if (state[l].running() && !finite) state[l].event = Event::not_finite;
        if (!finite) omega[l] = 0;
      }
      mark_running(state, on);
      const auto rr = team.template sums<2>([&](At i, double* mine) {
        const T factor = static_cast<T>(omega[i.lane]), next = x[i] + factor * z_[i];
        x[i] = on[i.lane] != 0 ? next : x[i];
        r[i] = bicgstab_next_r(r[i], factor, t_[i]);
        mine[0] = static_cast<double>(r[i]) * static_cast<double>(r[i]);
        mine[1] = static_cast<double>(r0_[i]) * static_cast<double>(r[i]);
      });
      constexpr double epsilon = batched_epsilon<T>;
      PerLane<T, lanes> beta, w;
      for (int l = 0; l < lanes; ++l) {
        const double step = t(1, l) > 0 ? fabs(t(0, l)) / sqrt(t(1, l)) : 0.0, rho = rr(1, l);
        if (state[l].running()) {
          state[l].finish_iteration(team.problem().limits, rr(0, l));
          if (state[l].running())
            state[l].event = bicgstab_breakdown(epsilon, step, s_norm_[l], rho, r0_norm_[l], state[l].residual);
        }
        beta[l] = static_cast<T>(bicgstab_beta(rho, rho_[l], alpha_[l], omega[l]));
        w[l] = static_cast<T>(omega[l]);
        rho_[l] = rho;
      }
      team.each([&](At i) { p_[i] = bicgstab_next_p(r[i], beta[i.lane], p_[i], w[i.lane], v_[i]); });
    }

    typename Team::Own z_, r0_, p_, v_, t_;
    PerLane<double, lanes> r0_norm_, rho_, alpha_, s_norm_;
  };
};

}  // namespace newel::detail
