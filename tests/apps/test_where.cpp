// SPDX-License-Identifier: Apache-2.0
// Host or device under --device auto.
#include "tests/catch.hpp"

#include "apps/newel/solve/backend.hpp"

using namespace newel::cli;

TEST_CASE("A small system stays on the host, a large one goes where --device auto says", "[cli][where]") {
  int asked = 0;
  const auto takes = [&](double seconds) {
    return [&asked, seconds] {
      ++asked;
      return seconds;
    };
  };
  const WhereToSolve small = choose_where("auto", true, takes(0.012));
  CHECK(small.place.space == Space::host);
  CHECK(contains(small.reason, "12 ms"));
  CHECK(asked == 1);
  CHECK(choose_where("auto", true, takes(0.09)).reason != "");
  CHECK(choose_where("auto", true, takes(0.11)).reason.empty());
  CHECK(choose_where("auto", true, takes(0.11)).place.name() == choose_place("auto").name());
  asked = 0;
  CHECK(choose_where("host", true, takes(0.01)).reason.empty());
  CHECK(choose_where("auto", false, takes(0.01)).reason.empty());
  CHECK(asked == 0);
}
