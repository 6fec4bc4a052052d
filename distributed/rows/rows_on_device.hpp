// SPDX-License-Identifier: Apache-2.0
/// RowsOnDevice: a rank's rows on its device, in columns that this rank numbers. Internal; only in builds with CUDA.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <newel/core/array.hpp>
#include <newel/core/context.hpp>
#include <newel/core/csr.hpp>
#include <newel/core/vector_ops.hpp>

namespace newel::detail {

/// The rows of a rank on the host, with the columns of the whole matrix.
struct ColumnsOfRank {
  Span<const Offset, Space::host> row_ptr;
  Span<const std::int64_t, Space::host> col;
  const std::vector<std::int64_t>& first_rows;  ///< see halo.hpp
  int rank;

  Index rows() const { return static_cast<Index>(row_ptr.size) - 1; }
  std::int64_t first() const { return first_rows[static_cast<std::size_t>(rank)]; }
  bool owns(std::int64_t column) const { return column >= first() && column < first() + rows(); }
};

/// Their pattern on the device. This rank's rows are columns 0, 1, ..., and after them come the rows of other ranks
/// that these read. The entries of a row are in the caller's order: those of lower ranks, this rank's, and the rest.
struct NumberedColumns {
  std::vector<std::int64_t> others;  ///< rows of other ranks, by the caller's numbers, ascending
  Index lower = 0;                   ///< how many of them lower ranks have
  Array<Offset, Space::device> row_ptr;
  Array<Index, Space::device> col;
  Array<unsigned char, Space::device> reads_others;  ///< of each row

  /// Reads the columns once on the host, to send them, and then twice on the device. Throws InputError as
  /// check_rank_rows, and for more columns than Index counts. Waits for the stream.
  NumberedColumns(const Context<Space::device>& ctx, const ColumnsOfRank& a);

  Index rows() const { return static_cast<Index>(row_ptr.size()) - 1; }
  /// `columns`: others than `col`, as `columns_in_nodes` numbers them, of `cols` in all.
  Pattern<Space::device> pattern(Span<const Index, Space::device> columns, Index cols) const;
  Pattern<Space::device> pattern() const { return pattern(col.cspan(), rows() + static_cast<Index>(others.size())); }

 private:
  template <class Narrow>
  void number(const Context<Space::device>& ctx, const ColumnsOfRank& a, const Narrow& narrow);
};

/// The nodes of `block` rows that these rows are in; both ascend.
std::vector<std::int64_t> nodes_of_rows(const std::vector<std::int64_t>& rows, int block);

/// Columns after this rank's rows as the rows of whole nodes of other ranks: `nodes` are those of `a.others`.
Array<Index, Space::device> columns_in_nodes(const Context<Space::device>& ctx, const NumberedColumns& a,
                                             const std::vector<std::int64_t>& nodes, int block);

/// The position of the diagonal entry of row old_of_new[i] (empty: of row i); -1: none.
Array<Offset, Space::device> diagonal_positions(const Context<Space::device>& ctx, const NumberedColumns& a,
                                                Span<const Index, Space::device> old_of_new);

/// The entries in columns of this rank, a square pattern.
struct OwnPattern {
  Array<Offset, Space::device> row_ptr;
  Array<Index, Space::device> col;

  OwnPattern(const Context<Space::device>& ctx, const NumberedColumns& a);
  Pattern<Space::device> view() const;
};

template <class T>
struct RowsOnDevice {
  std::shared_ptr<const NumberedColumns> columns;
  Array<T, Space::device> val;  ///< in the caller's order

  RowsOnDevice(const Context<Space::device>& ctx, const ColumnsOfRank& a, Span<const T, Space::host> values);
  /// The same rows in another precision.
  template <class U>
  RowsOnDevice(const Context<Space::device>& ctx, const RowsOnDevice<U>& others)
      : columns(others.columns), val(ctx, others.val.size()) {
    convert(ctx, others.val.cspan(), val.span());
  }
};

}  // namespace newel::detail
