// SPDX-License-Identifier: Apache-2.0
// The rows that each rank gets.
#include "tests/catch.hpp"

#include <newel/distributed/row_bounds.hpp>

using namespace newel;

TEST_CASE("Ranks get about as many entries each, in whole nodes", "[distributed]") {
  const auto bounds = [](const std::vector<Offset>& row_ptr, int ranks) {
    return row_bounds(Span<const Offset, Space::host>(row_ptr), ranks);
  };
  std::vector<Offset> even(1201);
  for (std::size_t i = 0; i < even.size(); ++i) even[i] = 5 * static_cast<Offset>(i);
  CHECK(bounds(even, 1) == std::vector<std::int64_t>{0, 1200});
  CHECK(bounds(even, 4) == std::vector<std::int64_t>{0, 300, 600, 900, 1200});
  CHECK(bounds(even, 7) == std::vector<std::int64_t>{0, 168, 348, 516, 684, 852, 1032, 1200});
  std::vector<Offset> heavy = even;  // the first rows have a hundred times as many entries
  for (std::size_t i = 1; i < heavy.size(); ++i) heavy[i] = heavy[i - 1] + (i <= 120 ? 500 : 5);
  CHECK(bounds(heavy, 2) == std::vector<std::int64_t>{0, 72, 1200});
  const std::vector<Offset> few = {0, 1, 2, 3};
  CHECK(bounds(few, 2) == std::vector<std::int64_t>{0, 1, 3});
  const std::vector<std::int64_t> more = bounds(few, 5);
  CHECK(more.size() == 6);
  CHECK(std::is_sorted(more.begin(), more.end()));
  CHECK(more.back() == 3);
  CHECK(bounds({0}, 3) == std::vector<std::int64_t>{0, 0, 0, 0});
}
