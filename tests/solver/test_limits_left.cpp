// SPDX-License-Identifier: Apache-2.0
// What a part of a solve leaves of its limits.
#include "solver/krylov/monitor/limits_left.hpp"

#include "tests/catch.hpp"

TEST_CASE("what is left of a solve's limits is what its parts have not taken", "[solver]") {
  StopCriterion stop;
  stop.max_iterations = 100;
  stop.rel_tol = 1e-5;
  stop.check_every = 3;
  StopCriterion left = detail::limits_left(stop, 30, 1.5);
  CHECK(left.max_iterations == 70);
  CHECK(left.time_limit_seconds == 0);  // none, as before
  CHECK(left.rel_tol == 1e-5);
  CHECK(left.check_every == 3);
  CHECK(detail::limits_left(stop, 130, 0).max_iterations == 0);

  stop.time_limit_seconds = 2;
  left = detail::limits_left(stop, 0, 1.5);
  CHECK(left.max_iterations == 100);
  CHECK(left.time_limit_seconds == 0.5);
  // What has passed stays a limit.
  CHECK(detail::limits_left(stop, 0, 2.5).time_limit_seconds > 0);
  CHECK(detail::limits_left(stop, 0, 2.5).time_limit_seconds < 1e-6);
}
