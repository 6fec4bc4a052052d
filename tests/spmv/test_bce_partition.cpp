// SPDX-License-Identifier: Apache-2.0
// Which widths share a block in bce: against the paper's example and exhaustive search.
#include "tests/catch.hpp"

#include "spmv/bce/bce_partition.hpp"

namespace {

const WidthDistribution of_paper{{1, 2, 3, 4, 6, 7}, {2, 3, 2, 1, 1, 1}};

WidthDistribution random_distribution(std::uint64_t seed, int widths) {
  Random random(seed);
  WidthDistribution f;
  Index width = 0;
  for (int k = 0; k < widths; ++k) {
    width += 1 + random.index(4);
    f.width.push_back(width);
    f.rows.push_back(1 + random.index(random.index(3) == 0 ? 400 : 9));
  }
  return f;
}

// The cheapest of all 2^(M'-1) partitions into runs of consecutive widths.
Offset cheapest_of_all_runs(const WidthDistribution& f, Offset least_rows) {
  Offset cheapest = std::numeric_limits<Offset>::max();
  for (unsigned ends = 0; ends < 1u << (f.size() - 1); ++ends) {
    Offset cost = 0, rows = 0;
    for (std::size_t k = 0; k < f.size(); ++k) {
      rows += f.rows[k];
      if (k + 1 < f.size() && (ends >> k & 1u) == 0) continue;
      cost += f.width[k] * std::max(rows, least_rows);
      rows = 0;
    }
    cheapest = std::min(cheapest, cost);
  }
  return cheapest;
}

// The cheapest of all partitions of single rows, whatever the sets: Bell's number of them.
Offset cheapest_of_all_sets(const std::vector<Index>& widths, Offset least_rows) {
  Offset cheapest = std::numeric_limits<Offset>::max();
  std::vector<std::vector<Index>> sets;
  const std::function<void(std::size_t)> place = [&](std::size_t row) {
    if (row == widths.size()) {
      Offset cost = 0;
      for (const auto& set : sets) {
        cost += *std::max_element(set.begin(), set.end()) * std::max(static_cast<Offset>(set.size()), least_rows);
      }
      cheapest = std::min(cheapest, cost);
      return;
    }
    for (std::size_t s = 0; s < sets.size(); ++s) {
      sets[s].push_back(widths[row]);
      place(row + 1);
      sets[s].pop_back();
    }
    sets.push_back({widths[row]});
    place(row + 1);
    sets.pop_back();
  };
  place(0);
  return cheapest;
}

}  // namespace

TEST_CASE("bce counts the rows of every width that occurs, with any number of threads", "[spmv][bce]") {
  const HostCsr a = random_matrix(30000, 5000, 71, [](Index i) { return Offset{i % 37 == 0 ? 0 : i % 23}; });
  std::map<Index, Offset> expected;
  for (Index i = 0; i < a.rows; ++i) ++expected[static_cast<Index>(a.row_length(i))];
  expected.erase(0);
  for (const int threads : {1, 2, 7}) {
    const Context<Space::host> ctx(threads);
    const auto there = upload_matrix<double>(ctx, a);
    const WidthDistribution f = width_distribution(ctx, Pattern<Space::host>(there.wide()), 10);
    REQUIRE(f.size() == 10);
    for (std::size_t k = 0; k < f.size(); ++k) CHECK(f.rows[k] == expected[f.width[k]]);
    const WidthDistribution all = width_distribution(ctx, Pattern<Space::host>(there.narrow()), 4096);
    CHECK(all.size() == expected.size());
  }
}

TEST_CASE("On the paper's example with L = 2 the sets {1}, {2}, {3,4}, {6,7} cost least", "[spmv][bce]") {
  const std::vector<Index> bounds = optimal_bounds(of_paper, 2);
  CHECK(bounds == std::vector<Index>{1, 2, 4, 7});
  CHECK(partition_cost(of_paper, bounds, 2) == 34);
  CHECK(optimal_bounds_by_tables(of_paper, 2) == bounds);
}

TEST_CASE("The paper's bounds (2, 4) are cheapest on its example for no L", "[spmv][bce]") {
  const std::vector<Index> printed{2, 4, 7};
  CHECK(partition_cost(of_paper, printed, 1) == 10 + 12 + 14);
  for (Offset least_rows = 0; least_rows <= 30; ++least_rows) {
    const std::vector<Index> bounds = optimal_bounds(of_paper, least_rows);
    CHECK(bounds != printed);
    CHECK(partition_cost(of_paper, bounds, least_rows) < partition_cost(of_paper, printed, least_rows));
  }
}

TEST_CASE("The short recurrence of bce costs what Algorithms 1 and 2 do, and what the best of all runs does",
          "[spmv][bce]") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const WidthDistribution f = random_distribution(seed, 1 + static_cast<int>(seed % 11));
    for (const Offset least_rows : {0, 1, 8, 192, 100000}) {
      INFO("seed " << seed << ", L = " << least_rows);
      const Offset cheapest = cheapest_of_all_runs(f, least_rows);
      CHECK(partition_cost(f, optimal_bounds(f, least_rows), least_rows) == cheapest);
      CHECK(partition_cost(f, optimal_bounds_by_tables(f, least_rows), least_rows) == cheapest);
    }
  }
  CHECK(optimal_bounds({}, 192).empty());
  CHECK(optimal_bounds_by_tables({}, 192).empty());
}

TEST_CASE("Without a lower limit of rows no partition of any kind stores fewer slots than bce's runs",
          "[spmv][bce]") {
  Random random(72);
  for (int round = 0; round < 20; ++round) {
    std::vector<Index> widths;
    std::map<Index, Offset> counted;
    for (int row = 0; row < 8; ++row) ++counted[widths.emplace_back(1 + random.index(12))];
    WidthDistribution f;
    for (const auto& [width, rows] : counted) {
      f.width.push_back(width);
      f.rows.push_back(rows);
    }
    CHECK(partition_cost(f, optimal_bounds(f, 0), 0) == cheapest_of_all_sets(widths, 0));
  }
}

TEST_CASE("With a lower limit of rows a partition that splits a width may be cheaper than bce's", "[spmv][bce]") {
  const WidthDistribution f{{1, 10}, {300, 10}};
  CHECK(partition_cost(f, optimal_bounds(f, 192), 192) == 2220);
  // 182 of the short rows fill the block of the long ones up to 192; the other 118 stand alone.
  CHECK(10 * std::max<Offset>(10 + 182, 192) + 1 * std::max<Offset>(300 - 182, 192) == 2112);
  // The same in small, against every partition there is.
  const WidthDistribution small{{1, 5}, {5, 2}};
  CHECK(partition_cost(small, optimal_bounds(small, 3), 3) == 20);
  CHECK(cheapest_of_all_sets({1, 1, 1, 1, 1, 5, 5}, 3) == 19);
}

TEST_CASE("bce merges the widths that pad least where there are more than it is to look at", "[spmv][bce]") {
  const WidthDistribution f{{1, 2, 3, 10, 11, 50}, {100, 1, 100, 3, 100, 1}};
  CHECK(optimal_bounds(f, 0, 6).size() == 6);
  // One row of width 2, then three of width 10 go up.
  CHECK(optimal_bounds(f, 0, 5) == std::vector<Index>{1, 3, 10, 11, 50});
  CHECK(optimal_bounds(f, 0, 4) == std::vector<Index>{1, 3, 11, 50});
  CHECK(optimal_bounds(f, 0, 1) == std::vector<Index>{50});
  for (std::size_t most = 1; most <= 12; ++most) {
    const WidthDistribution random = random_distribution(most, 12);
    const std::vector<Index> bounds = optimal_bounds(random, 8, most);
    CHECK(bounds.size() <= most);
    CHECK(bounds.back() == random.width.back());
    CHECK(partition_cost(random, bounds, 8) >= partition_cost(random, optimal_bounds(random, 8), 8));
  }
}
