// SPDX-License-Identifier: Apache-2.0
/// Compressed sparse rows: an owning matrix, a view of a caller's arrays, and the checks on them.
#pragma once

#include <newel/core/array.hpp>

namespace newel {

/// Where each stored number comes from: entry k of a permuted or converted matrix takes its value from position
/// `position(k)` of the caller's value array, or is `none` (padding, value 0). Positions are 32-bit where the
/// caller's count of values allows it. An empty map is the identity.
///
/// A map of runs says with one position where `run` numbers come from that follow each other in the source: position
/// i fills entries (i / lanes) run lanes + e lanes + i % lanes, e = 0 .. run - 1. Layouts with node blocks use it.
template <Space S>
struct ValueMap {
  static constexpr std::uint32_t none32 = 0xffffffffu;  ///< `none` in `narrow`
  static constexpr Offset none64 = -1;                  ///< `none` in `wide`

  Array<std::uint32_t, S> narrow;  ///< used when not empty
  Array<Offset, S> wide;           ///< used when `narrow` is empty and this is not
  Offset source_size = 0;          ///< how many values the positions point into; not used by the identity
  int run = 1;                     ///< 1, 2, 3 or 6
  Index lanes = 1;                 ///< a power of two

  /// Whether entry k comes from position k.
  bool identity() const { return narrow.empty() && wide.empty(); }
  /// Positions that are stored.
  std::int64_t positions() const { return narrow.empty() ? wide.size() : narrow.size(); }
  /// Entries that it fills.
  std::int64_t size() const { return positions() * run; }
  std::size_t bytes() const { return narrow.bytes() + wide.bytes(); }
};

/// A second map with the same positions.
template <Space S>
ValueMap<S> copy_of(const Context<S>& ctx, const ValueMap<S>& map) {
  return {make_array(ctx, map.narrow.cspan()), make_array(ctx, map.wide.cspan()), map.source_size, map.run,
          map.lanes};
}

/// The map that takes entry k from `positions[k]` (-1: none) of an array of `source_size` values. Where those values
/// come from a caller's array through a map of their own, `through` is that map and the result points into the
/// caller's array: one gather instead of two.
template <Space S>
ValueMap<S> make_value_map(const Context<S>& ctx, Span<const Offset, S> positions, Offset source_size,
                           const ValueMap<S>* through = nullptr);

/// The position that each of `size` entries is filled from, -1 for none: what the map says, written out. The identity
/// gives 0 .. size - 1. On the device waits for the stream.
template <Space S>
std::vector<Offset> positions_of(const Context<S>& ctx, const ValueMap<S>& map, std::int64_t size);

/// Whether `run` numbers that follow each other from each of `positions` on still do so in the array that `through`
/// leads to. Waits for the stream.
template <Space S>
bool runs_stay_together(const Context<S>& ctx, Span<const Offset, S> positions, int run, const ValueMap<S>& through);

/// An owning CSR matrix. Row i holds entries row_ptr[i] .. row_ptr[i+1]-1 with strictly ascending columns.
template <class T, Space S>
struct Csr {
  Index rows = 0;            ///< at least 0
  Index cols = 0;            ///< the columns are 0 .. cols - 1
  Array<Offset, S> row_ptr;  ///< rows + 1
  Array<Index, S> col;       ///< nnz
  Array<T, S> val;           ///< nnz

  /// Stored entries, zeros among them.
  Offset nnz() const { return col.size(); }
};

template <Space S>
struct Pattern;

/// What a caller hands over: borrowed arrays, 32- or 64-bit row pointers, of either space. The arrays are read
/// during setup and, where a function says so, kept referenced. Entries of a row must have strictly ascending
/// columns (`check_csr` verifies it).
template <class T, Space S>
struct CsrView {
  Index rows = 0;                         ///< at least 0
  Index cols = 0;                         ///< the columns are 0 .. cols - 1
  Span<const std::int32_t, S> row_ptr32;  ///< rows + 1; exactly one of the two is given, of exactly these types
  Span<const Offset, S> row_ptr64;        ///< rows + 1
  Span<const Index, S> col;               ///< nnz
  Span<const T, S> val;                   ///< nnz
  /// Set by a permutation: `refresh` of what is built from this view takes values in the order that the map
  /// points into. Null: in the order of `val`. Must outlive the operators built from the view only until they
  /// are built.
  const ValueMap<S>* value_map = nullptr;

  CsrView() = default;
  /// Of arrays with row pointers of 32 or of 64 bits, or of a pattern with values of its own. Reads nothing.
  CsrView(Index rows_, Index cols_, Span<const std::int32_t, S> row_ptr_, Span<const Index, S> col_,
          Span<const T, S> val_)
      : rows(rows_), cols(cols_), row_ptr32(row_ptr_), col(col_), val(val_) {}
  CsrView(Index rows_, Index cols_, Span<const Offset, S> row_ptr_, Span<const Index, S> col_, Span<const T, S> val_)
      : rows(rows_), cols(cols_), row_ptr64(row_ptr_), col(col_), val(val_) {}
  CsrView(const Pattern<S>& pattern, Span<const T, S> val_);
  /// A view of an owning matrix, which must outlive it.
  CsrView(const Csr<T, S>& a)
      : rows(a.rows), cols(a.cols), row_ptr64(a.row_ptr.span()), col(a.col.span()), val(a.val.span()) {}

  /// Stored entries; whether the row pointers are those of 64 bits.
  Offset nnz() const { return col.size; }
  bool wide() const { return row_ptr32.data == nullptr; }
  /// First entry of row i; i = rows gives nnz. Host only.
  Offset row_begin(Index i) const { return wide() ? row_ptr64[i] : Offset{row_ptr32[i]}; }
};

/// The pattern alone, for planning an order.
template <Space S>
struct Pattern {
  Index rows = 0;                         ///< as in CsrView, and so are the others
  Index cols = 0;                         ///< the columns are 0 .. cols - 1
  Span<const std::int32_t, S> row_ptr32;  ///< rows + 1; one of the two is given
  Span<const Offset, S> row_ptr64;        ///< rows + 1
  Span<const Index, S> col;               ///< nnz

  Pattern() = default;
  /// Of a matrix's arrays, which must outlive it.
  template <class T>
  Pattern(const CsrView<T, S>& a)
      : rows(a.rows), cols(a.cols), row_ptr32(a.row_ptr32), row_ptr64(a.row_ptr64), col(a.col) {}
  /// As in CsrView.
  Offset nnz() const { return col.size; }
  bool wide() const { return row_ptr32.data == nullptr; }
  Offset row_begin(Index i) const { return wide() ? row_ptr64[i] : Offset{row_ptr32[i]}; }
};

template <class T, Space S>
CsrView<T, S>::CsrView(const Pattern<S>& pattern, Span<const T, S> val_)
    : rows(pattern.rows),
      cols(pattern.cols),
      row_ptr32(pattern.row_ptr32),
      row_ptr64(pattern.row_ptr64),
      col(pattern.col),
      val(val_) {}

/// Calls `f` with the row pointers that the view has, as a span of int32 or of int64.
template <class View, class F>
decltype(auto) with_row_ptr(const View& a, F&& f) {
  return a.wide() ? f(a.row_ptr64) : f(a.row_ptr32);
}

/// Checks that the view is a canonical CSR matrix: lengths agree, row_ptr starts at 0, never decreases and ends at
/// nnz, columns lie in [0, cols) and ascend strictly within each row. Throws InputError that names the first bad
/// row. Reads the pattern once; on the device waits for the stream.
template <class T>
void check_csr(const Context<Space::host>& ctx, const CsrView<T, Space::host>& a);
template <class T>
void check_csr(const Context<Space::device>& ctx, const CsrView<T, Space::device>& a);

/// An owning copy of `a` with 64-bit row pointers, in the context's space; a device context also takes host views.
template <class T, Space From, Space S>
Csr<T, S> make_csr(const Context<S>& ctx, const CsrView<T, From>& a);

/// An owning host copy of a device matrix. Waits for the stream.
template <class T>
Csr<T, Space::host> make_host_csr(const Context<Space::host>& host, const Context<Space::device>& ctx,
                                  const CsrView<T, Space::device>& a);

}  // namespace newel
