// SPDX-License-Identifier: Apache-2.0
// TimeGrid: exact multiples, halving, doubling, state; whole steps; what is due when.
#include "tests/catch.hpp"

#include "apps/transient/time_grid.hpp"

using namespace newel::transient;

TEST_CASE("every multiple of the coarse step is met exactly, however the steps were halved", "[transient]") {
  const double dt0 = 0.1;  // no binary fraction: sums of it round
  TimeGrid grid(dt0);
  std::mt19937 random(7);
  std::int64_t met = 0;
  for (int i = 0; i < 20000; ++i) {
    const auto roll = random() % 5;
    if (roll == 0) grid.halve();
    if (roll == 1 || roll == 2) grid.grow();
    grid.accept();
    if (!grid.on_dt0()) continue;
    ++met;
    const auto multiple = grid.ticks() / TimeGrid::ticks_per_dt0;
    REQUIRE(grid.now() == static_cast<double>(multiple) * dt0);
  }
  CHECK(met > 100);
  CHECK(grid.steps() == 20000);
}

TEST_CASE("the end of a step that is tried is the time after it is accepted", "[transient]") {
  TimeGrid grid(0.3);
  grid.halve();
  grid.halve();
  const double next = grid.next();
  grid.accept();
  CHECK(grid.now() == next);
  CHECK(grid.step() == 0.3 / 4);
}

TEST_CASE("a step doubles only where it lands on the coarser grid, and halves down to the least", "[transient]") {
  TimeGrid grid(1.0, 2);
  CHECK(!grid.grow());
  CHECK(grid.halve());
  CHECK(grid.halve());
  CHECK(!grid.halve());
  CHECK(grid.step() == 0.25);
  grid.accept();  // 0.25 is no multiple of 0.5
  CHECK(!grid.grow());
  grid.accept();
  CHECK(grid.grow());
  CHECK(!grid.grow());  // 0.5 is no multiple of 1
  grid.accept();
  CHECK(grid.now() == 1.0);
  CHECK(grid.grow());
  CHECK(grid.step() == 1.0);
}

TEST_CASE("a grid goes on from its state as if it had never stopped", "[transient]") {
  TimeGrid grid(0.7, 5);
  grid.halve();
  grid.accept();
  TimeGrid again(0.7, 5, grid.state());
  grid.accept();
  again.accept();
  CHECK(again.now() == grid.now());
  CHECK(again.steps() == grid.steps());
  CHECK(again.step() == grid.step());
}

TEST_CASE("a grid refuses steps and states that it cannot be in", "[transient]") {
  CHECK_THROWS_AS(TimeGrid(0), InputError);
  CHECK_THROWS_AS(TimeGrid(-1), InputError);
  CHECK_THROWS_AS(TimeGrid(INFINITY), InputError);
  CHECK_THROWS_AS(TimeGrid(1, 21), InputError);
  CHECK_THROWS_AS(TimeGrid(1, 3, {0, 0, 4}), InputError);
  CHECK_THROWS_AS(TimeGrid(1, 3, {-1, 0, 0}), InputError);
  CHECK_THROWS_AS(TimeGrid(1, 3, {5, 0, 3}), InputError);  // not on the grid of its own step
}

TEST_CASE("whole steps reach the end and forgive what rounding adds", "[transient]") {
  CHECK(whole_steps(1, 0.1) == 10);
  CHECK(whole_steps(0.3, 0.1) == 3);  // 0.3 / 0.1 is a little below 3
  CHECK(whole_steps(0.6, 0.2) == 3);  // and this a little below 3 too
  CHECK(whole_steps(1.05, 0.1) == 11);
  CHECK(whole_steps(1.001, 0.1) == 11);  // a hundredth of a step is no rounding
  CHECK(whole_steps(1e-9, 1) == 1);
  CHECK_THROWS_AS(whole_steps(1e10, 1), InputError);
  CHECK_THROWS_AS(whole_steps(0, 1), InputError);
  CHECK_THROWS_AS(whole_steps(NAN, 1), InputError);
}

TEST_CASE("what is due every so often is due at multiples of whole steps only", "[transient]") {
  TimeGrid grid(0.1);
  const Every third(0.29, 0.1), never(0, 0.1), each(1e-9, 0.1);
  CHECK(third.interval_steps() == 3);
  CHECK(third.due(grid));
  grid.halve();
  grid.accept();
  CHECK(!each.due(grid));  // between two whole steps
  grid.accept();
  CHECK(each.due(grid));
  CHECK(!third.due(grid));
  CHECK(!never.due(grid));
  for (int i = 0; i < 4; ++i) grid.accept();
  CHECK(third.due(grid));
  CHECK_THROWS_AS(Every(-1, 0.1), InputError);
  CHECK_THROWS_AS(Every(NAN, 0.1), InputError);
}
