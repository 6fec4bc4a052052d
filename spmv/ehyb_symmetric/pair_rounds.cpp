// SPDX-License-Identifier: Apache-2.0
// Matchings of each part's graph, one after the other.
#include <purlin/spmv/ehyb_symmetric/pair_rounds.hpp>

#include <algorithm>

#include <purlin/core/parallel_for.hpp>
#include <purlin/spmv/ehyb_symmetric/pair_matchings.hpp>

namespace purlin::detail {
namespace {

using Rounds = std::vector<PairRound>;  // of a part

// All pairs of a part.
std::vector<NodePair> pairs_of(const Pattern<Space::host>& a, Index first, Index last, int block) {
  std::vector<NodePair> pairs;
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
    for (const PairRound& round : part) {
      const auto places = static_cast<Index>((round.size() + lanes - 1) / lanes);
      result.round_first[r++] = place;
      result.pairs += static_cast<Offset>(round.size());
      result.most_places = std::max(result.most_places, places);
      place += places;
    }
  }
  result.round_first[r] = place;
}

// Marks blocks of the matrix, each by the first entry of the node's first row: rows of a node have the same length.
class BlockMarks {
 public:
  BlockMarks(const Pattern<Space::host>& a, int block)
      : a_(a), block_(block), marked_(static_cast<std::size_t>(a.nnz() / (Offset{block} * block)), 0) {}

  /// The marks of the blocks of a node, in their order.
  char* of(Index node) { return marked_.data() + first(node); }
  const char* of(Index node) const { return marked_.data() + first(node); }
  Index blocks(Index node) const { return static_cast<Index>(first(node + 1) - first(node)); }

 private:
  Offset first(Index node) const { return a_.row_begin(node * block_) / (Offset{block_} * block_); }

  const Pattern<Space::host>& a_;
  int block_;
  std::vector<char> marked_;
};

// The entries that are not in pairs, the nodes with the most of them first in their part.
void take_rest(const Context<Space::host>& ctx, const Pattern<Space::host>& a, const std::vector<Index>& part_begin,
               int block, const BlockMarks& paired, SplitPattern& split) {
  const Index nodes = a.rows / block;
  Array<Index, Space::host> left(ctx, nodes);  // blocks of a node
  split.node = Array<Index, Space::host>(ctx, nodes);
  parallel_for(ctx, static_cast<std::int64_t>(part_begin.empty() ? 0 : part_begin.size() - 1), [&](std::int64_t p) {
    const Index first = part_begin[p] / block, last = part_begin[p + 1] / block;
    for (Index i = first; i < last; ++i) {
      split.node[i] = i;
      left[i] = static_cast<Index>(std::count(paired.of(i), paired.of(i) + paired.blocks(i), 0));
    }
    std::stable_sort(split.node.begin() + first, split.node.begin() + last,
                     [&](Index i, Index j) { return left[i] > left[j]; });
  });
  split.row_ptr = Array<Offset, Space::host>(ctx, Offset{a.rows} + 1);
  Offset entries = 0;
  for (Index n = 0; n < nodes; ++n) {
    for (int d = 0; d < block; ++d) {
      split.row_ptr[Offset{n} * block + d] = entries;
      entries += Offset{left[split.node[n]]} * block;
    }
  }
  split.row_ptr[a.rows] = entries;
  split.col = Array<Index, Space::host>(ctx, entries);
  split.position = Array<Offset, Space::host>(ctx, entries);
#pragma omp parallel for schedule(static) num_threads(ctx.threads())
  for (Index row = 0; row < a.rows; ++row) {
    const Index node = split.node[row / block];
    const char* const marks = paired.of(node);
    const Offset from = a.row_begin(node * block + row % block);
    Offset to = split.row_ptr[row];
    for (Index k = 0; k < paired.blocks(node); ++k) {
      for (Offset e = from + Offset{k} * block; marks[k] == 0 && e < from + Offset{k + 1} * block; ++e) {
        split.col[to] = a.col.data[e];
        split.position[to++] = e;
      }
    }
  }
}

// The runs of a part's pairs, and marks on both blocks of each.
void fill_rounds(const Pattern<Space::host>& a, Index first_node, int block, int lanes, const Rounds& rounds, Index r,
                 PairRounds<Space::host>& result, BlockMarks& paired) {
  for (const PairRound& round : rounds) {
    const Offset first = Offset{result.round_first[r]} * lanes, last = Offset{result.round_first[r + 1]} * lanes;
    for (Offset at = first; at < last; ++at) {
      const auto number = static_cast<std::size_t>(at - first);
      const bool holds = number < round.size();
      const NodePair pair = holds ? round[number] : NodePair{};
      const Index i = first_node + pair.i, j = first_node + pair.j;
      result.nodes[at] = holds ? static_cast<std::uint32_t>(pair.i) + (static_cast<std::uint32_t>(pair.j) << 16)
                               : PairRounds<Space::host>::no_pair;
      for (int d = 0; d < block; ++d) {
        const Offset run = (at / lanes * block + d) * lanes + at % lanes;
        result.upper_run[run] = holds ? a.row_begin(i * block + d) + pair.upper : -1;
        result.lower_run[run] = holds ? a.row_begin(j * block + d) + pair.lower : -1;
      }
      if (holds) paired.of(i)[pair.upper / block] = paired.of(j)[pair.lower / block] = 1;
    }
    ++r;
  }
}

}  // namespace

SplitPattern split_pairs(const Context<Space::host>& ctx, const Pattern<Space::host>& a,
                         const std::vector<Index>& part_begin, int block, const PairShape& shape) {
  const std::size_t parts = part_begin.empty() ? 0 : part_begin.size() - 1;
  std::vector<Rounds> rounds(parts);
  parallel_for(ctx, static_cast<std::int64_t>(parts), [&](std::int64_t p) {
    const Index first = part_begin[p] / block, last = part_begin[p + 1] / block;
    rounds[p] = matchings_of(pairs_of(a, first, last, block), last - first, shape.most_pairs, shape.banks);
  });

  SplitPattern split;
  PairRounds<Space::host>& result = split.rounds;
  number_rounds(ctx, rounds, shape.lanes, result);
  const auto pairs = static_cast<std::size_t>(result.round_first[result.round_first.size() - 1]) * shape.lanes;
  result.nodes = array_of<std::uint32_t>(ctx, pairs);
  result.upper_run = array_of<Offset>(ctx, pairs * block);
  result.lower_run = array_of<Offset>(ctx, pairs * block);
  BlockMarks paired(a, block);
  parallel_for(ctx, static_cast<std::int64_t>(parts), [&](std::int64_t p) {
    fill_rounds(a, part_begin[p] / block, block, shape.lanes, rounds[p], result.part_round[p], result, paired);
  });
  take_rest(ctx, a, part_begin, block, paired, split);
  return split;
}

}  // namespace purlin::detail
