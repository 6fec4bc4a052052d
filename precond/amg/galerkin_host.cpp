// SPDX-License-Identifier: Apache-2.0
// Sparse matrix products row by row: a table finds the place of a column in the row.
#include <purlin/precond/amg/galerkin.hpp>

#include <algorithm>

#include <purlin/core/parallel.hpp>
#include <purlin/precond/amg/pattern_rows.hpp>

namespace purlin::detail {
namespace {

// Columns of one row with a number for each: an entry for every column that there is, cleared column by column.
class ColumnTable {
 public:
  explicit ColumnTable(Index columns) : number_(static_cast<std::size_t>(columns), none) {}

  // Whether the column is new.
  bool add(Index column, Offset number) {
    if (number_[column] != none) return false;
    number_[column] = number;
    used_.push_back(column);
    return true;
  }
  // The number of a column that is there.
  Offset find(Index column) const { return number_[column]; }
  const std::vector<Index>& columns() const { return used_; }
  void clear() {
    for (const Index column : used_) number_[column] = none;
    used_.clear();
  }

 private:
  static constexpr Offset none = -1;
  std::vector<Offset> number_;
  std::vector<Index> used_;
};

using Tables = std::vector<ColumnTable>;

Tables tables_of(const HostContext& ctx, Index columns) {
  return Tables(static_cast<std::size_t>(ctx.threads()), ColumnTable(columns));
}

constexpr std::int64_t rows_at_once = 256;

// The row of the pattern, with the places of its values.
void add_row(const HostBlockPattern& c, Index i, ColumnTable& table) {
  for (Offset k = c.row_ptr[i]; k < c.row_ptr[i + 1]; ++k) table.add(c.col[k], k);
}

// The values of C = P^T B, P given by its transposed pattern.
template <bool scalar>
void transposed_values_of(const HostContext& ctx, const HostBlockCsr& p, const TransposedPattern<Space::host>& pt,
                          const HostBlockCsr& b, HostBlockCsr& c) {
  Tables tables = tables_of(ctx, c.pattern.cols);
  parallel_blocks(ctx, c.pattern.rows, 32, [&](Index i, int member) {
    ColumnTable& table = tables[static_cast<std::size_t>(member)];
    add_row(c.pattern, i, table);
    std::fill(c.block(c.pattern.row_ptr[i]), c.block(c.pattern.row_ptr[i + 1]), 0.0);
    for (Offset k = pt.pattern.row_ptr[i]; k < pt.pattern.row_ptr[i + 1]; ++k) {
      const Index row = pt.pattern.col[k];
      const double* const block = p.block(pt.source[k]);
      for (Offset l = b.pattern.row_ptr[row]; l < b.pattern.row_ptr[row + 1]; ++l) {
        if constexpr (scalar) {
          c.val[table.find(b.pattern.col[l])] += *block * b.val[l];
        } else {
          double* const to = c.block(table.find(b.pattern.col[l]));
          add_transposed_product(p.col_block, p.row_block, b.col_block, block, b.block(l), to);
        }
      }
    }
    table.clear();
  });
}

template <bool scalar>
void product_values_of(const HostContext& ctx, const HostBlockCsr& a, const HostBlockCsr& b, HostBlockCsr& c) {
  Tables tables = tables_of(ctx, c.pattern.cols);
  parallel_blocks(ctx, a.pattern.rows, rows_at_once, [&](Index i, int member) {
    ColumnTable& table = tables[static_cast<std::size_t>(member)];
    add_row(c.pattern, i, table);
    std::fill(c.block(c.pattern.row_ptr[i]), c.block(c.pattern.row_ptr[i + 1]), 0.0);
    for (Offset k = a.pattern.row_ptr[i]; k < a.pattern.row_ptr[i + 1]; ++k) {
      const Index row = a.pattern.col[k];
      for (Offset l = b.pattern.row_ptr[row]; l < b.pattern.row_ptr[row + 1]; ++l) {
        if constexpr (scalar) {
          c.val[table.find(b.pattern.col[l])] += a.val[k] * b.val[l];
        } else {
          double* const to = c.block(table.find(b.pattern.col[l]));
          add_product(a.row_block, a.col_block, b.col_block, a.block(k), b.block(l), to);
        }
      }
    }
    table.clear();
  });
}

bool scalar_blocks(const HostBlockCsr& a, const HostBlockCsr& b) {
  return a.block_size() == 1 && b.block_size() == 1;
}

}  // namespace

HostBlockPattern product_pattern(const HostContext& ctx, const HostBlockPattern& a, const HostBlockPattern& b) {
  Tables tables = tables_of(ctx, b.cols);
  return pattern_by_rows(ctx, a.rows, b.cols, [&](Index i, int member, std::vector<Index>& columns) {
    ColumnTable& table = tables[static_cast<std::size_t>(member)];
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      for (Offset l = b.row_ptr[a.col[k]]; l < b.row_ptr[a.col[k] + 1]; ++l) table.add(b.col[l], 0);
    }
    columns.insert(columns.end(), table.columns().begin(), table.columns().end());
    std::sort(columns.end() - static_cast<std::ptrdiff_t>(table.columns().size()), columns.end());
    table.clear();
  });
}

void product_values(const HostContext& ctx, const HostBlockCsr& a, const HostBlockCsr& b, HostBlockCsr& c) {
  scalar_blocks(a, b) ? product_values_of<true>(ctx, a, b, c) : product_values_of<false>(ctx, a, b, c);
}

void transposed_product_values(const HostContext& ctx, const HostBlockCsr& p,
                               const TransposedPattern<Space::host>& pt, const HostBlockCsr& b, HostBlockCsr& c) {
  scalar_blocks(b, p) ? transposed_values_of<true>(ctx, p, pt, b, c) : transposed_values_of<false>(ctx, p, pt, b, c);
}

}  // namespace purlin::detail
