// SPDX-License-Identifier: Apache-2.0
// What whole solves show: between them a system takes a stronger preconditioner, and leaves it again, with operators
// whose costs the test makes up.
#include "tests/solver/made_up_operators.hpp"

TEST_BOTH("Solves that are too short for a preconditioner pay for it together", "[exchange][learning]") {
  constexpr double price = 150e-3;
  Moving<S> moving("fsai", price);
  int solves = 0;
  double spent = 0;
  for (std::string changed; changed.empty() && solves < 50; ++solves) {
    fill<double, S>(moving.ctx, 0, moving.x.span());
    const SolveReport report = moving.solve();
    changed = report.changed;
    spent += 1e-3 * report.iterations;
  }
  CHECK(moving.alternatives->taken);
  CHECK(solves > 1);
  CHECK(0.5 * spent <= 2 * price);  // what half of the iterations cost
}

TEST_BOTH("Between solves a preconditioner is taken by the iterations of those before", "[exchange][learning]") {
  Moving<S> moving("fsai", 150e-3);
  std::string changed;
  int before = 0, with_it = 0;
  for (int solve = 0; changed.empty() && solve < 50; ++solve) {
    fill<double, S>(moving.ctx, 0, moving.x.span());
    const SolveReport report = moving.solve();
    changed = report.changed;
    if (changed.empty()) before += report.iterations;
    with_it = report.iterations;
  }
  CHECK(changed == "preconditioner fsai for jacobi after " + std::to_string(before) + " iterations");
  fill<double, S>(moving.ctx, 0, moving.x.span());
  const SolveReport next = moving.solve();
  CHECK(next.changed.empty());
  CHECK(next.iterations == with_it);  // the one before had it from its beginning
}

TEST_BOTH("A preconditioner that was taken between solves is watched, and leaves again", "[exchange][learning]") {
  Moving<S> moving("bad", 150e-3);
  std::string changed;
  for (int solve = 0; changed.empty() && solve < 50; ++solve) {
    fill<double, S>(moving.ctx, 0, moving.x.span());
    changed = moving.solve().changed;
  }
  INFO(changed);
  CHECK(changed.find("preconditioner bad for jacobi after ") == 0);
  CHECK(contains(changed, "preconditioner jacobi for bad after "));
  CHECK(moving.alternatives->restored == 1);
}

TEST_BOTH("What every refresh costs is counted before a preconditioner is taken", "[exchange][learning]") {
  for (const bool cheap : {true, false}) {
    Moving<S> moving("fsai", 20e-3);
    moving.alternatives->set_refresh_seconds(cheap ? 1e-3 : 40e-3);
    for (int solve = 0; solve < 20; ++solve) {
      fill<double, S>(moving.ctx, 0, moving.x.span());
      moving.state.refresh(moving.there.matrix.val.cspan(), RefreshScope::everything);
      moving.solve();
    }
    CHECK(moving.alternatives->taken == cheap);
  }
}

TEST_BOTH("A preconditioner whose whole solves take longer leaves again, once", "[exchange][learning]") {
  // As many iterations as with Jacobi, half of them expected: 1.5 times the seconds, which a probation lets pass.
  for (const double seconds : {1.5e-3, 1.1e-3}) {
    Moving<S> moving("same", 100e-3);  // in a later solve than the first, which shows what Jacobi takes
    moving.alternatives->set_iteration_seconds(seconds);
    std::vector<std::string> changes;
    for (int solve = 0; solve < 40; ++solve) {
      fill<double, S>(moving.ctx, 0, moving.x.span());
      const SolveReport report = moving.solve();
      if (!report.changed.empty()) changes.push_back(report.changed);
    }
    REQUIRE(moving.alternatives->taken);
    INFO(seconds << ": " << changes.back());
    CHECK(changes.front().find("preconditioner same for jacobi after ") == 0);
    const bool slower = seconds > 1.2e-3;
    CHECK(moving.alternatives->left == (slower ? 1 : 0));
    REQUIRE(changes.size() == (slower ? 2 : 1));
    if (slower) CHECK(changes.back() == "preconditioner jacobi for same, since solves with same took longer");
  }
}
