// SPDX-License-Identifier: Apache-2.0
/// Where the stored values of a MatrixInput belong, for the loops and kernels that assemble it. Internal.
#pragma once

#include <newel/core/matrix_input.hpp>
#include "core/vectors/host_device.hpp"

namespace newel::detail {

/// The numbers of an IndexSpan, counted from 0. What an int64 does not hold comes out negative.
struct IndexReader {
  const void* data = nullptr;
  IndexKind kind = IndexKind::int32;
  int base = 0;

  NEWEL_HD std::int64_t operator[](std::int64_t i) const {
    // Unsigned, so that the difference is defined at the ends of the range.
    return static_cast<std::int64_t>(read(i) - static_cast<std::uint64_t>(base));
  }

 private:
  NEWEL_HD std::uint64_t read(std::int64_t i) const {
    switch (kind) {
      case IndexKind::int32:
        return static_cast<std::uint64_t>(std::int64_t{static_cast<const std::int32_t*>(data)[i]});
      case IndexKind::uint32:
        return static_cast<const std::uint32_t*>(data)[i];
      default:
        return static_cast<const std::uint64_t*>(data)[i];
    }
  }
};

/// A place in the matrix that is meant.
struct Place {
  Index row, col;
  bool mirrored;  ///< the value stands at (col, row) as well
};

/// What a stored entry or block is refused for.
enum class EntryFault { none, row, column, half };

/// The pattern of an input whose lengths have been checked, by value for kernels. Stored item k is an entry, or in
/// BSR a block of `per_block` values, in a line: a row or, in CSC, a column.
struct InputEntries {
  IndexReader lines;    ///< compressed: lines + 1 pointers; COO: the row of each item
  IndexReader indices;  ///< of each item, across the line
  bool compressed = true;
  bool by_columns = false;
  bool blocks_by_rows = true;
  bool transposed = false;
  bool half = false, lower = false;
  std::int64_t stored_rows = 0, stored_cols = 0;  ///< in blocks
  Index block_size = 1;
  std::int64_t per_block = 1;
  Offset items = 0;

  std::int64_t line_count() const { return by_columns ? stored_cols : stored_rows; }
  Offset values() const { return items * per_block; }
  /// Of the matrix that is meant.
  Index rows() const { return static_cast<Index>((transposed ? stored_cols : stored_rows) * block_size); }
  Index cols() const { return static_cast<Index>((transposed ? stored_rows : stored_cols) * block_size); }

  /// The line of item k. Pointers, where there are some, have been checked.
  NEWEL_HD std::int64_t line_of(Offset k) const {
    if (!compressed) return lines[k];
    std::int64_t low = 0, high = by_columns ? stored_cols : stored_rows;  // the line is in [low, high)
    while (high - low > 1) {
      const std::int64_t middle = low + (high - low) / 2;
      if (lines[middle] <= k)
        low = middle;
      else
        high = middle;
    }
    return low;
  }

  NEWEL_HD EntryFault fault(std::int64_t line, std::int64_t index) const {
    const std::int64_t row = by_columns ? index : line, col = by_columns ? line : index;
    if (row < 0 || row >= stored_rows) return EntryFault::row;
    if (col < 0 || col >= stored_cols) return EntryFault::column;
    return half && (lower ? col > row : col < row) ? EntryFault::half : EntryFault::none;
  }

  /// Where value p belongs, of an item that has been checked.
  NEWEL_HD Place place(Offset p, std::int64_t line, std::int64_t index) const {
    std::int64_t row = by_columns ? index : line, col = by_columns ? line : index;
    const bool mirrored = half && row != col;
    if (per_block > 1) {
      const std::int64_t within = p % per_block, slow = within / block_size, fast = within % block_size;
      row = row * block_size + (blocks_by_rows ? slow : fast);
      col = col * block_size + (blocks_by_rows ? fast : slow);
    }
    const Index r = static_cast<Index>(row), c = static_cast<Index>(col);
    return transposed ? Place{c, r, mirrored} : Place{r, c, mirrored};
  }
};

template <Space S>
InputEntries entries_of(const InputForm<S>& form) {
  using Kind = typename InputForm<S>::Kind;
  InputEntries e;
  e.lines = {form.pointers().data, form.pointers().kind, form.base};
  e.indices = {form.indices().data, form.indices().kind, form.base};
  e.compressed = form.kind != Kind::coo;
  e.by_columns = form.kind == Kind::csc;
  e.blocks_by_rows = form.block_order == BlockOrder::by_rows;
  e.transposed = form.transposed;
  e.half = form.half.has_value();
  e.lower = form.half == Triangle::lower;
  e.stored_rows = form.rows;
  e.stored_cols = form.cols;
  e.block_size = static_cast<Index>(form.block_size);
  e.per_block = form.block_size * form.block_size;
  e.items = form.indices().size;
  return e;
}

/// The first line whose pointers descend or leave the items, -1 for none. On the device waits for the stream.
std::int64_t first_bad_line(const Context<Space::host>& ctx, const InputEntries& e);
std::int64_t first_bad_line(const Context<Space::device>& ctx, const InputEntries& e);

/// The first item that has a fault, -1 for none. Pointers have been checked. On the device waits for the stream.
Offset first_bad_item(const Context<Space::host>& ctx, const InputEntries& e);
Offset first_bad_item(const Context<Space::device>& ctx, const InputEntries& e);

/// A canonical pattern, and for each of its entries the values that it is the sum of.
template <Space S>
struct AssembledPattern {
  Array<Offset, S> row_ptr;  ///< rows + 1
  Array<Index, S> col;
  /// Entry t sums the values source[begin[t]] .. source[begin[t+1]-1], in the order in which they stood.
  Array<Offset, S> begin;
  Array<Offset, S> source;  ///< may be longer than begin's last
};

/// Assembles what has been checked; the same for any number of threads. The host takes 16 bytes an entry and a row on
/// top of the result; the device, which waits for the stream, 32 an entry, and what CUB wants.
AssembledPattern<Space::host> assemble(const Context<Space::host>& ctx, const InputEntries& e);
AssembledPattern<Space::device> assemble(const Context<Space::device>& ctx, const InputEntries& e);

/// Bytes of the context that `assemble` holds at once, at least: as if all values came to few places, and none of a
/// half had a mirror image on the host, which finds out only when it counts.
std::uint64_t assembly_bytes(const Context<Space::host>& ctx, const InputEntries& e);
std::uint64_t assembly_bytes(const Context<Space::device>& ctx, const InputEntries& e);

/// Throws InputError for the first number of `form` that is wrong: pointers before entries.
template <Space S>
void check_pointers(const Context<S>& ctx, const InputForm<S>& form);
template <Space S>
void check_items(const Context<S>& ctx, const InputForm<S>& form);

}  // namespace newel::detail
