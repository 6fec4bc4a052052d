// SPDX-License-Identifier: Apache-2.0
// Sparse matrix products row by row: a hash table finds the place of a column in the row.
#include <purlin/precond/amg/galerkin.hpp>

#include <algorithm>

#include <purlin/core/parallel.hpp>
#include <purlin/reorder/exclusive_sum.hpp>

namespace purlin::detail {
namespace {

// Columns of one row with a number for each; open addressing, cleared column by column.
class ColumnTable {
 public:
  // The number of a column; `next` where it is new.
  Offset find_or_add(Index column, Offset next) {
    if (2 * (used_.size() + 1) > key_.size()) grow();
    std::size_t at = slot_of(column);
    if (key_[at] == column) return number_[at];
    key_[at] = column;
    number_[at] = next;
    used_.push_back(column);
    return next;
  }
  // The number of a column that is there.
  Offset find(Index column) const { return number_[slot_of(column)]; }
  const std::vector<Index>& columns() const { return used_; }
  void clear() {
    if (used_.size() * 8 > key_.size()) {
      std::fill(key_.begin(), key_.end(), none);
    } else {
      // In reverse: what was pushed aside by a collision is found before its cause goes.
      for (auto column = used_.rbegin(); column != used_.rend(); ++column) key_[slot_of(*column)] = none;
    }
    used_.clear();
  }

 private:
  static constexpr Index none = -1;

  std::size_t slot_of(Index column) const {
    const std::size_t mask = key_.size() - 1;
    std::size_t at = (static_cast<std::uint64_t>(column) * 0x9e3779b97f4a7c15u >> 32) & mask;
    while (key_[at] != column && key_[at] != none) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    const std::vector<Index> columns = used_;
    std::vector<Offset> numbers;
    for (const Index column : columns) numbers.push_back(find(column));
    key_.assign(2 * key_.size(), none);
    number_.resize(key_.size());
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::size_t at = slot_of(columns[i]);
      key_[at] = columns[i];
      number_[at] = numbers[i];
    }
  }

  std::vector<Index> key_ = std::vector<Index>(64, none);
  std::vector<Offset> number_ = std::vector<Offset>(64);
  std::vector<Index> used_;
};

using Tables = std::vector<ColumnTable>;

Tables tables_of(const HostContext& ctx) { return Tables(static_cast<std::size_t>(ctx.threads())); }

constexpr std::int64_t rows_at_once = 256;

// The row of the pattern, with the places of its values.
void add_row(const BlockPattern& c, Index i, ColumnTable& table) {
  for (Offset k = c.row_ptr[i]; k < c.row_ptr[i + 1]; ++k) table.find_or_add(c.col[k], k);
}

// The values of C = P^T B, P given by its transposed pattern.
void transposed_product_values(const HostContext& ctx, const BlockCsr& p, const TransposedPattern& pt,
                               const BlockCsr& b, BlockCsr& c) {
  Tables tables = tables_of(ctx);
  parallel_blocks(ctx, c.pattern.rows, 32, [&](Index i, int member) {
    ColumnTable& table = tables[static_cast<std::size_t>(member)];
    add_row(c.pattern, i, table);
    std::fill(c.block(c.pattern.row_ptr[i]), c.block(c.pattern.row_ptr[i + 1]), 0.0);
    for (Offset k = pt.pattern.row_ptr[i]; k < pt.pattern.row_ptr[i + 1]; ++k) {
      const Index row = pt.pattern.col[k];
      const double* const block = p.block(pt.source[k]);
      for (Offset l = b.pattern.row_ptr[row]; l < b.pattern.row_ptr[row + 1]; ++l) {
        double* const to = c.block(table.find(b.pattern.col[l]));
        add_transposed_product(p.col_block, p.row_block, b.col_block, block, b.block(l), to);
      }
    }
    table.clear();
  });
}

}  // namespace

BlockPattern product_pattern(const HostContext& ctx, const BlockPattern& a, const BlockPattern& b) {
  BlockPattern c;
  c.rows = a.rows;
  c.cols = b.cols;
  c.row_ptr = Array<Offset, Space::host>(ctx, Offset{a.rows} + 1);
  c.row_ptr[a.rows] = 0;
  Tables tables = tables_of(ctx);
  const auto chunks = static_cast<Index>((a.rows + rows_at_once - 1) / rows_at_once);
  const auto first_row = [&](std::int64_t chunk) {
    return static_cast<Index>(std::min<std::int64_t>(a.rows, chunk * rows_at_once));
  };
  std::vector<std::vector<Index>> found(static_cast<std::size_t>(chunks));
  parallel_tasks(ctx, chunks, [&](Index chunk, int member) {
    ColumnTable& table = tables[static_cast<std::size_t>(member)];
    std::vector<Index>& columns = found[static_cast<std::size_t>(chunk)];
    for (Index i = first_row(chunk); i < first_row(std::int64_t{chunk} + 1); ++i) {
      for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
        for (Offset l = b.row_ptr[a.col[k]]; l < b.row_ptr[a.col[k] + 1]; ++l) table.find_or_add(b.col[l], 0);
      }
      const auto length = static_cast<std::ptrdiff_t>(table.columns().size());
      columns.insert(columns.end(), table.columns().begin(), table.columns().end());
      std::sort(columns.end() - length, columns.end());
      c.row_ptr[i] = length;
      table.clear();
    }
  });
  exclusive_sum(ctx, c.row_ptr);
  c.col = Array<Index, Space::host>(ctx, c.row_ptr[a.rows]);
  parallel_tasks(ctx, chunks, [&](Index chunk) {
    const std::vector<Index>& columns = found[static_cast<std::size_t>(chunk)];
    std::copy(columns.begin(), columns.end(), c.col.data() + c.row_ptr[first_row(chunk)]);
  });
  return c;
}

void product_values(const HostContext& ctx, const BlockCsr& a, const BlockCsr& b, BlockCsr& c) {
  Tables tables = tables_of(ctx);
  parallel_blocks(ctx, a.pattern.rows, rows_at_once, [&](Index i, int member) {
    ColumnTable& table = tables[static_cast<std::size_t>(member)];
    add_row(c.pattern, i, table);
    std::fill(c.block(c.pattern.row_ptr[i]), c.block(c.pattern.row_ptr[i + 1]), 0.0);
    for (Offset k = a.pattern.row_ptr[i]; k < a.pattern.row_ptr[i + 1]; ++k) {
      const Index row = a.pattern.col[k];
      for (Offset l = b.pattern.row_ptr[row]; l < b.pattern.row_ptr[row + 1]; ++l) {
        double* const to = c.block(table.find(b.pattern.col[l]));
        add_product(a.row_block, a.col_block, b.col_block, a.block(k), b.block(l), to);
      }
    }
    table.clear();
  });
}

GalerkinProduct::GalerkinProduct(const HostContext& ctx, const BlockCsr& a, const BlockCsr& p, BlockCsr& coarse) {
  transposed_ = transpose(ctx, p.pattern);
  ap_.row_block = a.row_block;
  ap_.col_block = coarse.row_block = coarse.col_block = p.col_block;
  ap_.pattern = product_pattern(ctx, a.pattern, p.pattern);
  coarse.pattern = product_pattern(ctx, transposed_.pattern, ap_.pattern);
  ap_.val = Array<double, Space::host>(ctx, ap_.pattern.blocks() * ap_.block_size());
  coarse.val = Array<double, Space::host>(ctx, coarse.pattern.blocks() * coarse.block_size());
  compute(ctx, a, p, coarse);
}

void GalerkinProduct::compute(const HostContext& ctx, const BlockCsr& a, const BlockCsr& p, BlockCsr& coarse) {
  product_values(ctx, a, p, ap_);
  transposed_product_values(ctx, p, transposed_, ap_, coarse);
}

}  // namespace purlin::detail
