// SPDX-License-Identifier: Apache-2.0
/// The solve of one group of systems of a batch, from the guess to the outcome, for any method and any team. Internal.
///
/// A team is the threads of a block on a device, whose group is one system (`BlockTeam`), or one thread of the host,
/// whose group is eight (`LaneTeam`). A lane is a system of the group. A team has vectors of two kinds: `Own`, whose
/// entries only the thread reads that writes them, and one that all threads read, `w`. It offers
///
/// - each(f): f(i) for all entries i of a vector; i.lane is the lane;
/// - sums<K>(f): f(i, mine), which sets K terms; the sums of all i for each lane;
/// - product_sums<K>(f): f(i, (A w)_i, mine), after `publish` has made w visible to all threads;
/// - residual_sums(x, f): f(i, r_i) with r = b - A x in twice the precision, and r.r; overwrites w;
/// - precond_sums<K>(r, f): f(i, (M r)_i, mine); `scaled(i, r_i)` is (M r)_i if `is_local()`;
/// - basis(j, i), small(k, lane), alone(f): vectors of a basis, and small numbers that `alone` writes.
#pragma once

#include <cmath>

#include "solver/batched/batched_state.hpp"

namespace newel::detail {

/// A value for each lane.
template <class V, int lanes>
struct PerLane {
  V v[lanes] = {};
  NEWEL_HD V& operator[](int l) { return v[l]; }
  NEWEL_HD const V& operator[](int l) const { return v[l]; }
};

/// K sums for each lane.
template <int K, int lanes>
struct LaneSums {
  double v[K > 0 ? K : 1][lanes] = {};
  NEWEL_HD double operator()(int k, int lane) const { return v[k][lane]; }
};

template <int lanes>
using BatchedStates = PerLane<BatchedState, lanes>;

/// Sets on[l] to 1 for lanes whose recurrence runs, else to 0; whether there are any.
template <class T, int lanes>
NEWEL_HD bool mark_running(const BatchedStates<lanes>& state, PerLane<T, lanes>& on) {
  bool any = false;
  for (int l = 0; l < lanes; ++l) {
    on[l] = state[l].running() ? T(1) : T(0);
    any = any || state[l].running();
  }
  return any;
}

template <int lanes>
NEWEL_HD bool all_ended(const BatchedStates<lanes>& state) {
  bool all = true;
  for (int l = 0; l < lanes; ++l) all = all && state[l].ended;
  return all;
}

/// Sets x to the guess, or to zero in lanes where zero is better, and r = b - A x.
template <class Team>
NEWEL_HD void begin_lanes(Team& team, typename Team::Own& x, typename Team::Own& r,
                          BatchedStates<Team::lanes>& state) {
  using T = typename Team::Value;
  using At = typename Team::At;
  const BatchedProblem<T>& problem = team.problem();
  bool first[Team::lanes] = {};
  PerLane<T, Team::lanes> keep;  // 1: x has a guess
  for (int l = 0; l < Team::lanes; ++l) {
    if (!team.uses(l)) continue;
    first[l] = team.outcome(l).attempt == 0;
    keep[l] = first[l] && problem.zero_guess ? T(0) : T(1);
  }
  const auto of_b = team.template sums<2>([&](At i, double* mine) {
    const double b = static_cast<double>(team.rhs(i));
    x[i] = keep[i.lane] != 0 ? team.guess(i) : T(0);
    mine[0] = b * b;
    mine[1] = fabs(b);
  });
  for (int l = 0; l < Team::lanes; ++l) {
    if (team.uses(l)) state[l].begin(problem.limits, problem.attempt, team.outcome(l), of_b(0, l), of_b(1, l));
  }
  auto rr = team.residual_sums(x, [&](At i, double r_i) { r[i] = static_cast<T>(r_i); });
  bool worse = false;
  for (int l = 0; l < Team::lanes; ++l) {
    const bool is_worse = keep[l] != 0 && !(rr(0, l) <= of_b(0, l));
    keep[l] = is_worse ? T(0) : T(1);
    worse = worse || is_worse;
  }
  if (worse) {
    team.each([&](At i) { x[i] = keep[i.lane] != 0 ? x[i] : T(0); });
    rr = team.residual_sums(x, [&](At i, double r_i) { r[i] = static_cast<T>(r_i); });
  }
  constexpr double epsilon = batched_epsilon<T>;
  for (int l = 0; l < Team::lanes; ++l) {
    if (!state[l].ended) state[l].start(problem.limits, rr(0, l), epsilon, first[l]);
  }
}

/// Solves the systems of the team's group and stores x and their outcomes.
template <class Method, class Team>
NEWEL_HD void solve_group(Team& team) {
  using T = typename Team::Value;
  using At = typename Team::At;
  typename Team::Own x = team.own(), r = team.own();
  typename Method::template Recurrence<Team> recurrence(team);
  BatchedStates<Team::lanes> state;
  PerLane<T, Team::lanes> keep;
  begin_lanes(team, x, r, state);
  while (!all_ended(state)) {
    recurrence.run(team, x, r, state);
    const auto rr = team.residual_sums(x, [&](At i, double r_i) { r[i] = static_cast<T>(r_i); });
    bool overflowed = false;
    for (int l = 0; l < Team::lanes; ++l) {
      if (!state[l].ended) state[l].judge(team.problem().limits, rr(0, l));
      keep[l] = state[l].overflowed ? T(0) : T(1);
      overflowed = overflowed || state[l].overflowed;
    }
    if (overflowed) team.each([&](At i) { x[i] = keep[i.lane] != 0 ? x[i] : T(0); });
  }
  team.store(x, state);
}

}  // namespace newel::detail
