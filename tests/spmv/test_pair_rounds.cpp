// SPDX-License-Identifier: Apache-2.0
// Pairs of opposite blocks and their rounds: by hand on a path, then as a partition of every entry.
#include "tests/catch.hpp"
#include "tests/spmv/ehyb_support.hpp"
#include "tests/support.hpp"

#include <algorithm>
#include <set>

#include <purlin/spmv/ehyb_symmetric/pair_matchings.hpp>
#include <purlin/spmv/ehyb_symmetric/pair_rounds.hpp>

using namespace purlin;
using namespace purlin::testing;
using detail::PairShape;
using detail::split_pairs;
using detail::SplitPattern;

namespace {

constexpr Space host = Space::host;
using Rounds = detail::PairRounds<host>;

Pattern<host> view(const HostCsr& a) {
  Pattern<host> p;
  p.rows = a.rows;
  p.cols = a.cols;
  p.row_ptr64 = {a.row_ptr.data(), static_cast<std::int64_t>(a.row_ptr.size())};
  p.col = {a.col.data(), a.nnz()};
  return p;
}

std::vector<Index> list_of(const Array<Index, host>& a) { return {a.begin(), a.end()}; }

// The pairs of each round, as they stand.
std::vector<std::vector<std::pair<Index, Index>>> pairs_of(const Rounds& rounds, int lanes) {
  std::vector<std::vector<std::pair<Index, Index>>> all;
  for (Offset r = 0; r + 1 < rounds.round_first.size(); ++r) {
    all.emplace_back();
    for (Offset k = Offset{rounds.round_first[r]} * lanes; k < Offset{rounds.round_first[r + 1]} * lanes; ++k) {
      if (rounds.nodes[k] == Rounds::no_pair) continue;
      all.back().emplace_back(static_cast<Index>(rounds.nodes[k] & 0xffff),
                              static_cast<Index>(rounds.nodes[k] >> 16));
    }
  }
  return all;
}

// Every entry of `a` is in one pair or among the rest, pairs lie opposite each other in one part, and a node is in a
// round once.
void check_split(const HostCsr& a, const std::vector<Index>& part_begin, int block, const PairShape& shape) {
  const SplitPattern split = split_pairs(Context<host>(2), view(a), part_begin, block, shape);
  const int lanes = shape.lanes;
  const Rounds& rounds = split.rounds;
  const std::size_t parts = part_begin.size() - 1;
  REQUIRE(rounds.part_round.size() == static_cast<std::int64_t>(part_begin.size()));
  std::vector<int> seen(static_cast<std::size_t>(a.nnz()), 0);
  const auto row_of = [&](Offset position) {
    return static_cast<Index>(std::upper_bound(a.row_ptr.begin(), a.row_ptr.end(), position) - a.row_ptr.begin()) - 1;
  };
  Offset pairs = 0;
  for (std::size_t p = 0; p < parts; ++p) {
    for (Index r = rounds.part_round[p]; r < rounds.part_round[p + 1]; ++r) {
      std::set<Index> nodes;
      Offset here = 0;
      for (Offset k = Offset{rounds.round_first[r]} * lanes; k < Offset{rounds.round_first[r + 1]} * lanes; ++k) {
        const bool holds = rounds.nodes[k] != Rounds::no_pair;
        const Index i = part_begin[p] / block + static_cast<Index>(rounds.nodes[k] & 0xffff);
        const Index j = part_begin[p] / block + static_cast<Index>(rounds.nodes[k] >> 16);
        if (holds) {
          CHECK(i < j);
          CHECK(j * block < part_begin[p + 1]);
          CHECK(nodes.insert(i).second);
          CHECK(nodes.insert(j).second);
          ++here;
        }
        for (int d = 0; d < block; ++d) {
          const Offset run = (k / lanes * block + d) * lanes + k % lanes;
          const Offset upper = rounds.upper_run[run], lower = rounds.lower_run[run];
          if (!holds) {
            CHECK((upper == -1 && lower == -1));
            continue;
          }
          CHECK(row_of(upper) == i * block + d);
          CHECK(row_of(lower) == j * block + d);
          for (int e = 0; e < block; ++e) {
            CHECK(a.col[upper + e] == j * block + e);
            CHECK(a.col[lower + e] == i * block + e);
            ++seen[upper + e];
            ++seen[lower + e];
          }
        }
      }
      CHECK(here <= shape.most_pairs);
      CHECK(rounds.round_first[r + 1] - rounds.round_first[r] <= rounds.most_places);
      pairs += here;
    }
  }
  CHECK(rounds.pairs == pairs);
  for (Index row = 0; row < a.rows; ++row) {
    const Index from = split.node[row / block] * block + row % block;
    for (Offset k = split.row_ptr[row]; k < split.row_ptr[row + 1]; ++k) {
      CHECK(row_of(split.position[k]) == from);
      CHECK(a.col[split.position[k]] == split.col[k]);
      ++seen[split.position[k]];
    }
  }
  CHECK(std::count(seen.begin(), seen.end(), 1) == a.nnz());
  for (std::size_t p = 0; p < parts; ++p) {  // the nodes of a part, the fullest first
    std::set<Index> nodes;
    for (Index i = part_begin[p] / block; i < part_begin[p + 1] / block; ++i) {
      CHECK(nodes.insert(split.node[i]).second);
      const auto left = [&](Index n) { return split.row_ptr[n * block + 1] - split.row_ptr[n * block]; };
      if (i > part_begin[p] / block) CHECK(left(i) <= left(i - 1));
    }
    if (!nodes.empty()) {
      CHECK(*nodes.begin() == part_begin[p] / block);
      CHECK(*nodes.rbegin() == part_begin[p + 1] / block - 1);
    }
  }
}

}  // namespace

// 0 - 1 - 2 - 3 - 4 - 5: the nodes inside the path have two pairs each and are served first.
TEST_CASE("The pairs of a path take two rounds, the second of those that waited", "[ehyb][pairs]") {
  const HostCsr a = tridiagonal_matrix(6);
  const SplitPattern split = split_pairs(Context<host>(1), view(a), {0, 6}, 1, {4, 100, 1});
  using Pairs = std::vector<std::pair<Index, Index>>;
  CHECK(pairs_of(split.rounds, 4) == std::vector<Pairs>{{{1, 2}, {3, 4}}, {{0, 1}, {2, 3}, {4, 5}}});
  CHECK(split.rounds.pairs == 5);
  CHECK(list_of(split.col) == std::vector<Index>{0, 1, 2, 3, 4, 5});
  CHECK(list_of(split.node) == std::vector<Index>{0, 1, 2, 3, 4, 5});
}

TEST_CASE("Pairs do not cross parts, and rounds have as many pairs as are allowed", "[ehyb][pairs]") {
  const HostCsr a = tridiagonal_matrix(6);
  using Pairs = std::vector<std::pair<Index, Index>>;
  const SplitPattern cut = split_pairs(Context<host>(1), view(a), {0, 3, 6}, 1, {4, 100, 1});
  CHECK(pairs_of(cut.rounds, 4) == std::vector<Pairs>{{{0, 1}}, {{1, 2}}, {{0, 1}}, {{1, 2}}});
  // Rows 2 and 3 read each other across the cut.
  CHECK(list_of(cut.node) == std::vector<Index>{2, 0, 1, 3, 4, 5});
  CHECK(split_pairs(Context<host>(1), view(a), {0, 6}, 1, {4, 1, 1}).rounds.round_first.size() == 6);
}

TEST_CASE("A node with far more neighbours than the others keeps its entries", "[ehyb][pairs]") {
  const HostCsr a = arrow_matrix(100);
  const SplitPattern split = split_pairs(Context<host>(1), view(a), {0, 100}, 1, {8, 1000, 1});
  CHECK(split.rounds.pairs == 0);
  CHECK(static_cast<Offset>(split.col.size()) == a.nnz());
}

TEST_CASE("Entries without an opposite are in no pair", "[ehyb][pairs]") {
  Rows rows(40);
  for (Index i = 0; i < 40; ++i) {
    rows[i][i] = 2;
    if (i + 1 < 40) rows[i][i + 1] = 1;
  }
  CHECK(split_pairs(Context<host>(1), view(from_rows(40, rows)), {0, 40}, 1, {8, 1000, 1}).rounds.pairs == 0);
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
  const SplitPattern split = split_pairs(Context<host>(1), view(a), {0, a.rows}, 1, {32, 512, 1});
  const auto all = static_cast<double>((a.nnz() - a.rows) / 2);
  CHECK(static_cast<double>(split.rounds.pairs) > 0.97 * all);
  CHECK(static_cast<double>(split.rounds.pairs) >
        0.9 * 512 * static_cast<double>(split.rounds.round_first.size() - 1));
}

TEST_CASE("Pairs side by side touch different banks, by both of their nodes", "[ehyb][pairs]") {
  const HostCsr a = fem_matrix("generate:diffusion:14");
  constexpr int lanes = 32, banks = 16;
  // The most pairs that share a bank, in each group of as many pairs as there are banks: their mean.
  const auto crowding = [&](Index wanted) {
    const SplitPattern split = split_pairs(Context<host>(1), view(a), {0, a.rows}, 1, {lanes, 512, wanted});
    double sum = 0;
    Offset groups = 0;
    for (const auto& round : pairs_of(split.rounds, lanes)) {
      for (std::size_t first = 0; first + banks <= round.size(); first += banks, ++groups) {
        int of_first[banks] = {}, of_second[banks] = {};
        for (std::size_t k = first; k < first + banks; ++k) {
          ++of_first[round[k].first % banks];
          ++of_second[round[k].second % banks];
        }
        sum += *std::max_element(of_first, of_first + banks) + *std::max_element(of_second, of_second + banks);
      }
    }
    return sum / static_cast<double>(2 * groups);
  };
  CHECK(crowding(1) > 2.4);
  CHECK(crowding(banks) < 1.8);
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
  const SplitPattern one = split_pairs(Context<host>(1), view(a), part_begin, 1, {8, 64, 4});
  const SplitPattern two = split_pairs(Context<host>(2), view(a), part_begin, 1, {8, 64, 4});
  const auto same = [](const auto& a, const auto& b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); };
  CHECK(same(one.rounds.nodes, two.rounds.nodes));
  CHECK(same(one.position, two.position));
  CHECK(same(one.node, two.node));
}
