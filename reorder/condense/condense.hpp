// SPDX-License-Identifier: Apache-2.0
/// Rows with nothing but a diagonal entry, which fix an unknown each, and the system that remains without them.
/// Internal.
#pragma once

#include <newel/core/csr.hpp>

namespace newel::detail {

/// Which rows of a square matrix have a diagonal entry that is finite and not 0, and no other value than 0.
template <Space S>
struct FixingRows {
  Array<char, S> is_one;  ///< 1 or 0 for each row; empty if there are none
  Index count = 0;
};

/// Reads each row up to the first other value. Waits for the stream.
template <class T>
FixingRows<Space::host> fixing_rows(const Context<Space::host>& ctx, const CsrView<T, Space::host>& a);
template <class T>
FixingRows<Space::device> fixing_rows(const Context<Space::device>& ctx, const CsrView<T, Space::device>& a);

/// Whether another row has a value other than 0 in the column of one of them. Waits for the stream.
template <class T>
bool are_used(const Context<Space::host>& ctx, const CsrView<T, Space::host>& a, const FixingRows<Space::host>& rows);
template <class T>
bool are_used(const Context<Space::device>& ctx, const CsrView<T, Space::device>& a,
              const FixingRows<Space::device>& rows);

/// Whether each of them is one also of `a`, the same pattern with other values. Waits for the stream.
template <class T>
bool still_fix(const Context<Space::host>& ctx, const CsrView<T, Space::host>& a,
               const FixingRows<Space::host>& rows);
template <class T>
bool still_fix(const Context<Space::device>& ctx, const CsrView<T, Space::device>& a,
               const FixingRows<Space::device>& rows);

/// Whether a few of the rows that are kept show that the rest, without the fixing rows and their columns, is not
/// symmetric as MatrixTraits counts it. False: it may be. On the host, where making the rest takes as long as
/// everything else before the first iteration of a small system.
template <class T>
bool rest_is_not_symmetric(const CsrView<T, Space::host>& a, const FixingRows<Space::host>& rows);

/// Entries of a matrix by rows, and where their values are.
template <Space S>
struct PartOfMatrix {
  Index rows = 0, cols = 0;
  Array<Offset, S> row_ptr;
  Array<Index, S> col;
  ValueMap<S> source;  ///< of each entry in the whole matrix

  Pattern<S> pattern() const {
    Pattern<S> view;
    view.rows = rows;
    view.cols = cols;
    view.row_ptr64 = row_ptr.cspan();
    view.col = col.cspan();
    return view;
  }
};

/// A with the fixing rows last, in which only the diagonal D remains: (B, C; 0, D). Rows keep their order.
template <Space S>
struct CondensedPattern {
  Array<Index, S> old_of_new, new_of_old;
  PartOfMatrix<S> B, C, D;
};

/// Every stored entry of the other rows is in B or in C. On the host, also for a matrix of the device.
template <Space S>
CondensedPattern<S> condensed_pattern(const Context<S>& ctx, const Pattern<S>& a, const FixingRows<S>& rows);

}  // namespace newel::detail
