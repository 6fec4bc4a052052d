// SPDX-License-Identifier: Apache-2.0
// Pairs of opposite blocks and their rounds: by hand on a path, then as a partition of every entry.
#include "tests/reorder/patterns.hpp"
#include "tests/spmv/ehyb_support.hpp"
#include "tests/spmv/pair_support.hpp"

#include "spmv/ehyb_symmetric/pair_matchings.hpp"
#include "spmv/ehyb_symmetric/pair_rounds.hpp"

using detail::PairShape;

namespace {

detail::SplitPattern<host> split_of(const HostCsr& a, const std::vector<Index>& part_begin, int block,
                                    const PairShape& shape, int threads = 2) {
  return detail::split_pairs(Context<host>(threads), pattern_of(a), part_begin, block, shape);
}

void check_split(const HostCsr& a, const std::vector<Index>& part_begin, int block, const PairShape& shape) {
  testing::check_split(a, part_begin, block, shape, split_of(a, part_begin, block, shape));
}

}  // namespace

// 0 - 1 - 2 - 3 - 4 - 5: the nodes inside the path have two pairs each and are served first.
TEST_CASE("The pairs of a path take two rounds, the second of those that waited", "[ehyb][pairs]") {
  const HostCsr a = tridiagonal_matrix(6);
  const auto split = split_of(a, {0, 6}, 1, {4, 100, 1}, 1);
  using Pairs = std::vector<std::pair<Index, Index>>;
  CHECK(pairs_of(split.rounds, 4) == std::vector<Pairs>{{{1, 2}, {3, 4}}, {{0, 1}, {2, 3}, {4, 5}}});
  CHECK(split.rounds.pairs == 5);
  CHECK(list_of(split.col) == std::vector<Index>{0, 1, 2, 3, 4, 5});
  CHECK(split.node == std::vector<Index>{0, 1, 2, 3, 4, 5});
}

TEST_CASE("Pairs do not cross parts, and rounds have as many pairs as are allowed", "[ehyb][pairs]") {
  const HostCsr a = tridiagonal_matrix(6);
  using Pairs = std::vector<std::pair<Index, Index>>;
  const auto cut = split_of(a, {0, 3, 6}, 1, {4, 100, 1}, 1);
  CHECK(pairs_of(cut.rounds, 4) == std::vector<Pairs>{{{0, 1}}, {{1, 2}}, {{0, 1}}, {{1, 2}}});
  // Rows 2 and 3 read each other across the cut.
  CHECK(cut.node == std::vector<Index>{2, 0, 1, 3, 4, 5});
  CHECK(split_of(a, {0, 6}, 1, {4, 1, 1}, 1).rounds.round_first.size() == 6);
}

TEST_CASE("A node with far more neighbours than the others keeps its entries", "[ehyb][pairs]") {
  const HostCsr a = arrow_matrix(100);
  const auto split = split_of(a, {0, 100}, 1, {8, 1000, 1}, 1);
  CHECK(split.rounds.pairs == 0);
  CHECK(static_cast<Offset>(split.col.size()) == a.nnz());
}

TEST_CASE("Entries without an opposite are in no pair", "[ehyb][pairs]") {
  MapRows rows(40);
  for (Index i = 0; i < 40; ++i) {
    rows[i][i] = 2;
    if (i + 1 < 40) rows[i][i + 1] = 1;
  }
  CHECK(split_of(from_rows(40, rows), {0, 40}, 1, {8, 1000, 1}, 1).rounds.pairs == 0);
}

TEST_CASE("Every entry is in one pair or among the rest, in parts and blocks of every kind", "[ehyb][pairs]") {
  for (const auto& [name, a] : awkward_square_matrices()) {
    INFO(name);
    for (const Index parts : {1, 3, 17}) {
      if (a.rows == 0) continue;
      check_split(a, random_bounds(a.rows, parts, 1, 5), 1, {8, 1 + a.rows / (2 * parts), 1});
      check_split(a, random_bounds(a.rows, parts, 1, 5), 1, {8, 1 + a.rows / (2 * parts), 4});
    }
  }
  for (const int block : {2, 3}) {
    INFO("block " << block);
    const HostCsr a = blown_up(fem_matrix("generate:diffusion:7"), block);
    check_split(a, random_bounds(a.rows, 5, block, 6), block, {32, 20, 1});
    check_split(a, random_bounds(a.rows, 5, block, 6), block, {32, 20, 16});
    check_split(a, {0, a.rows}, block, {8, 1000, 1});
  }
}

TEST_CASE("Of a tetrahedral mesh nearly all pairs inside a part are in rounds that are nearly full",
          "[ehyb][pairs]") {
  const HostCsr a = fem_matrix("generate:diffusion:14");
  const auto split = split_of(a, {0, a.rows}, 1, {32, 512, 1}, 1);
  const auto all = static_cast<double>((a.nnz() - a.rows) / 2);
  CHECK(static_cast<double>(split.rounds.pairs) > 0.97 * all);
  CHECK(static_cast<double>(split.rounds.pairs) >
        0.9 * 512 * static_cast<double>(split.rounds.round_first.size() - 1));
}

TEST_CASE("Pairs side by side touch different banks, by both of their nodes", "[ehyb][pairs]") {
  const HostCsr a = fem_matrix("generate:diffusion:14");
  constexpr int lanes = 32, banks = 16;
  const auto crowding_for = [&](Index wanted) {
    return crowding(split_of(a, {0, a.rows}, 1, {lanes, 512, wanted}).rounds, lanes, banks);
  };
  CHECK(crowding_for(1) > 2.4);
  CHECK(crowding_for(banks) < 1.8);
}

TEST_CASE("Pairs take the places of their banks in turn", "[ehyb][pairs]") {
  // 0-4, 1-5, 2-6, 3-7 in one matching, two banks: 0 and 1 are of different banks, and so are 4 and 5.
  std::vector<detail::NodePair> pairs;
  for (const Index i : {0, 2, 1, 3}) pairs.push_back({i, i + 4, 0, 0});
  const auto order = [&](Index banks) {
    std::vector<Index> first;
    const std::vector<detail::PairRound> rounds = detail::matchings_of(pairs, 8, 4, banks);
    REQUIRE(rounds.size() == 1);
    for (const detail::NodePair& pair : rounds[0]) first.push_back(pair.i);
    return first;
  };
  CHECK(order(1) == std::vector<Index>{0, 2, 1, 3});
  CHECK(order(2) == std::vector<Index>{0, 1, 2, 3});
}

TEST_CASE("Rounds do not depend on the number of threads", "[ehyb][pairs]") {
  const HostCsr a = fem_matrix("generate:diffusion:9");
  const std::vector<Index> part_begin = random_bounds(a.rows, 9, 1, 7);
  const auto one = split_of(a, part_begin, 1, {8, 64, 4}, 1);
  const auto two = split_of(a, part_begin, 1, {8, 64, 4}, 2);
  const auto same = [](const auto& a, const auto& b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); };
  CHECK(same(one.rounds.nodes, two.rounds.nodes));
  CHECK(same(one.position, two.position));
  CHECK(same(one.node, two.node));
}
