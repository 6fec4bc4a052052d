// SPDX-License-Identifier: Apache-2.0
// The arrays that cuSPARSE is handed, and how the measuring itself measures.
#include "tests/catch.hpp"

#include "bench/contender.hpp"
#include "bench/cusparse_arrays.hpp"
#include "bench/memory_traffic.hpp"
#include "bench/timer.hpp"

using namespace newel::bench;
using Indices = std::vector<Index>;
using Offsets = std::vector<Offset>;

namespace {

const Context<Space::host> ctx(2);

Pattern<Space::host> pattern_of(const Csr<double, Space::host>& a) { return CsrView<double, Space::host>(a); }

}  // namespace

TEST_CASE("Slices are as wide as their longest row, columns side by side, padded with -1", "[bench]") {
  // 5 rows of lengths 2, 0, 1, 1, 3 in slices of 2
  const auto a = testing::make_matrix<double>(
      ctx, testing::from_rows(4, {{{0, 1}, {3, 1}}, {}, {{2, 1}}, {{1, 1}}, {{0, 1}, {1, 1}, {2, 1}}}));
  const CusparseArrays sell = make_sell_arrays(ctx, pattern_of(a), 2);
  CHECK(to_vector(ctx, sell.first.cspan()) == Offsets{0, 4, 6, 12});
  CHECK(to_vector(ctx, sell.col.cspan()) == Indices{0, -1, 3, -1, 2, 1, 0, -1, 1, -1, 2, -1});
  CHECK(to_vector(ctx, sell.source.cspan()) == Offsets{0, -1, 1, -1, 2, 3, 4, -1, 5, -1, 6, -1});
}

TEST_CASE("Blocks hold their rows one after the other", "[bench]") {
  // Blocks (0, 0), (0, 1) and (1, 1) of 2 x 2
  const auto a = testing::make_matrix<double>(ctx, testing::from_rows(4, {{{0, 1}, {1, 1}, {2, 1}, {3, 1}},
                                                                          {{0, 1}, {1, 1}, {2, 1}, {3, 1}},
                                                                          {{2, 1}, {3, 1}},
                                                                          {{2, 1}, {3, 1}}}));
  const CusparseArrays bsr = make_bsr_arrays(ctx, pattern_of(a), 2);
  CHECK(to_vector(ctx, bsr.first.cspan()) == Offsets{0, 2, 3});
  CHECK(to_vector(ctx, bsr.col.cspan()) == Indices{0, 1, 1});
  CHECK(to_vector(ctx, bsr.source.cspan()) == Offsets{0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 10, 11});
}

TEST_CASE("Coordinates name the row of each entry", "[bench]") {
  const Array<Offset, Space::host> row_ptr = make_array(ctx, Offsets{0, 2, 2, 3});
  CHECK(to_vector(ctx, make_coo_rows(ctx, row_ptr.cspan()).cspan()) == Indices{0, 0, 2});
}

TEST_CASE("Calls one by one are each behind a call that is not timed", "[bench]") {
  const Timer<Space::host> timer(ctx);
  std::string calls;
  CHECK(timer.one_by_one(
            3, [&] { calls += 'b'; }, [&] { calls += 'w'; }) >= 0);
  CHECK(calls == "bwbwbw");
  CHECK(timer.back_to_back(4, [&] { calls += 'w'; }) >= 0);
  CHECK(calls == "bwbwbwwwww");
}

TEST_CASE("The copy's bandwidth counts bytes read and bytes written", "[bench]") {
  const CopyBandwidth copied = measure_copy(ctx, 3, 1 << 20);
  CHECK(copied.bytes == 1 << 20);
  CHECK(copied.gigabytes_per_second.size() == 3);
  CHECK(copied.bytes_per_second() == Approx(1e9 * median(copied.gigabytes_per_second)));
  CHECK(displacing_bytes(ctx, 1000) == 1000);
}

TEST_CASE("A matrix without entries has no cuSPARSE product, and formats say what they refuse", "[bench]") {
  const auto a = testing::make_matrix<double>(ctx, testing::from_rows(3, {{{0, 1}}, {{2, 1}}}));
  const auto contender = format_contender<double, Space::host>("ehyb");
  CHECK_THROWS_AS(contender.build(ctx, a), InputError);
}
