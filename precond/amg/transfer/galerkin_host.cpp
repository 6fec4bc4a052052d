// SPDX-License-Identifier: Apache-2.0
// Sparse matrix products row by row: a table finds the place of a column in the row.
#include "precond/amg/transfer/galerkin.hpp"

#include <algorithm>
#include <tuple>

#include <newel/core/parallel.hpp>
#include "core/threads/per_thread.hpp"
#include "core/vectors/wide_host.hpp"
#include "precond/amg/blocks/block_products.hpp"
#include "precond/amg/blocks/column_table.hpp"
#include "precond/amg/blocks/pattern_rows.hpp"

namespace newel::detail {
namespace {

using Tables = PerThread<ColumnTable>;

constexpr Index rows_at_once = 256, long_rows_at_once = 32;

// The row of the pattern: places count from its first block.
void add_row(const HostBlockPattern& c, Index i, ColumnTable& table) {
  ColumnTable::Row row = table.begin(c.row_ptr[i + 1] - c.row_ptr[i]);
  for (Offset k = c.row_ptr[i]; k < c.row_ptr[i + 1]; ++k) row.add(c.col[k]);
}

// Asks for the row of b that belongs to an entry of a some places on: rows of few entries, often in no order.
inline void prefetch_row(const HostBlockPattern& a, const HostBlockCsr& b, Offset k) {
  constexpr Offset pointer_ahead = 32, row_ahead = 16;
  if (k + pointer_ahead >= a.col.size()) return;
  __builtin_prefetch(&b.pattern.row_ptr[a.col[k + pointer_ahead]]);
  const Offset at = b.pattern.row_ptr[a.col[k + row_ahead]];
  __builtin_prefetch(b.pattern.col.data() + at);
  __builtin_prefetch(b.val.data() + at);
}

// The values of C = A B; block_of(k) is block k of A's pattern, with `transposed` that of a matrix whose blocks are
// transposed.
template <bool transposed, class BlockOf>
void values_of_product(const HostContext& ctx, const HostBlockPattern& a, BlockOf&& block_of, const HostBlockCsr& b,
                       Index at_once, HostBlockCsr& c) {
  Tables tables(ctx);
  const int size = c.block_size();
  parallel_blocks(ctx, a.rows, at_once, [&](Index i, int member) {
    ColumnTable& table = tables.of(member, c.pattern.cols);
    add_row(c.pattern, i, table);
    double* const values = c.block(c.pattern.row_ptr[i]);
    std::fill(values, c.block(c.pattern.row_ptr[i + 1]), 0.0);
    const auto for_products = [&](auto&& add) {
      for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
        const double* const block = block_of(k);
        for (Offset l = b.pattern.row_ptr[a.col[k]]; l < b.pattern.row_ptr[a.col[k] + 1]; ++l) {
          add(block, b.block(l), values + Offset{table.find(b.pattern.col[l])} * size);
        }
      }
    };
    if (size == 1 && b.block_size() == 1) {  // as in make_scalar_product
      return for_products([](const double* x, const double* y, double* to) { *to += *x * *y; });
    }
    with_wide_vectors([&] {
      for_products([&](const double* x, const double* y, double* to) {
        add_block_product<transposed>(c.row_block, b.row_block, b.col_block, x, y, to);
      });
    });
  });
}

bool scalar_blocks(const HostBlockCsr& a, const HostBlockCsr& b) {
  return a.block_size() == 1 && b.block_size() == 1;
}

// How many columns row i of a product may have.
Offset most_columns(const HostBlockPattern& a, const HostBlockPattern& b, Index i) {
  Offset most = 0;
  for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) most += b.row_ptr[a.col[k] + 1] - b.row_ptr[a.col[k]];
  return most;
}

// The product of single entries, pattern and values at once: to find a column's place takes as long as the sum.
// value_of(k) is that of block k of a.
template <class ValueOf>
void make_scalar_product(const HostContext& ctx, const HostBlockPattern& a, ValueOf&& value_of, const HostBlockCsr& b,
                         Index at_once, HostBlockCsr& c) {
  Tables tables(ctx);
  PerThread<std::vector<double>> sums(ctx);  // zeros between rows
  std::tie(c.pattern, c.val) =
      blocks_by_rows(ctx, a.rows, b.pattern.cols, at_once,
                     [&](Index i, int member, std::vector<Index>& columns, std::vector<double>& values) {
                       ColumnTable& table = tables.of(member, b.pattern.cols);
                       std::vector<double>& sum = sums.of(member);
                       const Offset most = most_columns(a, b.pattern, i);
                       if (static_cast<Offset>(sum.size()) < most) sum.resize(static_cast<std::size_t>(most), 0.0);
                       double* const to = sum.data();
                       ColumnTable::Row row = table.begin(most);
                       for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
                         prefetch_row(a, b, k);
                         const double value = value_of(k);
                         const Index* const col = b.pattern.col.data();
                         const double* const val = b.val.data();
                         const Offset end = b.pattern.row_ptr[a.col[k] + 1];
                         for (Offset l = b.pattern.row_ptr[a.col[k]]; l < end; ++l)
                           to[row.add(col[l])] += value * val[l];
                       }
                       const std::size_t first = columns.size();
                       columns.resize(first + row.count);
                       values.resize(columns.size());
                       Index* const column_to = columns.data() + first;
                       double* const value_to = values.data() + first;
                       table.ranked(row, [&](Index rank, Index column, Index place) {
                         column_to[rank] = column;
                         value_to[rank] = to[place];
                       });
                       std::fill_n(to, row.count, 0.0);
                     });
}

}  // namespace

HostBlockPattern product_pattern(const HostContext& ctx, const HostBlockPattern& a, const HostBlockPattern& b) {
  Tables tables(ctx);
  return pattern_by_rows(ctx, a.rows, b.cols, [&](Index i, int member, std::vector<Index>& columns) {
    ColumnTable& table = tables.of(member, b.cols);
    ColumnTable::Row row = table.begin(most_columns(a, b, i));
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      for (Offset l = b.row_ptr[a.col[k]]; l < b.row_ptr[a.col[k] + 1]; ++l) row.add(b.col[l]);
    }
    const std::size_t first = columns.size();
    columns.resize(first + row.count);
    Index* const to = columns.data() + first;
    table.ranked(row, [&](Index rank, Index column, Index) { to[rank] = column; });
  });
}

void product_values(const HostContext& ctx, const HostBlockCsr& a, const HostBlockCsr& b, HostBlockCsr& c) {
  values_of_product<false>(
      ctx, a.pattern, [&](Offset k) { return a.block(k); }, b, rows_at_once, c);
}

void transposed_product_values(const HostContext& ctx, const HostBlockCsr& p,
                               const TransposedPattern<Space::host>& pt, const HostBlockCsr& b, HostBlockCsr& c) {
  values_of_product<true>(
      ctx, pt.pattern, [&](Offset k) { return p.block(pt.source[k]); }, b, long_rows_at_once, c);
}

void make_product(const HostContext& ctx, const HostBlockCsr& a, const HostBlockCsr& b, HostBlockCsr& c) {
  if (scalar_blocks(a, b)) {
    return make_scalar_product(
        ctx, a.pattern, [&](Offset k) { return a.val[k]; }, b, rows_at_once, c);
  }
  c.pattern = product_pattern(ctx, a.pattern, b.pattern);
  c.val = Array<double, Space::host>(ctx, c.pattern.blocks() * c.block_size());
  product_values(ctx, a, b, c);
}

void make_transposed_product(const HostContext& ctx, const HostBlockCsr& p, const TransposedPattern<Space::host>& pt,
                             const HostBlockCsr& b, HostBlockCsr& c) {
  if (scalar_blocks(b, p)) {
    return make_scalar_product(
        ctx, pt.pattern, [&](Offset k) { return p.val[pt.source[k]]; }, b, long_rows_at_once, c);
  }
  c.pattern = product_pattern(ctx, pt.pattern, b.pattern);
  c.val = Array<double, Space::host>(ctx, c.pattern.blocks() * c.block_size());
  transposed_product_values(ctx, p, pt, b, c);
}

}  // namespace newel::detail
