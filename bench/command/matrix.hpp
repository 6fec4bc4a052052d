// SPDX-License-Identifier: Apache-2.0
/// The matrices of a measurement: the system's on the host and in the space measured in, and a small one that goes
/// before it.
#pragma once

#include <limits>
#include <vector>

#include <newel/core/csr.hpp>

#include "apps/newel/input/precision.hpp"

namespace newel::cli {

/// A view of `a`, which outlives it, with values in precision T.
template <class T>
class InPrecision {
 public:
  /// Throws InputError where a value exceeds the precision.
  InPrecision(const Context<Space::host>& host, const Csr<double, Space::host>& a) {
    Span<const T, Space::host> values;
    if constexpr (std::is_same_v<T, double>) {
      values = a.val.cspan();
    } else {
      converted_ = to_precision<T>(host, a.val, "the matrix");
      values = converted_.cspan();
    }
    view_ = CsrView<T, Space::host>(a.rows, a.cols, a.row_ptr.cspan(), a.col.cspan(), values);
  }
  const CsrView<T, Space::host>& view() const { return view_; }

 private:
  Array<T, Space::host> converted_;
  CsrView<T, Space::host> view_;
};

/// A copy in S, with 32-bit row pointers where they suffice.
template <class T, Space S>
class PlacedMatrix {
 public:
  PlacedMatrix(const Context<S>& ctx, const CsrView<T, Space::host>& a)
      : col_(make_array(ctx, a.col)), values_(make_array(ctx, a.val)) {
    if (a.nnz() <= std::numeric_limits<std::int32_t>::max()) {
      std::vector<std::int32_t> row_ptr(static_cast<std::size_t>(a.rows) + 1);
      for (Index i = 0; i <= a.rows; ++i)
        row_ptr[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(a.row_begin(i));
      row_ptr32_ = make_array(ctx, row_ptr);
      view_ = CsrView<T, S>(a.rows, a.cols, row_ptr32_.cspan(), col_.cspan(), values_.cspan());
    } else {
      row_ptr64_ = make_array(ctx, a.row_ptr64);
      view_ = CsrView<T, S>(a.rows, a.cols, row_ptr64_.cspan(), col_.cspan(), values_.cspan());
    }
  }
  const CsrView<T, S>& view() const { return view_; }
  Span<const T, S> values() const { return values_.cspan(); }

 private:
  Array<std::int32_t, S> row_ptr32_;
  Array<Offset, S> row_ptr64_;
  Array<Index, S> col_;
  Array<T, S> values_;
  CsrView<T, S> view_;
};

/// The identity of 64 rows in S: set up before anything is timed, so that what is done once in a process (kernels
/// that are loaded, handles, threads) is no contender's setup.
template <class T, Space S>
PlacedMatrix<T, S> small_identity(const Context<S>& ctx) {
  constexpr Index n = 64;
  std::vector<std::int32_t> row_ptr(n + 1);
  std::vector<Index> col(n);
  const std::vector<T> ones(n, T(1));
  for (Index i = 0; i <= n; ++i) row_ptr[static_cast<std::size_t>(i)] = i;
  for (Index i = 0; i < n; ++i) col[static_cast<std::size_t>(i)] = i;
  return PlacedMatrix<T, S>(
      ctx, CsrView<T, Space::host>(n, n, Span<const std::int32_t, Space::host>(row_ptr.data(), n + 1),
                                   {col.data(), n}, {ones.data(), n}));
}

}  // namespace newel::cli
