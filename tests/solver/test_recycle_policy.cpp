// SPDX-License-Identifier: Apache-2.0
// When vectors are harvested, used, checked and given up.
#include "tests/catch.hpp"

#include "solver/recycle/recycle_policy.hpp"

namespace {

using newel::detail::RecycleCosts;
using newel::detail::RecycledSolve;
using newel::detail::RecyclePolicy;

// A machine where a deflated iteration takes 1.5 times as long.
RecycleCosts costs() { return {1, 0.5, 1}; }

/// A sequence whose plain solves take `plain` iterations and deflated ones `deflated`.
struct Sequence {
  RecyclePolicy policy;
  int plain, deflated;
  int harvests = 0, uses = 0, vectors = 0;

  RecyclePolicy::Use solve() {
    const RecyclePolicy::Use use = policy.next();
    RecycledSolve solve{use.deflates ? deflated : plain, 10};
    if (use.harvests) solve.harvested = 8;
    vectors = use.harvests ? vectors + 8 : vectors;
    harvests += use.harvests ? 1 : 0;
    uses += use.deflates ? 1 : 0;
    policy.solved(solve, vectors >= 16, costs);
    if (policy.rests()) vectors = 0;
    return use;
  }
};

}  // namespace

TEST_CASE("a trial harvests until the vectors are complete, and then they are used", "[solver][recycle]") {
  Sequence of{RecyclePolicy(true), 100, 40};
  for (int k = 0; k < 40; ++k) of.solve();
  CHECK(of.harvests == 2);
  CHECK(of.uses == 39);
  CHECK(of.policy.plain_iterations(20) == Approx(200));
  CHECK_FALSE(of.policy.rests());
}

TEST_CASE("a plain solve now and then shows what vectors save", "[solver][recycle]") {
  Sequence of{RecyclePolicy(true), 100, 40};
  for (int k = 0; k < 40; ++k) of.solve();
  of.plain = 45;  // so that they no longer pay
  int solves = 0;
  while (!of.policy.rests() && solves < 200) of.solve(), ++solves;
  CHECK(solves <= RecyclePolicy::between_probes);
}

TEST_CASE("auto weighs what an iteration costs, and a number of vectors does not", "[solver][recycle]") {
  Sequence chosen{RecyclePolicy(true), 100, 80}, asked{RecyclePolicy(false), 100, 80},
      useless{RecyclePolicy(false), 100, 99};
  for (int k = 0; k < 10; ++k) chosen.solve(), asked.solve(), useless.solve();
  CHECK(chosen.policy.rests());
  CHECK_FALSE(asked.policy.rests());
  CHECK(useless.policy.rests());
}

TEST_CASE("auto leaves solves in one kernel alone, and a number of vectors does not", "[solver][recycle]") {
  const auto tries = [](bool decides, bool one_kernel) {
    RecyclePolicy policy(decides, true);
    CHECK(policy.next().harvests != decides);
    RecycledSolve plain{50, 10};
    plain.one_kernel = one_kernel;
    policy.solved(plain, false, costs);
    RecyclePolicy resumed(decides, true);
    resumed.set_counts(policy.counts());
    CHECK(resumed.rests() == policy.rests());
    CHECK(resumed.next().harvests == policy.next().harvests);
    return !policy.rests();
  };
  CHECK(tries(true, false));
  CHECK_FALSE(tries(true, true));
  CHECK(tries(false, true) == tries(false, false));
}

TEST_CASE("rests become longer each time", "[solver][recycle]") {
  Sequence of{RecyclePolicy(true), 100, 90};
  int rests = 0, solves = 0;
  for (; solves < 1000; ++solves) {
    const bool before = of.policy.rests();
    of.solve();
    rests += !before && of.policy.rests() ? 1 : 0;
  }
  CHECK(rests == 3);  // after 250 and 500
}

TEST_CASE("vectors are harvested anew when solves take longer than after the last harvest", "[solver][recycle]") {
  Sequence of{RecyclePolicy(true), 100, 40};
  for (int k = 0; k < 20; ++k) of.solve();
  CHECK(of.harvests == 2);
  of.deflated = 49;
  for (int k = 0; k < 5; ++k) of.solve();
  CHECK(of.harvests == 2);
  of.deflated = 51;
  for (int k = 0; k < 5; ++k) of.solve();
  CHECK(of.harvests == 3);
}

TEST_CASE("solves of a few iterations are not counted", "[solver][recycle]") {
  RecyclePolicy policy(true);
  for (int k = 0; k < 10; ++k) policy.solved({2, 10}, false, costs);
  for (int k = 0; k < 10; ++k) policy.solved({20, 0.5}, false, costs);
  CHECK(policy.plain_iterations(1) == 0);
  CHECK_FALSE(policy.next().deflates);
  CHECK(policy.next().harvests);
}

TEST_CASE("a harvest without vectors ends in a rest", "[solver][recycle]") {
  RecyclePolicy policy(true);
  policy.solved({100, 10}, false, costs);
  CHECK(policy.rests());
}

TEST_CASE("the counts of a policy are all that it knows", "[solver][recycle]") {
  Sequence of{RecyclePolicy(true), 100, 40};
  for (int k = 0; k < 400; ++k) {
    RecyclePolicy copy(true);
    copy.set_counts(of.policy.counts());
    CHECK(copy.counts() == of.policy.counts());
    const auto expected = of.policy.next(), found = copy.next();
    CHECK((found.deflates == expected.deflates && found.harvests == expected.harvests));
    if (k == 120) of.plain = 30;
    of.solve();
  }
  CHECK(RecyclePolicy(true).counts().size() == RecyclePolicy::count_size);
}
