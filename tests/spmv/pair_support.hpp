// SPDX-License-Identifier: Apache-2.0
/// What rounds of pairs must hold, wherever they were found.
#pragma once

#include "spmv/ehyb_symmetric/pair_rounds.hpp"

#include "tests/catch.hpp"

namespace newel::testing {

using HostRounds = detail::PairRounds<Space::host>;

inline std::vector<Index> list_of(const Array<Index, Space::host>& a) { return {a.begin(), a.end()}; }

/// The pairs of each round, as they stand.
inline std::vector<std::vector<std::pair<Index, Index>>> pairs_of(const HostRounds& rounds, int lanes) {
  std::vector<std::vector<std::pair<Index, Index>>> all;
  for (Offset r = 0; r + 1 < rounds.round_first.size(); ++r) {
    all.emplace_back();
    for (Offset k = Offset{rounds.round_first[r]} * lanes; k < Offset{rounds.round_first[r + 1]} * lanes; ++k) {
      if (rounds.nodes[k] == HostRounds::no_pair) continue;
      all.back().emplace_back(static_cast<Index>(rounds.nodes[k] & 0xffff),
                              static_cast<Index>(rounds.nodes[k] >> 16));
    }
  }
  return all;
}

/// Every entry of `a` is in one pair or among the rest, pairs lie opposite each other in one part, and a node is in a
/// round once.
inline void check_split(const HostCsr& a, const std::vector<Index>& part_begin, int block,
                        const detail::PairShape& shape, const detail::SplitPattern<Space::host>& split) {
  const int lanes = shape.lanes;
  const HostRounds& rounds = split.rounds;
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
        const bool holds = rounds.nodes[k] != HostRounds::no_pair;
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

/// How many pairs share a bank, the most in each group of as many pairs as there are banks, by first and by second
/// nodes: their mean.
inline double crowding(const HostRounds& rounds, int lanes, Index banks) {
  double sum = 0;
  Offset groups = 0;
  for (const auto& round : pairs_of(rounds, lanes)) {
    for (std::size_t first = 0; first + banks <= round.size(); first += banks, ++groups) {
      std::vector<int> of_first(banks, 0), of_second(banks, 0);
      for (std::size_t k = first; k < first + banks; ++k) {
        ++of_first[round[k].first % banks];
        ++of_second[round[k].second % banks];
      }
      sum +=
          *std::max_element(of_first.begin(), of_first.end()) + *std::max_element(of_second.begin(), of_second.end());
    }
  }
  return sum / static_cast<double>(2 * groups);
}

}  // namespace newel::testing
