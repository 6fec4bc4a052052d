// SPDX-License-Identifier: Apache-2.0
// Matchings of each part's graph, one after the other.
#include "spmv/ehyb_symmetric/pair_rounds.hpp"

#include <algorithm>
#include <numeric>

#include <newel/core/parallel.hpp>
#include "spmv/ehyb_symmetric/pair_matchings.hpp"

namespace newel::detail {
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
      pairs.push_back({i - first, j - first, static_cast<Index>(k - begin) / block,
                       static_cast<Index>(found - opposite) / block});
    }
  }
  return pairs;
}

template <class V>
Array<V, Space::host> array_of(const Context<Space::host>& ctx, std::size_t size) {
  return Array<V, Space::host>(ctx, static_cast<std::int64_t>(size));
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
void take_rest(const Context<Space::host>& ctx, const Pattern<Space::host>& a, const std::vector<Index>& node_begin,
               int block, const BlockMarks& paired, SplitPattern<Space::host>& split) {
  const Index nodes = a.rows / block;
  Array<Index, Space::host> left(ctx, nodes);  // blocks of a node
  parallel_for(ctx, nodes, [&](Index i) {
    left[i] = static_cast<Index>(std::count(paired.of(i), paired.of(i) + paired.blocks(i), 0));
  });
  split.node = fullest_first(ctx, left.cspan(), node_begin);
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
  parallel_for(ctx, a.rows, [&](Index row) {
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
  });
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
        result.upper_run[run] = holds ? a.row_begin(i * block + d) + pair.upper * block : -1;
        result.lower_run[run] = holds ? a.row_begin(j * block + d) + pair.lower * block : -1;
      }
      if (holds) paired.of(i)[pair.upper] = paired.of(j)[pair.lower] = 1;
    }
    ++r;
  }
}

}  // namespace

PairRounds<Space::host> number_rounds(const Context<Space::host>& ctx,
                                      const std::vector<std::vector<Index>>& pairs_of_rounds, int lanes) {
  PairRounds<Space::host> result;
  const std::size_t parts = pairs_of_rounds.size();
  result.part_round = array_of<Index>(ctx, parts + 1);
  Index rounds = 0;
  for (std::size_t p = 0; p < parts; ++p) {
    result.part_round[p] = rounds;
    rounds += static_cast<Index>(pairs_of_rounds[p].size());
  }
  result.part_round[parts] = rounds;
  result.round_first = array_of<Index>(ctx, static_cast<std::size_t>(rounds) + 1);
  Index place = 0, r = 0;
  for (const std::vector<Index>& part : pairs_of_rounds) {
    for (const Index pairs : part) {
      const Index places = (pairs + lanes - 1) / lanes;
      result.round_first[r++] = place;
      result.pairs += pairs;
      result.most_places = std::max(result.most_places, places);
      place += places;
    }
  }
  result.round_first[r] = place;
  return result;
}

std::vector<Index> bounds_of_nodes(std::vector<Index> part_begin, int block) {
  for (Index& begin : part_begin) begin /= block;
  return part_begin;
}

std::vector<Index> fullest_first(const Context<Space::host>& ctx, Span<const Index, Space::host> blocks,
                                 const std::vector<Index>& node_begin) {
  std::vector<Index> node(static_cast<std::size_t>(blocks.size));
  parallel_tasks(ctx, static_cast<std::int64_t>(node_begin.empty() ? 0 : node_begin.size() - 1), [&](std::int64_t p) {
    const auto first = node.begin() + node_begin[p], last = node.begin() + node_begin[p + 1];
    std::iota(first, last, node_begin[p]);
    std::stable_sort(first, last, [&](Index i, Index j) { return blocks[i] > blocks[j]; });
  });
  return node;
}

SplitPattern<Space::host> split_pairs(const Context<Space::host>& ctx, const Pattern<Space::host>& a,
                                      const std::vector<Index>& part_begin, int block, const PairShape& shape) {
  const std::vector<Index> node_begin = bounds_of_nodes(part_begin, block);
  const std::size_t parts = node_begin.empty() ? 0 : node_begin.size() - 1;
  std::vector<Rounds> rounds(parts);
  parallel_tasks(ctx, static_cast<std::int64_t>(parts), [&](std::int64_t p) {
    const Index first = node_begin[p], last = node_begin[p + 1];
    rounds[p] = matchings_of(pairs_of(a, first, last, block), last - first, shape.most_pairs, shape.banks);
  });

  SplitPattern<Space::host> split;
  std::vector<std::vector<Index>> pairs_of_rounds(parts);
  for (std::size_t p = 0; p < parts; ++p) {
    for (const PairRound& round : rounds[p]) pairs_of_rounds[p].push_back(static_cast<Index>(round.size()));
  }
  PairRounds<Space::host>& result = split.rounds;
  result = number_rounds(ctx, pairs_of_rounds, shape.lanes);
  const auto pairs = static_cast<std::size_t>(result.round_first[result.round_first.size() - 1]) * shape.lanes;
  result.nodes = array_of<std::uint32_t>(ctx, pairs);
  result.upper_run = array_of<Offset>(ctx, pairs * block);
  result.lower_run = array_of<Offset>(ctx, pairs * block);
  BlockMarks paired(a, block);
  parallel_tasks(ctx, static_cast<std::int64_t>(parts), [&](std::int64_t p) {
    fill_rounds(a, node_begin[p], block, shape.lanes, rounds[p], result.part_round[p], result, paired);
  });
  take_rest(ctx, a, node_begin, block, paired, split);
  return split;
}

void point_into(const Context<Space::host>& ctx, Span<const Offset, Space::host> position,
                Array<Offset, Space::host>& sources) {
  parallel_for(ctx, sources.size(), [&](Offset k) {
    if (sources[k] >= 0) sources[k] = position[sources[k]];
  });
}

}  // namespace newel::detail
