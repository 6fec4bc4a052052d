// SPDX-License-Identifier: Apache-2.0
/// A matching of rows and columns by which the product of the matched entries is the largest. Internal.
#pragma once

#include <vector>

#include <newel/core/csr.hpp>

namespace newel::detail {

/// The entries of a square matrix by rows. What is 0, infinite or NaN is not an entry.
struct EntrySizes {
  std::vector<Offset> begin;           ///< rows + 1
  Span<const Index, Space::host> col;  ///< ascending or not; of the caller
  std::vector<double> log2;            ///< log2 |a_ij|; minus infinity: not an entry

  Index rows() const { return static_cast<Index>(begin.size()) - 1; }
};

/// Of values in the order of the columns.
template <class T>
EntrySizes entry_sizes(const CsrView<T, Space::host>& a);
/// log2 |value|, or minus infinity for what is not an entry.
double entry_size(double value);

/// A matching with the scaling that proves it: |a_ij| 2^(row_log2[i] + column_log2[j]) is at most 1 for every entry,
/// and 1 for those that are matched.
struct ProductMatching {
  std::vector<Index> column_of_row;           ///< -1: none
  Index matched = 0;                          ///< the structural rank: no matching has more rows
  std::vector<double> row_log2, column_log2;  ///< of a row or column without entries 0

  /// Whether each row has a column.
  bool perfect() const { return matched == static_cast<Index>(column_of_row.size()); }
  /// The first row or column that has no partner; -1: each has one.
  Index unmatched_row() const;
  Index unmatched_column() const;
};

/// If a matching of all rows exists, one whose entries have the largest product; else one of as many rows as
/// possible.
///
/// I. Duff and J. Koster, "On algorithms for permuting large entries to the diagonal of a sparse matrix", SIAM J.
/// Matrix Anal. Appl. 22 (2001), sections 3 and 4: costs are log2 of the largest entry of the row over the entry; a
/// first matching on entries without reduced cost, with changes of one row; then shortest augmenting paths by
/// Dijkstra's method. At most rows (entries + rows log rows) steps, usually a few passes; those that find no path
/// take two passes together. Sequential. Throws WorkInterrupted at the limit of the context's work, and
/// std::bad_alloc.
ProductMatching product_matching(const Context<Space::host>& ctx, const EntrySizes& a);

}  // namespace newel::detail
