// SPDX-License-Identifier: Apache-2.0
// The model that chooses ELL-WARP's threshold: its counts against built layouts, its choices on plain cases.
#include "tests/spmv/spmv_support.hpp"
#include "tests/spmv/ell_warp_support.hpp"

#include "spmv/ell_warp/threshold_model.hpp"

using detail::EllWarpCounts;
using detail::ThresholdWeights;

namespace {

// Rows of the given lengths, in runs of (length, count).
HostCsr rows_of_lengths(const std::vector<std::pair<Index, Index>>& runs) {
  HostCsr a;
  for (const auto& [length, count] : runs) {
    for (Index i = 0; i < count; ++i) {
      for (Index j = 0; j < length; ++j) a.col.push_back(j);
      a.row_ptr.push_back(a.nnz());
    }
    a.rows += count;
    a.cols = std::max(a.cols, length);
  }
  a.val.assign(a.col.size(), 1.0);
  return a;
}

Index chosen(const HostCsr& a, const Machine& machine) {
  const Context<Space::host> ctx(2);
  const Pattern<Space::host> pattern(view_of(a));
  const detail::EllWarpRules rules = detail::EllWarpRules::of_width(machine.lanes);
  const detail::RowSequence sequence = detail::given_sequence(ctx, pattern, rules.longest_warp_row);
  return detail::choose_threshold(detail::count_for_each_threshold(ctx, pattern, sequence, machine.lanes),
                                  ThresholdWeights::of(machine, a.nnz(), sizeof(double)));
}

}  // namespace

TEST_CASE("What is counted for each threshold is what its layout holds", "[ellwarp]") {
  const Context<Space::host> ctx(3);
  for (const HostCsr& a :
       {drawn_matrix(), ragged_matrix(333, 90), power_law_matrix(300), empty_matrix(5, 5), empty_matrix(0, 0)}) {
    for (const Index width : {4, 32}) {
      for (const bool sorted : {false, true}) {
        detail::EllWarpRules rules = rules_of(width);
        const auto layout = [&](Index threshold) {
          rules.threshold = threshold;
          return sorted ? sorted_layout(ctx, a, rules, 100) : given_layout(ctx, a, rules);
        };
        const SequencedLayout any = layout(1);
        const auto counts =
            detail::count_for_each_threshold(ctx, Pattern<Space::host>(view_of(a)), any.sequence, width);
        REQUIRE(static_cast<Offset>(counts.size()) == std::max<Offset>(1, any.layout.longest));
        for (std::size_t t = 1; t <= counts.size(); ++t) {
          INFO("width " << width << ", threshold " << t);
          const SequencedLayout made = layout(static_cast<Index>(t));
          Offset reductions = 0;
          for (const auto k : made.layout.reductions) reductions += k;
          Offset longest = 0;
          for (Offset w = 0; w < made.layout.warps; ++w) {
            longest = std::max(longest, made.layout.slot_begin[w + 1] - made.layout.slot_begin[w]);
          }
          CHECK(counts[t - 1].longest * width == longest);
          CHECK(counts[t - 1].steps * width == made.layout.slots());
          CHECK(counts[t - 1].warps == made.layout.warps);
          CHECK(counts[t - 1].reductions == reductions);
        }
      }
    }
  }
}

TEST_CASE("The predicted time is the latest of bus, waiting and longest warp, and the excess of that one",
          "[ellwarp]") {
  ThresholdWeights weights;
  weights.bus_warps = 2;
  weights.slot_warps = 10;
  weights.warp_bytes = 0.5;
  weights.warp_start = 4;
  weights.reduction = 0.25;
  EllWarpCounts counts{100, 20, 8, 7};
  // Bus: (100 + 0.5 20) / 2 = 55. Waiting: (100 + 4 20 + 0.25 8) / 10 = 18.2, a mean of 9.1 a warp. Longest: 7 + 4 =
  // 11, an excess of 1.9.
  CHECK(detail::predicted_time(counts, weights) == Approx(55 + 1.9));
  weights.bus_warps = 20;
  CHECK(detail::predicted_time(counts, weights) == Approx(18.2 + 1.9));
  counts.longest = 30;
  CHECK(detail::predicted_time(counts, weights) == Approx(34 + 24.9));
  counts.longest = 1;
  CHECK(detail::predicted_time(counts, weights) == Approx(18.2));
}

TEST_CASE("Equal rows, enough of them to fill the machine, stay whole", "[ellwarp]") {
  CHECK(chosen(rows_of_lengths({{15, 600000}}), large_gpu()) == 15);
  // Halving the few longer rows would save one part in a hundred.
  CHECK(chosen(rows_of_lengths({{4, 320}, {3, 1500000}}), large_gpu()) == 4);
  CHECK(chosen(rows_of_lengths({{16, 20000}}), Machine()) == 16);
}

TEST_CASE("Too few rows to fill the machine are halved", "[ellwarp]") {
  CHECK(chosen(rows_of_lengths({{64, 2000}}), large_gpu()) <= 16);
  CHECK(chosen(rows_of_lengths({{64, 200000}}), large_gpu()) == 64);
}

TEST_CASE("A matrix that stays in the second-level cache is halved further, since more bytes come from there",
          "[ellwarp]") {
  Machine gpu = large_gpu();
  const Offset fits = static_cast<Offset>(gpu.shared_cache_bytes / 24);  // twice 12 bytes an entry
  const auto bus = [&](Offset nonzeros) { return ThresholdWeights::of(gpu, nonzeros, sizeof(double)).bus_warps; };
  CHECK(bus(fits) > 1.2 * bus(fits + 1));
  CHECK(bus(fits + 1) == bus(100 * fits));
  const HostCsr rows =
      rows_of_lengths({{27, 230}, {24, 960}, {21, 36800}, {20, 5500}, {18, 600}, {15, 1000}, {1, 640}});
  const Index there = chosen(rows, gpu);
  gpu.shared_cache_bytes = 0;
  CHECK(there < chosen(rows, gpu));
}

TEST_CASE("A few rows of thousands among short ones are halved, and the short ones are not", "[ellwarp]") {
  const HostCsr a = rows_of_lengths({{4000, 1}, {700, 5}, {8, 300000}});
  const Index threshold = chosen(a, large_gpu());
  CHECK(threshold >= 8);
  CHECK(threshold < 700);
  Machine host;
  host.processors = 2;
  const Index on_host = chosen(rows_of_lengths({{1000, 1}, {6, 30000}}), host);
  CHECK(on_host >= 6);
  CHECK(on_host < 1000);
}

TEST_CASE("No rows and empty rows have a threshold too", "[ellwarp]") {
  CHECK(chosen(empty_matrix(0, 0), large_gpu()) == 1);
  CHECK(chosen(empty_matrix(100, 100), large_gpu()) == 1);
}

TEST_CASE("Blocks shrink where there are few, and a product that forms x.y takes the resident ones", "[ellwarp]") {
  const detail::EllWarpGrid large = detail::choose_grid(1000000, large_gpu()),
                            middle = detail::choose_grid(1500, large_gpu()),
                            small = detail::choose_grid(100, large_gpu()), none = detail::choose_grid(0, large_gpu());
  CHECK(large.block_threads == 512);
  CHECK(large.dot_blocks == 132 * 4);
  CHECK(middle.block_threads == 64);
  CHECK(middle.dot_blocks == 750);
  CHECK(small.block_threads == 32);
  CHECK(small.dot_blocks == 100);
  CHECK(none.dot_blocks == 1);
}
