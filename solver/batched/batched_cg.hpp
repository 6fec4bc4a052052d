// SPDX-License-Identifier: Apache-2.0
/// CG for a group of a batch: Saad, algorithm 9.1. Internal.
#pragma once

#include "solver/batched/batched_rounds.hpp"
#include "solver/krylov/steps/cg_recurrence.hpp"

namespace newel::detail {

struct BatchedCg {
  static constexpr int own_vectors = 3;  ///< x, r, and q, which becomes z; p is the published one
  static constexpr bool holds_entries = true;
  static constexpr bool has_basis = false;
  /// Of a thread with so many rows on a device, at most.
  static constexpr int registers(int rows) { return rows > 4 ? 255 : 128; }

  template <class Team>
  class Recurrence {
    using T = typename Team::Value;
    using At = typename Team::At;
    static constexpr int lanes = Team::lanes;

   public:
    NEWEL_HD explicit Recurrence(Team& team) : p_(team.published()), q_(team.own()) {}

    // Reads the matrix and p for each entry; on the host also four times p, and the diagonal, for each row.
    NEWEL_HD void run(Team& team, typename Team::Own& x, typename Team::Own& r, BatchedStates<lanes>& state) {
      PerLane<T, lanes> on, alpha, beta;
      PerLane<double, lanes> rho;
      const auto first = team.template precond_sums<1>(r, [&](At i, T z, double* mine) {
        p_[i] = z;  // p = M r
        mine[0] = static_cast<double>(r[i]) * static_cast<double>(z);
      });
      for (int l = 0; l < lanes; ++l) rho[l] = first(0, l);
      while (mark_running(state, on)) {
        team.publish(p_);
        const auto pq = team.template product_sums<1>(p_, [&](At i, T q, double* mine) {
          q_[i] = q;  // q = A p
          mine[0] = static_cast<double>(p_[i]) * static_cast<double>(q);
        });
        for (int l = 0; l < lanes; ++l) {
          const bool sound = cg_is_sound(rho[l], pq(0, l));
          if (state[l].running() && !sound) state[l].event = cg_breakdown(rho[l], pq(0, l));
          alpha[l] = sound ? static_cast<T>(cg_alpha(rho[l], pq(0, l))) : T(0);
        }
        if (!mark_running(state, on)) break;
        update(team, x, r, on, alpha);
        for (int l = 0; l < lanes; ++l) {
          if (!state[l].running()) continue;
          state[l].finish_iteration(team.problem().limits, rr_[l]);
          beta[l] = static_cast<T>(cg_beta(rz_[l], rho[l]));
          rho[l] = rz_[l];
        }
        team.each([&](At i) { p_[i] = q_[i] + beta[i.lane] * p_[i]; });  // p = z + beta p
      }
    }

   private:
    // x += alpha p, r -= alpha q, z = M r; r.r and r.z
    NEWEL_HD void update(Team& team, typename Team::Own& x, typename Team::Own& r, const PerLane<T, lanes>& on,
                         const PerLane<T, lanes>& alpha) {
      const auto step = [&](At i) {
        const T next = x[i] + alpha[i.lane] * p_[i];
        x[i] = on[i.lane] != 0 ? next : x[i];
        r[i] = r[i] - alpha[i.lane] * q_[i];
        return static_cast<double>(r[i]);
      };
      if (team.is_local()) {
        const auto sums = team.template sums<2>([&](At i, double* mine) {
          const double r_i = step(i);
          q_[i] = team.scaled(i, r[i]);
          mine[0] = r_i * r_i;
          mine[1] = r_i * static_cast<double>(q_[i]);
        });
        for (int l = 0; l < lanes; ++l) rr_[l] = sums(0, l), rz_[l] = sums(1, l);
        return;
      }
      const auto rr = team.template sums<1>([&](At i, double* mine) {
        const double r_i = step(i);
        mine[0] = r_i * r_i;
      });
      const auto rz = team.template precond_sums<1>(r, [&](At i, T z, double* mine) {
        q_[i] = z;
        mine[0] = static_cast<double>(r[i]) * static_cast<double>(z);
      });
      for (int l = 0; l < lanes; ++l) rr_[l] = rr(0, l), rz_[l] = rz(0, l);
    }

    typename Team::Own p_, q_;  // q: A p, then M r
    PerLane<double, lanes> rr_, rz_;
  };
};

}  // namespace newel::detail
