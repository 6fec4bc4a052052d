// SPDX-License-Identifier: Apache-2.0
// Norms of blocks, their comparison, and the graph of what is strong in either direction.
#include <purlin/precond/amg/strength.hpp>

#include <algorithm>
#include <cmath>

#include <purlin/core/parallel.hpp>
#include <purlin/reorder/exclusive_sum.hpp>

namespace purlin::detail {
namespace {

double squared_norm(const HostBlockCsr& a, Offset k) {
  double sum = 0;
  for (int e = 0; e < a.block_size(); ++e) sum += a.block(k)[e] * a.block(k)[e];
  return sum;
}

// Row i of the graph: strong blocks of row i, and rows whose block in column i is strong.
template <class F>
void for_neighbours(const HostBlockPattern& a, const TransposedPattern<Space::host>& t,
                    const std::vector<unsigned char>& strong, Index i, F&& f) {
  Offset k = a.row_ptr[i], l = t.pattern.row_ptr[i];
  const Offset k_end = a.row_ptr[i + 1], l_end = t.pattern.row_ptr[i + 1];
  while (k < k_end || l < l_end) {
    const Index of_row = k < k_end ? a.col[k] : a.rows, of_column = l < l_end ? t.pattern.col[l] : a.rows;
    const bool in_either = (of_row <= of_column && strong[k]) || (of_column <= of_row && strong[t.source[l]]);
    f(std::min(of_row, of_column), of_row <= of_column ? k : Offset{-1}, in_either);
    if (of_row <= of_column) ++k;
    if (of_column <= of_row) ++l;
  }
}

// The graph; and what is strong in either direction becomes so in both.
HostBlockPattern union_with_transposed(const HostContext& ctx, const HostBlockPattern& a,
                                       std::vector<unsigned char>& strong) {
  const TransposedPattern<Space::host> t = transpose(ctx, a);
  HostBlockPattern graph;
  graph.rows = graph.cols = a.rows;
  graph.row_ptr = Array<Offset, Space::host>(ctx, Offset{a.rows} + 1);
  graph.row_ptr[a.rows] = 0;
  parallel_for(ctx, a.rows, [&](Index i) {
    Offset count = 0;
    for_neighbours(a, t, strong, i, [&](Index, Offset, bool in_either) { count += in_either ? 1 : 0; });
    graph.row_ptr[i] = count;
  });
  exclusive_sum(ctx, graph.row_ptr);
  graph.col = Array<Index, Space::host>(ctx, graph.row_ptr[a.rows]);
  std::vector<unsigned char> both(strong.size());
  parallel_for(ctx, a.rows, [&](Index i) {
    Offset at = graph.row_ptr[i];
    for_neighbours(a, t, strong, i, [&](Index j, Offset k, bool in_either) {
      if (in_either) graph.col[at++] = j;
      if (k >= 0) both[k] = in_either || j == i ? 1 : 0;
    });
  });
  strong = std::move(both);
  return graph;
}

}  // namespace

Strength<Space::host> find_strength(const HostContext& ctx, const HostBlockCsr& a, double theta) {
  const HostBlockPattern& pattern = a.pattern;
  Strength<Space::host> result;
  std::vector<double> diagonal(static_cast<std::size_t>(pattern.rows));
  parallel_for(ctx, pattern.rows, [&](Index i) {
    const Offset at = diagonal_at(pattern, i);
    diagonal[i] = at < 0 ? 0.0 : std::sqrt(squared_norm(a, at));
  });
  std::vector<unsigned char>& strong = result.kept;
  strong.resize(static_cast<std::size_t>(pattern.blocks()));
  std::vector<unsigned char> dominated(diagonal.size());
  const double bound = rounded_to_16_bits(theta * theta);
  parallel_blocks(ctx, pattern.rows, 512, [&](Index i) {
    double others = 0;
    for (Offset k = pattern.row_ptr[i]; k < pattern.row_ptr[i + 1]; ++k) {
      const Index j = pattern.col[k];
      const double square = squared_norm(a, k);
      const double scale = diagonal[i] * diagonal[j];
      const bool large = scale == 0 || reaches(square / scale, bound);
      strong[k] = j != i && square > 0 && large ? 1 : 0;
      if (j != i) others += std::sqrt(square);
    }
    dominated[i] = rounded_to_16_bits(others) <= rounded_to_16_bits(dominated_share * diagonal[i]) ? 1 : 0;
  });
  result.graph = union_with_transposed(ctx, pattern, strong);
  result.all_kept = std::all_of(strong.begin(), strong.end(), [](unsigned char k) { return k != 0; });
  result.left_out.resize(diagonal.size());
  parallel_blocks(ctx, pattern.rows, 512, [&](Index i) {
    const bool alone = result.graph.row_ptr[i] == result.graph.row_ptr[i + 1];
    result.left_out[i] = alone && dominated[i] ? 1 : 0;
  });
  return result;
}

}  // namespace purlin::detail
