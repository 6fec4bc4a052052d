// SPDX-License-Identifier: Apache-2.0
// Counts into begins, against a loop.
#include "tests/catch.hpp"

#include "reorder/exclusive_sum.hpp"

namespace {

// Counts whose sums do not fit into 32 bits.
std::vector<Offset> counts_of(std::int64_t n) {
  std::vector<Offset> counts;
  for (std::int64_t i = 0; i < n; ++i) counts.push_back(i % 7 == 3 ? 0 : (i * 2654435761) % 4294967291);
  return counts;
}

std::vector<Offset> sums_before(const std::vector<Offset>& counts) {
  std::vector<Offset> sums;
  Offset sum = 0;
  for (const Offset count : counts) {
    sums.push_back(sum);
    sum += count;
  }
  return sums;
}

}  // namespace

TEST_BOTH("Counts become the sums of those before them", "[reorder][exclusive_sum]") {
  const auto ctx = make_context<S>(3);
  for (const std::int64_t n : {0, 1, 2, 31, 32, 33, 1023, 1025, 2048, 2049, 70000}) {
    CAPTURE(n);
    const std::vector<Offset> counts = counts_of(n);
    Array<Offset, S> sums = make_array(ctx, counts);
    detail::exclusive_sum(ctx, sums);
    CHECK(to_vector(ctx, sums.cspan()) == sums_before(counts));
  }
}

#if NEWEL_HAS_CUDA
TEST_ON_DEVICE("Sums on the device do not depend on how many counts are scanned at once",
               "[reorder][exclusive_sum][device]") {
  for (const std::int64_t at_once : {2, 3, 100, 999, 1000, 1001}) {
    for (const std::int64_t n : {1, 2, 3, 4, 100, 199, 1000}) {
      CAPTURE(at_once, n);
      const std::vector<Offset> counts = counts_of(n);
      Array<Offset, Space::device> sums = make_array(ctx, counts);
      detail::exclusive_sum(ctx, sums, at_once);
      CHECK(to_vector(ctx, sums.cspan()) == sums_before(counts));
    }
  }
}
#endif
