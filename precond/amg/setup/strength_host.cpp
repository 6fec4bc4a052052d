// SPDX-License-Identifier: Apache-2.0
// Norms of blocks, their comparison, and the graph of what is strong in either direction.
#include "precond/amg/setup/strength.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include <newel/core/parallel.hpp>
#include "precond/amg/blocks/pattern_rows.hpp"
#include "precond/amg/blocks/symmetry_sum.hpp"
#include "reorder/exclusive_sum.hpp"

namespace newel::detail {
namespace {

// Row i of the graph: strong blocks of row i, and rows whose block in column i is strong.
template <class F>
void for_neighbours(const HostBlockPattern& a, const TransposedPattern<Space::host>& t,
                    const std::vector<unsigned char>& strong, Index i, F&& f) {
  Offset k = a.row_ptr[i], l = t.pattern.row_ptr[i];
  const auto own_end = std::lower_bound(a.col.data() + k, a.col.data() + a.row_ptr[i + 1], a.rows);
  const Offset k_end = own_end - a.col.data(), l_end = t.pattern.row_ptr[i + 1];
  while (k < k_end || l < l_end) {
    const Index of_row = k < k_end ? a.col[k] : a.rows, of_column = l < l_end ? t.pattern.col[l] : a.rows;
    const bool in_either = (of_row <= of_column && strong[k]) || (of_column <= of_row && strong[t.source[l]]);
    f(std::min(of_row, of_column), of_row <= of_column ? k : Offset{-1}, in_either);
    if (of_row <= of_column) ++k;
    if (of_column <= of_row) ++l;
  }
}

// The graph of what is strong in both directions, of which `row_ptr` holds the numbers of strong blocks.
HostBlockPattern graph_of(const HostContext& ctx, const HostBlockPattern& a, Array<Offset, Space::host> row_ptr,
                          const std::vector<unsigned char>& strong) {
  HostBlockPattern graph;
  graph.rows = graph.cols = a.rows;
  graph.row_ptr = std::move(row_ptr);
  exclusive_sum(ctx, graph.row_ptr);
  graph.col = Array<Index, Space::host>(ctx, graph.row_ptr[a.rows]);
  parallel_for(ctx, a.rows, [&](Index i) {
    Offset at = graph.row_ptr[i];
    for (Offset k = a.row_ptr[i]; at < graph.row_ptr[i + 1]; ++k) {
      graph.col[at] = a.col[k];  // and again by the next one where it is weak
      at += (strong[k] != 0) & (a.col[k] != i) & (a.col[k] < a.rows) ? 1 : 0;
    }
  });
  return graph;
}

// The graph; and what is strong in either direction becomes so in both. Columns of other ranks stay as they are.
HostBlockPattern union_with_transposed(const HostContext& ctx, const HostBlockPattern& a,
                                       std::vector<unsigned char>& strong) {
  const TransposedPattern<Space::host> t = transpose(ctx, a);
  std::vector<unsigned char> both(strong);
  HostBlockPattern graph = pattern_by_rows(ctx, a.rows, a.rows, [&](Index i, int, std::vector<Index>& columns) {
    for_neighbours(a, t, strong, i, [&](Index j, Offset k, bool in_either) {
      if (in_either && j != i) columns.push_back(j);
      if (k >= 0) both[k] = in_either ? 1 : 0;
    });
  });
  strong = std::move(both);
  return graph;
}

}  // namespace

std::vector<double> diagonal_norms(const HostContext& ctx, const HostBlockCsr& a) {
  std::vector<double> norms(static_cast<std::size_t>(a.pattern.rows));
  parallel_for(ctx, a.pattern.rows, [&](Index i) {
    const Offset at = diagonal_at(a.pattern, i);
    norms[i] = at < 0 ? 0.0 : std::sqrt(squared_norm(a, at));
  });
  return norms;
}

namespace {

// What decides about a row's blocks, and what is found out about them; blocks of single entries are compiled apart.
struct StrengthRows {
  const HostBlockCsr& a;
  const std::vector<double>& diagonal;
  double bound;
  std::vector<unsigned char>& strong;
  std::vector<unsigned char>& dominated;
  std::vector<unsigned char>& reaches_others;  // whether a strong block is in a column of another rank
  Array<Offset, Space::host>& strong_blocks;

  // The row's part of a sum that is 0 where strong blocks stand opposite to each other. Which blocks are strong is
  // not guessable: nothing branches on it, and a row with blocks close to the bound, which are few, is looked at
  // again.
  template <bool scalar>
  std::uint64_t find(Index i) const {
    const double clearly_large = 1.01 * bound, nearly_large = 0.99 * bound;  // saves divisions
    bool close = false;
    const std::uint64_t symmetry = find_by<scalar>(i, [&](double square, double scale) {
      const bool large = square > clearly_large * scale;
      close |= !large & (square > 0) & (square >= nearly_large * scale);
      return large & (square > 0);
    });
    if (!close) return symmetry;
    return find_by<scalar>(i, [&](double square, double scale) {
      return square > 0 && (square > clearly_large * scale || reaches(square / scale, bound));
    });
  }

 private:
  template <bool scalar, class IsLarge>
  std::uint64_t find_by(Index i, IsLarge&& is_large) const {
    const double own = diagonal[i];
    double others = 0;
    Offset count = 0;
    std::uint64_t symmetry = 0;
    for (Offset k = a.pattern.row_ptr[i]; k < a.pattern.row_ptr[i + 1]; ++k) {
      const Index j = a.pattern.col[k];
      const double square = scalar ? a.val[k] * a.val[k] : squared_norm(a, k);
      const std::uint64_t is_strong = is_large(square, own * diagonal[j]) & (j != i) ? 1 : 0;
      const std::uint64_t in_graph = is_strong & (j < a.pattern.rows ? 1 : 0);
      strong[k] = static_cast<unsigned char>(is_strong | (j == i ? 1 : 0));
      count += static_cast<Offset>(in_graph);
      symmetry += (0 - in_graph) & symmetry_term(i, j, 0);
      reaches_others[i] |= static_cast<unsigned char>(is_strong & ~in_graph);
      const double size = scalar ? std::fabs(a.val[k]) : std::sqrt(square);
      others += j != i ? size : 0;
    }
    strong_blocks[i] = count;
    dominated[i] = outweighs(dominated_share * own, others) ? 1 : 0;
    return symmetry;
  }

  // Whether `others` is no larger, both rounded to 16 bits; rounding decides only where they are close.
  static bool outweighs(double own, double others) {
    constexpr double margin = 1.0 / 4096;
    if (others > own * (1 + margin)) return false;
    return others < own * (1 - margin) || rounded_to_16_bits(others) <= rounded_to_16_bits(own);
  }
};

}  // namespace

Strength<Space::host> find_strength(const HostContext& ctx, const HostBlockCsr& a, double theta) {
  return find_strength(ctx, a, theta, diagonal_norms(ctx, a));
}

Strength<Space::host> find_strength(const HostContext& ctx, const HostBlockCsr& a, double theta,
                                    const std::vector<double>& diagonal) {
  const HostBlockPattern& pattern = a.pattern;
  const auto nodes = static_cast<std::size_t>(pattern.rows);
  Strength<Space::host> result;
  std::vector<unsigned char>& strong = result.kept;
  strong.resize(static_cast<std::size_t>(pattern.blocks()));
  std::vector<unsigned char> dominated(nodes), reaches_others(nodes);
  Array<Offset, Space::host> strong_blocks(ctx, Offset{pattern.rows} + 1);
  strong_blocks[pattern.rows] = 0;
  const StrengthRows rows{
      a, diagonal, rounded_to_16_bits(theta * theta), strong, dominated, reaches_others, strong_blocks};
  const auto symmetry = parallel_count<std::uint64_t>(
      ctx, pattern.rows, [&](Index i) { return a.block_size() == 1 ? rows.find<true>(i) : rows.find<false>(i); });
  result.graph = symmetry == 0 ? graph_of(ctx, pattern, std::move(strong_blocks), strong)
                               : union_with_transposed(ctx, pattern, strong);
  result.all_kept = parallel_all(ctx, pattern.blocks(), [&](Offset k) { return strong[k] != 0; });
  result.left_out.resize(nodes);
  parallel_blocks(ctx, pattern.rows, 512, [&](Index i) {
    const bool alone = result.graph.row_ptr[i] == result.graph.row_ptr[i + 1] && reaches_others[i] == 0;
    result.left_out[i] = alone && dominated[i] ? 1 : 0;
  });
  return result;
}

}  // namespace newel::detail
