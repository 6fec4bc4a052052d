// SPDX-License-Identifier: Apache-2.0
// Sparse matrix products row by row: a table finds the place of a column in the row.
#include <purlin/precond/amg/galerkin.hpp>

#include <algorithm>
#include <cstdint>
#include <tuple>

#include <purlin/core/parallel.hpp>
#include <purlin/core/wide_host.hpp>
#include <purlin/precond/amg/block_products.hpp>
#include <purlin/precond/amg/pattern_rows.hpp>

namespace purlin::detail {
namespace {

// The distinct columns of one row in the order in which they come, each with a place, found in an entry for every
// column that there is. Whether a column is new is as good as random, so nothing branches on it.
class ColumnTable {
 public:
  explicit ColumnTable(Index columns) : entry_(static_cast<std::size_t>(columns), 0) {}

  // The next row, to which `most` columns are added at most.
  void begin(Offset most) {
    if (static_cast<Offset>(columns_.size()) < most + spare) columns_.resize(static_cast<std::size_t>(most) + spare);
    ++row_;
    count_ = 0;
  }
  Index add(Index column) {
    std::uint64_t& entry = entry_[static_cast<std::size_t>(column)];
    const bool known = entry >> 32 == row_;
    const Index place = known ? static_cast<Index>(entry & 0xffffffffu) : count_;
    columns_[static_cast<std::size_t>(count_)] = column;  // and again by the next one where it was known
    count_ += known ? 0 : 1;
    entry = row_ << 32 | static_cast<std::uint64_t>(place);
    return place;
  }
  // The place of a column that is there.
  Index find(Index column) const {
    return static_cast<Index>(entry_[static_cast<std::size_t>(column)] & 0xffffffffu);
  }
  Index count() const { return count_; }

  // f(rank, column, place) for the columns, in any order.
  template <class F>
  void ranked(F&& f) {
    constexpr Index few = 64;
    if (count_ <= few) {  // each is compared with each, without a branch
      Index rank[few + spare] = {};
      const Index padded = (count_ + spare - 1) / spare * spare;
      for (Index k = 0; k < count_; ++k) {
        const Index column = columns_[static_cast<std::size_t>(k)];
        const Index* const all = columns_.data();
        for (Index j = 0; j < padded; ++j) rank[j] += all[j] > column ? 1 : 0;
      }
      for (Index k = 0; k < count_; ++k) f(rank[k], columns_[static_cast<std::size_t>(k)], k);
    } else {
      std::sort(columns_.begin(), columns_.begin() + count_);
      for (Index k = 0; k < count_; ++k) {
        const Index column = columns_[static_cast<std::size_t>(k)];
        f(k, column, find(column));
      }
    }
  }

 private:
  static constexpr Index spare = 8;
  std::vector<std::uint64_t> entry_;  // the row that had the column last, above its place there
  std::vector<Index> columns_;
  std::uint64_t row_ = 0;
  Index count_ = 0;
};

using Tables = std::vector<ColumnTable>;

Tables tables_of(const HostContext& ctx, Index columns) {
  return Tables(static_cast<std::size_t>(ctx.threads()), ColumnTable(columns));
}

constexpr Index rows_at_once = 256, long_rows_at_once = 32;

// The row of the pattern: places count from its first block.
void add_row(const HostBlockPattern& c, Index i, ColumnTable& table) {
  table.begin(c.row_ptr[i + 1] - c.row_ptr[i]);
  for (Offset k = c.row_ptr[i]; k < c.row_ptr[i + 1]; ++k) table.add(c.col[k]);
}

// The values of C = A B; block_of(k) is block k of A's pattern, with `transposed` that of a matrix whose blocks are
// transposed.
template <bool transposed, class BlockOf>
void values_of_product(const HostContext& ctx, const HostBlockPattern& a, BlockOf&& block_of, const HostBlockCsr& b,
                       Index at_once, HostBlockCsr& c) {
  Tables tables = tables_of(ctx, c.pattern.cols);
  const int size = c.block_size();
  parallel_blocks(ctx, a.rows, at_once, [&](Index i, int member) {
    ColumnTable& table = tables[static_cast<std::size_t>(member)];
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
  Tables tables = tables_of(ctx, b.pattern.cols);
  std::vector<std::vector<double>> sums(tables.size());  // zeros between rows
  std::tie(c.pattern, c.val) =
      blocks_by_rows(ctx, a.rows, b.pattern.cols, at_once,
                     [&](Index i, int member, std::vector<Index>& columns, std::vector<double>& values) {
                       ColumnTable& table = tables[static_cast<std::size_t>(member)];
                       std::vector<double>& sum = sums[static_cast<std::size_t>(member)];
                       const Offset most = most_columns(a, b.pattern, i);
                       table.begin(most);
                       if (static_cast<Offset>(sum.size()) < most) sum.resize(static_cast<std::size_t>(most), 0.0);
                       double* const to = sum.data();
                       for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
                         const double value = value_of(k);
                         for (Offset l = b.pattern.row_ptr[a.col[k]]; l < b.pattern.row_ptr[a.col[k] + 1]; ++l) {
                           to[table.add(b.pattern.col[l])] += value * b.val[l];
                         }
                       }
                       const std::size_t first = columns.size();
                       columns.resize(first + static_cast<std::size_t>(table.count()));
                       values.resize(columns.size());
                       table.ranked([&](Index rank, Index column, Index place) {
                         columns[first + static_cast<std::size_t>(rank)] = column;
                         values[first + static_cast<std::size_t>(rank)] = to[place];
                       });
                       std::fill_n(to, table.count(), 0.0);
                     });
}

}  // namespace

HostBlockPattern product_pattern(const HostContext& ctx, const HostBlockPattern& a, const HostBlockPattern& b) {
  Tables tables = tables_of(ctx, b.cols);
  return pattern_by_rows(ctx, a.rows, b.cols, [&](Index i, int member, std::vector<Index>& columns) {
    ColumnTable& table = tables[static_cast<std::size_t>(member)];
    table.begin(most_columns(a, b, i));
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      for (Offset l = b.row_ptr[a.col[k]]; l < b.row_ptr[a.col[k] + 1]; ++l) table.add(b.col[l]);
    }
    const std::size_t first = columns.size();
    columns.resize(first + static_cast<std::size_t>(table.count()));
    table.ranked([&](Index rank, Index column, Index) { columns[first + static_cast<std::size_t>(rank)] = column; });
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

}  // namespace purlin::detail
