// SPDX-License-Identifier: Apache-2.0
/// Restarted GMRES for a group of a batch: Saad, algorithm 9.5, with modified Gram-Schmidt. A round is a cycle.
/// Internal.
#pragma once

#include "solver/batched/batched_rounds.hpp"

namespace newel::detail {

/// Where the small numbers of a cycle of m iterations are: R by columns, the rotations, and the right-hand side g of
/// the triangular system, which becomes its solution.
struct BatchedSmall {
  int m;
  NEWEL_HD int r(int i, int j) const { return j * (j + 1) / 2 + i; }  ///< i <= j
  NEWEL_HD int cosine(int j) const { return m * (m + 1) / 2 + j; }
  NEWEL_HD int sine(int j) const { return cosine(m) + j; }
  NEWEL_HD int g(int j) const { return sine(m) + j; }
  NEWEL_HD int below(int which) const { return g(m + 1) + which; }  ///< 0: h_{j+1,j}, 1: |A M v_j|
  NEWEL_HD int count() const { return below(2); }
};

struct BatchedGmres {
  static constexpr int own_vectors = 3;  ///< x, r, t; M v is the published one
  static constexpr bool holds_entries = false;
  static constexpr bool has_basis = true;
  /// Of a thread with so many rows on a device, at most.
  static constexpr int registers(int rows) { return rows > 4 ? 168 : 80; }

  template <class Team>
  class Recurrence {
    using T = typename Team::Value;
    using At = typename Team::At;
    static constexpr int lanes = Team::lanes;

   public:
    NEWEL_HD explicit Recurrence(Team& team)
        : z_(team.published()), t_(team.own()), at_{team.problem().limits.restart} {}

    NEWEL_HD void run(Team& team, typename Team::Own& x, typename Team::Own& r, BatchedStates<lanes>& state) {
      PerLane<T, lanes> on, scale;
      PerLane<int, lanes> columns;
      mark_running(state, on);
      for (int l = 0; l < lanes; ++l) scale[l] = on[l] != 0 ? static_cast<T>(1 / state[l].residual) : T(0);
      team.each([&](At i) { team.basis(0, i) = on[i.lane] != 0 ? r[i] * scale[i.lane] : T(0); });
      team.alone([&] {
        for (int l = 0; l < lanes; ++l) team.small(at_.g(0), l) = state[l].residual;
      });
      for (int j = 0; j < at_.m && mark_running(state, on); ++j) {
        extend(team, j);
        team.alone([&] {
          for (int l = 0; l < lanes; ++l) rotate(team, j, l);
        });
        for (int l = 0; l < lanes; ++l) {
          if (state[l].running()) finish(team, j, l, state[l], columns[l]);
          const double below = team.small(at_.below(0), l);
          scale[l] = below > 0 ? static_cast<T>(1 / below) : T(0);
        }
        mark_running(state, on);
        if (j + 1 == at_.m) break;
        team.each([&](At i) { team.basis(j + 1, i) = on[i.lane] != 0 ? t_[i] * scale[i.lane] : T(0); });
      }
      for (int l = 0; l < lanes; ++l) {
        if (state[l].running()) state[l].event = Event::recurrence_spent;
      }
      correct(team, x, state, columns);
    }

   private:
    // t = A M v_j, orthogonal to v_0 .. v_j; the column of H above the diagonal is where R's will be.
    NEWEL_HD void extend(Team& team, int j) {
      team.each([&](At i) { t_[i] = team.basis(j, i); });
      team.template precond_sums<0>(t_, [&](At i, T z, double*) { z_[i] = z; });
      team.publish(z_);
      const auto product = team.template product_sums<2>(z_, [&](At i, T t, double* mine) {
        t_[i] = t;
        mine[0] = static_cast<double>(t) * static_cast<double>(t);
        mine[1] = static_cast<double>(t) * static_cast<double>(team.basis(0, i));
      });
      LaneSums<1, lanes> h;
      for (int l = 0; l < lanes; ++l) h.v[0][l] = product(1, l);
      for (int k = 0; k <= j; ++k) {
        if (team.leads()) {
          for (int l = 0; l < lanes; ++l) team.small(at_.r(k, j), l) = h(0, l);
        }
        PerLane<T, lanes> factor;
        for (int l = 0; l < lanes; ++l) factor[l] = static_cast<T>(h(0, l));
        h = team.template sums<1>([&](At i, double* mine) {
          t_[i] = t_[i] - factor[i.lane] * team.basis(k, i);
          mine[0] = static_cast<double>(t_[i]) * static_cast<double>(k < j ? team.basis(k + 1, i) : t_[i]);
        });
      }
      if (team.leads()) {
        for (int l = 0; l < lanes; ++l) {
          team.small(at_.below(0), l) = sqrt(h(0, l));
          team.small(at_.below(1), l) = sqrt(product(0, l));
        }
      }
    }

    // Givens rotations of column j; the next of them, and g.
    NEWEL_HD void rotate(Team& team, int j, int l) {
      for (int k = 0; k < j; ++k) {
        double &upper = team.small(at_.r(k, j), l), &lower = team.small(at_.r(k + 1, j), l);
        const double c = team.small(at_.cosine(k), l), s = team.small(at_.sine(k), l), h = upper;
        upper = c * h + s * lower;
        lower = c * lower - s * h;
      }
      double& diagonal = team.small(at_.r(j, j), l);
      const double below = team.small(at_.below(0), l), length = sqrt(diagonal * diagonal + below * below);
      const double c = length > 0 ? diagonal / length : 1, s = length > 0 ? below / length : 0;
      const double g = team.small(at_.g(j), l);
      team.small(at_.cosine(j), l) = c;
      team.small(at_.sine(j), l) = s;
      diagonal = length;
      team.small(at_.g(j), l) = c * g;
      team.small(at_.g(j + 1), l) = -s * g;
    }

    NEWEL_HD void finish(Team& team, int j, int l, BatchedState& state, int& columns) {
      constexpr double epsilon = batched_epsilon<T>;
      const double diagonal = team.small(at_.r(j, j), l), size = team.small(at_.below(1), l);
      const double residual = team.small(at_.g(j + 1), l);
      state.finish_iteration(team.problem().limits, residual * residual);
      columns = j;
      if (!(diagonal - diagonal == 0)) {
        state.event = Event::not_finite;
      } else if (diagonal <= epsilon * size) {
        state.event = Event::krylov_space_exhausted;
      } else {
        columns = j + 1;
        const bool exhausted = team.small(at_.below(0), l) <= epsilon * size;
        if (state.running() && exhausted) state.event = Event::krylov_space_exhausted;
      }
    }

    // x += M V y with R y = g
    NEWEL_HD void correct(Team& team, typename Team::Own& x, const BatchedStates<lanes>& state,
                          const PerLane<int, lanes>& columns) {
      int most = 0;
      PerLane<T, lanes> on;
      for (int l = 0; l < lanes; ++l) {
        on[l] = !state[l].ended && columns[l] > 0 ? T(1) : T(0);
        most = columns[l] > most && on[l] != 0 ? columns[l] : most;
      }
      if (most == 0) return;
      team.wait();  // all threads have read g
      team.alone([&] {
        for (int l = 0; l < lanes; ++l) solve_triangle(team, l, columns[l], most);
      });
      team.each([&](At i) { t_[i] = T(0); });
      for (int j = 0; j < most; ++j) {
        PerLane<T, lanes> y;
        for (int l = 0; l < lanes; ++l) y[l] = static_cast<T>(team.small(at_.g(j), l));
        team.each([&](At i) { t_[i] = t_[i] + y[i.lane] * team.basis(j, i); });
      }
      team.template precond_sums<0>(t_, [&](At i, T z, double*) { x[i] = on[i.lane] != 0 ? x[i] + z : x[i]; });
    }

    NEWEL_HD void solve_triangle(Team& team, int l, int columns, int most) {
      for (int j = columns - 1; j >= 0; --j) {
        double& y = team.small(at_.g(j), l);
        y /= team.small(at_.r(j, j), l);
        for (int k = 0; k < j; ++k) team.small(at_.g(k), l) -= team.small(at_.r(k, j), l) * y;
      }
      for (int j = columns; j < most; ++j) team.small(at_.g(j), l) = 0;
    }

    typename Team::Own z_, t_;
    BatchedSmall at_;
  };
};

}  // namespace newel::detail
