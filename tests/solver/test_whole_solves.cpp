// SPDX-License-Identifier: Apache-2.0
// What whole solves show: between them a system takes a stronger preconditioner, and leaves it again, with operators
// whose costs the test makes up.
#include "tests/catch.hpp"
#include "tests/solver/made_up_operators.hpp"

#include <newel/core/vector_ops.hpp>

using namespace newel;
using namespace newel::testing;

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
  CHECK(changed.find("preconditioner jacobi for bad after ") != std::string::npos);
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

TEST_BOTH("A preconditioner with which the rest would take twice a whole solve leaves early",
          "[exchange][learning]") {
  // 16 iterations behind the first residual, of 1, and 4 ms each, where those before took 1 ms. At such rates 106 and
  // 95 iterations are left up to 1e-8; before a tenth there is no rate yet, and 100 iterations are a short solve.
  struct Case {
    double residual;
    int weaker_iterations;
    bool estimated, leaves;
  };
  for (const Case c : {Case{0.09, 216, false, true}, Case{0.09, 218, false, false}, Case{0.07, 193, false, true},
                       Case{0.07, 194, false, false}, Case{0.07, 150, true, false}, Case{0.25, 150, false, false},
                       Case{0.07, 100, false, false}, Case{0.07, 0, false, false}}) {
    Moving<S> moving("same");
    moving.alternatives->set_iteration_seconds(4e-3);
    REQUIRE(moving.alternatives->take_stronger("same"));
    moving.state.advisor.probation() = detail::Probation(1000, {}, false);
    moving.state.advisor.probation().begin_with_the_solve();
    moving.state.history.whole.weaker_iterations = c.weaker_iterations;
    moving.state.history.whole.weaker_seconds = 1e-3;
    moving.state.history.whole.estimated = c.estimated;
    CAPTURE(c.residual, c.weaker_iterations, c.estimated);
    CHECK_FALSE(moving.moves().next({4, 0, false, 1, 1e-8}));
    CHECK_FALSE(moving.moves().next({19, 0, false, c.residual, 1e-8}));  // too few to judge by
    const auto next = moving.moves().next({20, 0, false, c.residual, 1e-8});
    CHECK(next.has_value() == c.leaves);
    CHECK((next && next->kind == detail::Move::Kind::weaker_preconditioner) == c.leaves);
  }
}

TEST_BOTH("With refreshes a preconditioner leaves whose whole solves take longer with them", "[exchange][learning]") {
  for (const double seconds : {1.5e-3, 1.1e-3}) {
    for (const double refresh : {0.0, 1.0}) {
      Moving<S> moving("same", 100e-3);
      moving.alternatives->set_iteration_seconds(seconds);
      for (int solve = 0; solve < 60 && !moving.alternatives->taken; ++solve) {
        fill<double, S>(moving.ctx, 0, moving.x.span());
        moving.solve();
      }
      REQUIRE(moving.alternatives->taken);
      moving.alternatives->set_refresh_seconds(refresh);  // dearer than it was said to be
      for (int solve = 0; solve < 4; ++solve) {
        moving.state.refresh(moving.there.matrix.val.cspan(), RefreshScope::everything);
        fill<double, S>(moving.ctx, 0, moving.x.span());
        moving.solve();
      }
      INFO(seconds << " and " << refresh);
      CHECK(moving.alternatives->left == (seconds > 1.2e-3 || refresh > 0 ? 1 : 0));
    }
  }
}

TEST_BOTH("One whole solve that takes far longer is enough for a preconditioner to leave", "[exchange][learning]") {
  for (const double seconds : {1.5e-3, 1.9e-3}) {
    Moving<S> moving("same", 100e-3);
    moving.alternatives->set_iteration_seconds(seconds);
    int with_it = 0;
    for (int solve = 0; solve < 60 && moving.alternatives->left == 0; ++solve) {
      fill<double, S>(moving.ctx, 0, moving.x.span());
      moving.solve();
      with_it += moving.alternatives->taken && moving.alternatives->left == 0 ? 1 : 0;
    }
    CAPTURE(seconds);
    CHECK(with_it == (seconds > 1.8e-3 ? 1 : 2));
  }
}
