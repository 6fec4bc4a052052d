// SPDX-License-Identifier: Apache-2.0
// Matchings of each part's graph, one after the other.
#include <purlin/spmv/ehyb_symmetric/pair_rounds.hpp>

#include <algorithm>
#include <numeric>

#include <purlin/core/parallel_for.hpp>

namespace purlin::detail {
namespace {

// Nodes of a part, and where their blocks begin in their rows.
struct Pair {
  Index i, j;
  Index upper, lower;
};

// All pairs of a part.
std::vector<Pair> pairs_of(const Pattern<Space::host>& a, Index first, Index last, int block) {
  std::vector<Pair> pairs;
  const auto row_of = [&](Index node) { return node * block; };
  for (Index i = first; i < last; ++i) {
    const Offset begin = a.row_begin(row_of(i)), end = a.row_begin(row_of(i) + 1);
    for (Offset k = begin; k < end; k += block) {
      const Index j = a.col.data[k] / block;
      if (j <= i) continue;
      if (j >= last) break;
      const Index* const opposite = a.col.data + a.row_begin(row_of(j));
      const Index* const opposite_end = a.col.data + a.row_begin(row_of(j) + 1);
      const Index* const found = std::lower_bound(opposite, opposite_end, row_of(i));
      if (found == opposite_end || *found != row_of(i)) continue;
      pairs.push_back({i - first, j - first, static_cast<Index>(k - begin), static_cast<Index>(found - opposite)});
    }
  }
  return pairs;
}

// Takes matchings from a graph, the fullest nodes first.
class Matchings {
 public:
  Matchings(const std::vector<Pair>& pairs, Index nodes)
      : pairs_(pairs), first_(static_cast<std::size_t>(nodes) + 1, 0), left_(nodes, 0), used_(nodes, -1) {
    for (const Pair& pair : pairs) ++left_[pair.i], ++left_[pair.j];
    std::partial_sum(left_.begin(), left_.end(), first_.begin() + 1);
    edge_.resize(2 * pairs.size());
    std::vector<Index> next(first_.begin(), first_.end() - 1);
    for (Index e = 0; e < static_cast<Index>(pairs.size()); ++e) {
      edge_[next[pairs[e].i]++] = e;
      edge_[next[pairs[e].j]++] = e;
    }
    taken_.assign(pairs.size(), false);
  }

  // Numbers of pairs, in the order of their first nodes.
  std::vector<Index> next(Index most) {
    std::vector<Index> round;
    for (const Index node : by_pairs_left()) {
      if (static_cast<Index>(round.size()) == most) break;
      if (used_[node] == rounds_) continue;
      const Index edge = best_of(node);
      if (edge < 0) continue;
      round.push_back(edge);
      used_[pairs_[edge].i] = used_[pairs_[edge].j] = rounds_;
    }
    for (const Index edge : round) {
      taken_[edge] = true;
      --left_[pairs_[edge].i], --left_[pairs_[edge].j];
    }
    ++rounds_;
    std::sort(round.begin(), round.end());
    return round;
  }

 private:
  // A counting sort, stable, descending.
  std::vector<Index> by_pairs_left() const {
    const Index nodes = static_cast<Index>(left_.size());
    const Index most = *std::max_element(left_.begin(), left_.end());
    std::vector<Index> begin(static_cast<std::size_t>(most) + 2, 0), sorted(nodes);
    for (const Index count : left_) ++begin[most - count + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    for (Index node = 0; node < nodes; ++node) sorted[begin[most - left_[node]]++] = node;
    return sorted;
  }

  // The pair of a node with the free partner that has the most left; -1 where there is none.
  Index best_of(Index node) const {
    Index best = -1, most = 0;
    if (left_[node] == 0) return best;
    for (Index k = first_[node]; k < first_[node + 1]; ++k) {
      const Index edge = edge_[k];
      const Index partner = pairs_[edge].i == node ? pairs_[edge].j : pairs_[edge].i;
      if (taken_[edge] || used_[partner] == rounds_ || left_[partner] <= most) continue;
      best = edge;
      most = left_[partner];
    }
    return best;
  }

  const std::vector<Pair>& pairs_;
  std::vector<Index> first_, edge_;  // the pairs of each node
  std::vector<Index> left_;          // of a node
  std::vector<Index> used_;          // in which round last
  std::vector<bool> taken_;
  Index rounds_ = 0;
};

// The rounds of a part.
using Rounds = std::vector<std::vector<Pair>>;

Rounds rounds_of(const std::vector<Pair>& pairs, Index nodes, Index most_pairs) {
  Rounds rounds;
  if (pairs.empty()) return rounds;
  const auto full = static_cast<std::size_t>(std::min(most_pairs, nodes / 2));
  Matchings matchings(pairs, nodes);
  for (std::size_t left = pairs.size(); left > 0;) {
    const std::vector<Index> taken = matchings.next(most_pairs);
    if (4 * taken.size() < full) break;
    left -= taken.size();
    std::vector<Pair> round;
    for (const Index pair : taken) round.push_back(pairs[pair]);
    rounds.push_back(std::move(round));
  }
  return rounds;
}

template <class V>
Array<V, Space::host> array_of(const Context<Space::host>& ctx, std::size_t size) {
  return Array<V, Space::host>(ctx, static_cast<std::int64_t>(size));
}

// How many rounds and places there are before each part.
void number_rounds(const Context<Space::host>& ctx, const std::vector<Rounds>& parts, int lanes,
                   PairRounds<Space::host>& result) {
  result.part_round = array_of<Index>(ctx, parts.size() + 1);
  Index rounds = 0;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    result.part_round[p] = rounds;
    rounds += static_cast<Index>(parts[p].size());
  }
  result.part_round[parts.size()] = rounds;
  result.round_first = array_of<Index>(ctx, static_cast<std::size_t>(rounds) + 1);
  Index place = 0, r = 0;
  for (const Rounds& part : parts) {
    for (const std::vector<Pair>& round : part) {
      const auto places = static_cast<Index>((round.size() + lanes - 1) / lanes);
      result.round_first[r++] = place;
      result.pairs += static_cast<Offset>(round.size());
      result.most_places = std::max(result.most_places, places);
      place += places;
    }
  }
  result.round_first[r] = place;
}

// The entries that are not in pairs, the nodes with the most of them first in their part.
void take_rest(const Context<Space::host>& ctx, const Pattern<Space::host>& a, const std::vector<Index>& part_begin,
               int block, const std::vector<char>& paired, SplitPattern& split) {
  std::vector<Offset> left(static_cast<std::size_t>(a.rows / block));  // entries of a node's first row
  split.node.resize(left.size());
  parallel_for(ctx, static_cast<std::int64_t>(part_begin.empty() ? 0 : part_begin.size() - 1), [&](std::int64_t p) {
    const Index first = part_begin[p] / block, last = part_begin[p + 1] / block;
    for (Index i = first; i < last; ++i) {
      split.node[i] = i;
      left[i] = std::count(paired.begin() + a.row_begin(i * block), paired.begin() + a.row_begin(i * block + 1), 0);
    }
    std::stable_sort(split.node.begin() + first, split.node.begin() + last,
                     [&](Index i, Index j) { return left[i] > left[j]; });
  });
  split.row_ptr.assign(static_cast<std::size_t>(a.rows) + 1, 0);
  for (Index row = 0; row < a.rows; ++row) {
    split.row_ptr[row + 1] = split.row_ptr[row] + left[split.node[row / block]];
  }
  split.col.resize(static_cast<std::size_t>(split.row_ptr.back()));
  split.position.resize(split.col.size());
#pragma omp parallel for schedule(static) num_threads(ctx.threads())
  for (Index row = 0; row < a.rows; ++row) {
    const Index from = split.node[row / block] * block + row % block;
    Offset to = split.row_ptr[row];
    for (Offset k = a.row_begin(from); k < a.row_begin(from + 1); ++k) {
      if (paired[k] != 0) continue;
      split.col[to] = a.col.data[k];
      split.position[to++] = k;
    }
  }
}

}  // namespace

SplitPattern split_pairs(const Context<Space::host>& ctx, const Pattern<Space::host>& a,
                         const std::vector<Index>& part_begin, int block, int lanes, Index most_pairs) {
  const std::size_t parts = part_begin.empty() ? 0 : part_begin.size() - 1;
  std::vector<Rounds> rounds(parts);
  parallel_for(ctx, static_cast<std::int64_t>(parts), [&](std::int64_t p) {
    const Index first = part_begin[p] / block, last = part_begin[p + 1] / block;
    rounds[p] = rounds_of(pairs_of(a, first, last, block), last - first, most_pairs);
  });

  SplitPattern split;
  PairRounds<Space::host>& result = split.rounds;
  number_rounds(ctx, rounds, lanes, result);
  const auto places = static_cast<std::size_t>(result.round_first[result.round_first.size() - 1]);
  result.nodes = array_of<std::uint32_t>(ctx, places * lanes);
  result.upper_run = array_of<Offset>(ctx, places * lanes * block);
  result.lower_run = array_of<Offset>(ctx, places * lanes * block);
  std::vector<char> paired(static_cast<std::size_t>(a.nnz()), 0);
  parallel_for(ctx, static_cast<std::int64_t>(parts), [&](std::int64_t p) {
    Index r = result.part_round[p];
    for (const std::vector<Pair>& round : rounds[p]) {
      for (Offset at = Offset{result.round_first[r]} * lanes; at < Offset{result.round_first[r + 1]} * lanes; ++at) {
        const auto number = static_cast<std::size_t>(at - Offset{result.round_first[r]} * lanes);
        const bool holds = number < round.size();
        const Pair pair = holds ? round[number] : Pair{};
        result.nodes[at] = holds ? static_cast<std::uint32_t>(pair.i) + (static_cast<std::uint32_t>(pair.j) << 16)
                                 : PairRounds<Space::host>::no_pair;
        for (int d = 0; d < block; ++d) {
          const Offset run = (at / lanes * block + d) * lanes + at % lanes;
          const Offset upper = holds ? a.row_begin(part_begin[p] + pair.i * block + d) + pair.upper : -1;
          const Offset lower = holds ? a.row_begin(part_begin[p] + pair.j * block + d) + pair.lower : -1;
          result.upper_run[run] = upper;
          result.lower_run[run] = lower;
          if (!holds) continue;
          std::fill_n(paired.begin() + upper, block, 1);
          std::fill_n(paired.begin() + lower, block, 1);
        }
      }
      ++r;
    }
  });

  take_rest(ctx, a, part_begin, block, paired, split);
  return split;
}

}  // namespace purlin::detail
