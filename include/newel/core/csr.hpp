// SPDX-License-Identifier: Apache-2.0
/// Compressed sparse rows: an owning matrix, a view of a caller's arrays, and checks.
#pragma once

#include <newel/core/array.hpp>

namespace newel {

/// Maps stored values to their source: entry k of a permuted or converted matrix takes its value from position
/// `position(k)` of the caller's value array, or is `none` (padding, value 0). Positions are 32-bit if the number of
/// the caller's values allows it. An empty map is the identity.
///
/// A map with runs stores one position for `run` values that are adjacent in the source: position i fills entries (i
/// / lanes) run lanes + e lanes + i % lanes, e = 0 .. run - 1. Layouts with node blocks use it.
template <Space S>
struct ValueMap {
  static constexpr std::uint32_t none32 = 0xffffffffu;  ///< `none` in `narrow`
  static constexpr Offset none64 = -1;                  ///< `none` in `wide`

  Array<std::uint32_t, S> narrow;  ///< used if not empty
  Array<Offset, S> wide;           ///< used if `narrow` is empty and this is not
  Offset source_size = 0;          ///< length of the source array; not used by the identity
  int run = 1;                     ///< 1, 2, 3 or 6
  Index lanes = 1;                 ///< a power of two

  /// Whether entry k comes from position k.
  bool identity() const { return narrow.empty() && wide.empty(); }
  /// Number of stored positions.
  std::int64_t positions() const { return narrow.empty() ? wide.size() : narrow.size(); }
  /// Number of entries that the map fills.
  std::int64_t size() const { return positions() * run; }
  std::size_t bytes() const { return narrow.bytes() + wide.bytes(); }
};

/// A second map with the same positions.
template <Space S>
ValueMap<S> copy_of(const Context<S>& ctx, const ValueMap<S>& map) {
  return {make_array(ctx, map.narrow.cspan()), make_array(ctx, map.wide.cspan()), map.source_size, map.run,
          map.lanes};
}

/// The map that takes entry k from `positions[k]` (-1: none) of an array of `source_size` values. If those values
/// come from a caller's array through another map, pass that map as `through`: the result then refers to the caller's
/// array, which saves a gather.
template <Space S>
ValueMap<S> make_value_map(const Context<S>& ctx, Span<const Offset, S> positions, Offset source_size,
                           const ValueMap<S>* through = nullptr);

/// The position that each of `size` entries is filled from, -1 for none. The identity gives 0 .. size - 1. On the
/// device waits for the stream.
template <Space S>
std::vector<Offset> positions_of(const Context<S>& ctx, const ValueMap<S>& map, std::int64_t size);

/// Whether every run of `run` values that starts at one of `positions` is also contiguous in the array that `through`
/// refers to. Waits for the stream.
template <Space S>
bool runs_stay_together(const Context<S>& ctx, Span<const Offset, S> positions, int run, const ValueMap<S>& through);

/// An owning CSR matrix. Row i has the entries row_ptr[i] .. row_ptr[i+1]-1, with strictly ascending columns.
template <class T, Space S>
struct Csr {
  Index rows = 0;            ///< at least 0
  Index cols = 0;            ///< columns are 0 .. cols - 1
  Array<Offset, S> row_ptr;  ///< rows + 1
  Array<Index, S> col;       ///< nnz
  Array<T, S> val;           ///< nnz

  /// Stored entries, zeros included.
  Offset nnz() const { return col.size(); }
};

template <Space S>
struct Pattern;

/// A caller's CSR matrix: borrowed arrays in either space, with 32- or 64-bit row pointers. The arrays are read
/// during setup and kept referenced only by functions that say so. Entries of a row must have strictly ascending
/// columns (`check_csr` verifies it).
template <class T, Space S>
struct CsrView {
  Index rows = 0;                         ///< at least 0
  Index cols = 0;                         ///< columns are 0 .. cols - 1
  Span<const std::int32_t, S> row_ptr32;  ///< rows + 1; exactly one of row_ptr32 and row_ptr64 is given
  Span<const Offset, S> row_ptr64;        ///< rows + 1
  Span<const Index, S> col;               ///< nnz
  Span<const T, S> val;                   ///< nnz
  /// Set by a permutation. Operators built from this view take values in the order that the map refers to when they
  /// are refreshed. Null: in the order of `val`. The map only needs to live until the operators are built.
  const ValueMap<S>* value_map = nullptr;

  CsrView() = default;
  /// From arrays with 32- or 64-bit row pointers, or from a pattern with separate values. Reads nothing.
  CsrView(Index rows_, Index cols_, Span<const std::int32_t, S> row_ptr_, Span<const Index, S> col_,
          Span<const T, S> val_)
      : rows(rows_), cols(cols_), row_ptr32(row_ptr_), col(col_), val(val_) {}
  CsrView(Index rows_, Index cols_, Span<const Offset, S> row_ptr_, Span<const Index, S> col_, Span<const T, S> val_)
      : rows(rows_), cols(cols_), row_ptr64(row_ptr_), col(col_), val(val_) {}
  CsrView(const Pattern<S>& pattern, Span<const T, S> val_);
  /// A view of an owning matrix, which must outlive it.
  CsrView(const Csr<T, S>& a)
      : rows(a.rows), cols(a.cols), row_ptr64(a.row_ptr.span()), col(a.col.span()), val(a.val.span()) {}

  /// Number of stored entries; whether row pointers are 64-bit.
  Offset nnz() const { return col.size; }
  bool wide() const { return row_ptr32.data == nullptr; }
  /// First entry of row i; i = rows gives nnz. Host only.
  Offset row_begin(Index i) const { return wide() ? row_ptr64[i] : Offset{row_ptr32[i]}; }
};

/// The pattern alone, used to compute an order.
template <Space S>
struct Pattern {
  Index rows = 0;                         ///< fields as in CsrView
  Index cols = 0;                         ///< columns are 0 .. cols - 1
  Span<const std::int32_t, S> row_ptr32;  ///< rows + 1; one of the two is given
  Span<const Offset, S> row_ptr64;        ///< rows + 1
  Span<const Index, S> col;               ///< nnz

  Pattern() = default;
  /// The pattern of a matrix; refers to its arrays, which must outlive it.
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

/// Calls `f` with the row pointers of the view, as a span of int32 or of int64.
template <class View, class F>
decltype(auto) with_row_ptr(const View& a, F&& f) {
  return a.wide() ? f(a.row_ptr64) : f(a.row_ptr32);
}

/// Checks that the view is a canonical CSR matrix: lengths agree; row_ptr starts at 0, never decreases and ends at
/// nnz; columns are in [0, cols) and ascend strictly within each row. Throws InputError, which names the first bad
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
