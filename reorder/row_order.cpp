// SPDX-License-Identifier: Apache-2.0
// Orders given by the caller, and the permuted matrix with its value map.
#include <purlin/reorder/row_order.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include <purlin/core/error.hpp>
#include <purlin/core/instantiate.hpp>
#include <purlin/core/row_scratch.hpp>
#include <purlin/core/vector_ops.hpp>
#include <purlin/reorder/host_pattern.hpp>

namespace purlin {
namespace {

std::vector<Index> inverse_of(const std::vector<Index>& old_of_new) {
  const auto n = static_cast<Index>(old_of_new.size());
  std::vector<Index> new_of_old(old_of_new.size(), -1);
  for (Index i = 0; i < n; ++i) {
    const Index old = old_of_new[i];
    if (old < 0 || old >= n) {
      throw InputError("old_of_new[" + std::to_string(i) + "] is " + std::to_string(old) + ", outside 0 .. " +
                       std::to_string(n - 1));
    }
    if (new_of_old[old] >= 0) {
      throw InputError("old_of_new names row " + std::to_string(old) + " twice, at " +
                       std::to_string(new_of_old[old]) + " and " + std::to_string(i));
    }
    new_of_old[old] = i;
  }
  return new_of_old;
}

struct PermutedPattern {
  Array<Offset, Space::host> row_ptr;
  Array<Index, Space::host> col;
  Array<Offset, Space::host> source;  // position of each entry in the old matrix
};

PermutedPattern permute_pattern(const Context<Space::host>& ctx, const Pattern<Space::host>& a,
                                Span<const Index, Space::host> old_of_new,
                                Span<const Index, Space::host> new_of_old) {
  PermutedPattern p;
  p.row_ptr = Array<Offset, Space::host>(ctx, Offset{a.rows} + 1);
  p.row_ptr[0] = 0;
  for (Index i = 0; i < a.rows; ++i) {
    const Index old = old_of_new[i];
    p.row_ptr[i + 1] = p.row_ptr[i] + a.row_begin(old + 1) - a.row_begin(old);
  }
  p.col = Array<Index, Space::host>(ctx, a.nnz());
  p.source = Array<Offset, Space::host>(ctx, a.nnz());
  detail::RowScratch<std::pair<Index, Offset>> rows(ctx, a);
#pragma omp parallel num_threads(ctx.threads())
  {
    std::vector<std::pair<Index, Offset>>& row = rows.mine();
#pragma omp for schedule(static)
    for (Index i = 0; i < a.rows; ++i) {
      const Index old = old_of_new[i];
      row.clear();
      for (Offset k = a.row_begin(old); k < a.row_begin(old + 1); ++k) row.emplace_back(new_of_old[a.col[k]], k);
      std::sort(row.begin(), row.end());
      for (std::size_t k = 0; k < row.size(); ++k) {
        p.col[p.row_ptr[i] + static_cast<Offset>(k)] = row[k].first;
        p.source[p.row_ptr[i] + static_cast<Offset>(k)] = row[k].second;
      }
    }
  }
  return p;
}

}  // namespace

template <Space S>
RowOrder<S> make_row_order(const Context<S>& ctx, const std::vector<Index>& old_of_new,
                           std::vector<Index> part_begin) {
  RowOrder<S> order;
  order.new_of_old = make_array(ctx, inverse_of(old_of_new));
  order.old_of_new = make_array(ctx, old_of_new);
  order.part_begin = std::move(part_begin);
  return order;
}

template <class T, Space S>
PermutedCsr<T, S> permute(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order) {
  if (a.rows != a.cols) throw InputError("only a square matrix is renumbered by rows and columns");
  if (order.old_of_new.size() != a.rows) {
    throw InputError("an order of " + std::to_string(order.old_of_new.size()) + " rows for a matrix of " +
                     std::to_string(a.rows));
  }
  const detail::HostPattern pattern(ctx, a);
  const Context<Space::host> host = host_context(ctx);
  const auto old_of_new = to_vector(ctx, order.old_of_new.cspan());
  const auto new_of_old = to_vector(ctx, order.new_of_old.cspan());
  const PermutedPattern p =
      permute_pattern(host, pattern.view(), {old_of_new.data(), a.rows}, {new_of_old.data(), a.rows});

  PermutedCsr<T, S> result;
  result.matrix.rows = a.rows;
  result.matrix.cols = a.cols;
  result.matrix.row_ptr = make_array(ctx, p.row_ptr.span());
  result.matrix.col = make_array(ctx, p.col.span());
  const Array<Offset, S> source = make_array(ctx, p.source.span());
  result.matrix.val = Array<T, S>(ctx, a.nnz());
  gather<T, S>(ctx, a.val, make_value_map(ctx, source.cspan(), a.nnz()), result.matrix.val.span());
  result.value_map = make_value_map(ctx, source.cspan(), a.nnz(), a.value_map);
  return result;
}

#define X(S) template RowOrder<S> make_row_order(const Context<S>&, const std::vector<Index>&, std::vector<Index>);
PURLIN_FOR_SPACES(X)
#undef X
#define X(T, S) template PermutedCsr<T, S> permute(const Context<S>&, const CsrView<T, S>&, const RowOrder<S>&);
PURLIN_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace purlin
