// SPDX-License-Identifier: Apache-2.0
/// CSR's product with k interleaved vectors on a device. Internal.
#pragma once

#include <newel/core/csr.hpp>
#include "spmv/column_product.hpp"

namespace newel::detail {

/// A CSR matrix, and how its rows are shared out.
template <class T>
struct CsrColumnsView {
  CsrView<T, Space::device> a;
  int lanes;     ///< of a row: 2 to 32
  Index most;    ///< entries of a row that `lanes` take; longer ones have a block of threads each
  Index blocks;  ///< of threads, for all other rows
  const Index* long_row;
  Index long_rows;
};

/// Lanes, so that each has a few entries of a mean row, and blocks for a device; without the long rows.
template <class T>
CsrColumnsView<T> csr_columns_view(const Context<Space::device>& ctx, const CsrView<T, Space::device>& a);

/// The rows of more than `most` entries, ascending. Waits for the stream.
template <class T>
Array<Index, Space::device> long_rows_of(const Context<Space::device>& ctx, const CsrView<T, Space::device>& a,
                                         Index most);

/// Bytes of work for `columns` vectors.
template <class T>
std::uint64_t csr_column_work(const CsrColumnsView<T>& a, int columns) {
  return static_cast<std::uint64_t>(a.blocks) * static_cast<std::uint64_t>(columns) * sizeof(double);
}

/// `columns` is 2, 4 or 8. args.xy is null where there are long rows. The same bits on every run.
template <class T>
void csr_columns_product(const Context<Space::device>& ctx, const CsrColumnsView<T>& a, int columns,
                         const ColumnProductArgs<T>& args);

}  // namespace newel::detail
