// SPDX-License-Identifier: Apache-2.0
// Steps from one end of a pattern to the other, counted by hand.
#include "tests/catch.hpp"

#include "reorder/pattern_reach.hpp"

#include "tests/reorder/patterns.hpp"

namespace {

Index reach_of(const std::vector<std::vector<Index>>& rows) {
  const HostCsr a = pattern_matrix(rows, static_cast<Index>(rows.size()));
  return newel::detail::pattern_reach(pattern_of(a));
}

}  // namespace

TEST_CASE("The reach of a pattern is the way to its farthest row", "[reorder]") {
  CHECK(reach_of({}) == 0);
  CHECK(reach_of({{0}, {1}, {2}}) == 0);
  CHECK(reach_of({{0, 1}, {0, 1, 2}, {1, 2, 3}, {2, 3}}) == 3);        // a chain
  CHECK(reach_of({{0, 1, 2}, {0, 1, 3}, {0, 2, 3}, {1, 2, 3}}) == 2);  // a square
  CHECK(reach_of({{0, 1, 2, 3}, {0, 1}, {0, 2}, {0, 3}}) == 1);        // a star
}

TEST_CASE("The reach goes along rows, and counts the longest of what is apart", "[reorder]") {
  CHECK(reach_of({{0, 1}, {1, 2}, {2}}) == 2);
  CHECK(reach_of({{0}, {0, 1}, {1, 2}}) == 0);  // the other way round: each reaches what has been reached
  CHECK(reach_of({{0}, {1, 2}, {1, 2}, {3, 4}, {3, 4, 5}, {4, 5}}) == 2);
}
