// SPDX-License-Identifier: Apache-2.0
/// The solve of one group of systems of a batch, from the guess to the outcome, for any method and any team.
/// Internal.
///
/// A team is the threads of a block on a device, whose group is one system (`BlockTeam`), or one thread of the host,
/// whose group is eight (`LaneTeam`). A lane is a system of the group. Only the thread reads the entries of a vector
/// (`Own`) that writes them, but those of the vector `published()` are shown to all threads by `publish`. A team
/// offers
///
/// - each(f): f(i) for all entries i of a vector; i.lane is the lane;
/// - sums<K>(f): f(i, mine), which sets K terms; the sums of all i for each lane;
/// - product_sums<K>(v, f): f(i, (A v)_i, mine), v being what was published last;
/// - residual_sums(x, f): f(i, r_i) with r = b - A x in twice the precision, and r.r; publishes x;
/// - zero_residual_sums(f): the same for x = 0, which shows whether all entries of A are finite;
/// - precond_sums<K>(r, f): f(i, (M r)_i, mine); `scaled(i, r_i)` is (M r)_i if `is_local()`;
/// - basis(j, i), small(k, lane), record(lane): vectors of a basis, small numbers, and the records of the systems;
/// - alone(f): f() in one thread, which may write what `small` and `record` return; then all threads see it;
/// - wait(): returns when all threads have called it.
#pragma once

#include <cmath>

#include "solver/batched/batched_state.hpp"
#include "solver/batched/inverse/batched_inverse.hpp"

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

/// What the records say of the next round; whether there is one.
template <class Team>
NEWEL_HD bool take_states(Team& team, BatchedStates<Team::lanes>& state) {
  bool any = false;
  for (int l = 0; l < Team::lanes; ++l) {
    if (team.uses(l)) state[l] = team.record(l).state();
    any = any || !state[l].ended;
  }
  return any;
}

/// r = b - A x, and r.r; without a guess in any lane x is 0.
template <class Team>
NEWEL_HD LaneSums<1, Team::lanes> true_residual(Team& team, const typename Team::Own& x, typename Team::Own& r,
                                                bool has_guess = true) {
  const auto take = [&](typename Team::At i, double r_i) { r[i] = static_cast<typename Team::Value>(r_i); };
  return has_guess ? team.residual_sums(x, take) : team.zero_residual_sums(take);
}

/// Sets x to the guess, or to zero in lanes where zero is better, r = b - A x, and the records.
template <class Team>
NEWEL_HD void begin_lanes(Team& team, typename Team::Own& x, typename Team::Own& r) {
  using T = typename Team::Value;
  using At = typename Team::At;
  const BatchedProblem<T>& problem = team.problem();
  PerLane<T, Team::lanes> keep;  // 1: x has a guess
  bool has_guess = false;
  for (int l = 0; l < Team::lanes; ++l) {
    keep[l] = team.uses(l) && (team.outcome(l).attempt > 0 || !problem.zero_guess) ? T(1) : T(0);
    has_guess = has_guess || keep[l] != 0;
  }
  const auto of_b = team.template sums<2>([&](At i, double* mine) {
    const double b = static_cast<double>(team.rhs(i));
    x[i] = keep[i.lane] != 0 ? team.guess(i) : T(0);
    mine[0] = b * b;
    mine[1] = fabs(b);
  });
  team.alone([&] {
    for (int l = 0; l < Team::lanes; ++l) {
      if (team.uses(l))
        team.record(l).begin(problem.limits, problem.attempt, team.outcome(l), of_b(0, l), of_b(1, l));
    }
  });
  auto rr = true_residual(team, x, r, has_guess);
  bool worse = false;
  for (int l = 0; l < Team::lanes; ++l) {
    const bool is_worse = keep[l] != 0 && !(rr(0, l) <= of_b(0, l));
    keep[l] = is_worse ? T(0) : T(1);
    worse = worse || is_worse;
  }
  if (worse) {
    team.each([&](At i) { x[i] = keep[i.lane] != 0 ? x[i] : T(0); });
    rr = true_residual(team, x, r);
  }
  team.alone([&] {
    constexpr double epsilon = batched_epsilon<T>;
    for (int l = 0; l < Team::lanes; ++l) {
      if (team.uses(l)) team.record(l).start(problem.limits, rr(0, l), epsilon);
    }
  });
}

/// Solves the systems of the team's group and stores x and their outcomes.
template <class Method, class Team>
NEWEL_HD void solve_group(Team& team) {
  using T = typename Team::Value;
  using At = typename Team::At;
  typename Team::Own x = team.own(), r = team.own();
  typename Method::template Recurrence<Team> recurrence(team);
  BatchedStates<Team::lanes> state;
  begin_lanes(team, x, r);
  while (take_states(team, state)) {
    recurrence.run(team, x, r, state);
    const auto rr = true_residual(team, x, r);
    team.alone([&] {
      for (int l = 0; l < Team::lanes; ++l) {
        if (team.uses(l)) team.record(l).judge(team.problem().limits, state[l], rr(0, l));
      }
    });
    PerLane<T, Team::lanes> keep;
    bool overflowed = false;
    for (int l = 0; l < Team::lanes; ++l) {
      const bool here = team.uses(l) && team.record(l).overflowed;
      keep[l] = here ? T(0) : T(1);
      overflowed = overflowed || here;
    }
    if (overflowed) team.each([&](At i) { x[i] = keep[i.lane] != 0 ? x[i] : T(0); });
  }
  team.store(x);
}

}  // namespace newel::detail
