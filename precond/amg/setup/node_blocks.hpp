// SPDX-License-Identifier: Apache-2.0
/// A matrix in CSR looked at in blocks where it is, without a copy. Internal.
#pragma once

#include <newel/core/csr.hpp>
#include "core/csr/sorted_row.hpp"

namespace newel::detail {

/// Nodes have `m` rows each, one after the other; the blocks of a node's row are those in which its first row has an
/// entry. Entries of other rows are looked for first where they stand if all rows have the same columns.
template <class T>
struct NodeBlocks {
  const std::int32_t* narrow;
  const Offset* wide;  ///< null: the row pointers are in `narrow`
  const Index* col;
  const T* val;
  int m;

  template <Space S>
  NodeBlocks(const CsrView<T, S>& a, int node_rows)
      : narrow(a.row_ptr32.data), wide(a.row_ptr64.data), col(a.col.data), val(a.val.data), m(node_rows) {}

  NEWEL_HD Offset begin(Index row) const { return wide != nullptr ? wide[row] : Offset{narrow[row]}; }
  /// Entries of a node's first row.
  NEWEL_HD Offset first(Index node) const { return begin(node * m); }
  NEWEL_HD Offset end(Index node) const { return begin(node * m + 1); }
  /// Whether a block begins at such an entry, and its column.
  NEWEL_HD bool starts(Index node, Offset k) const { return k == first(node) || column(k - 1) != column(k); }
  NEWEL_HD Index column(Offset k) const { return m == 1 ? col[k] : col[k] / m; }

  /// An entry of the block that begins at entry k.
  NEWEL_HD double entry(Index node, Offset k, int r, int c) const {
    if (m == 1) return static_cast<double>(val[k]);
    const Index row = node * m + r, j = column(k) * m + c;
    const Offset from = begin(row), to = begin(row + 1);
    Offset at = from + (k - first(node)) + c;
    if (at >= to || col[at] != j) at = find_column(col, from, to, j);
    return at < 0 ? 0.0 : static_cast<double>(val[at]);
  }
  NEWEL_HD double trace(Index node, Offset k) const {
    double sum = 0;
    for (int r = 0; r < m; ++r) sum += entry(node, k, r, r);
    return sum;
  }
  NEWEL_HD double squared_norm(Index node, Offset k) const {
    double sum = 0;
    for (int r = 0; r < m; ++r) {
      for (int c = 0; c < m; ++c) {
        const double value = entry(node, k, r, c);
        sum += value * value;
      }
    }
    return sum;
  }
};

/// How far rows are from those of the transposed matrix, in sums of squares.
struct AsymmetrySums {
  double entries = 0, differences = 0;
};

/// Of every `step`-th entry of one of `rows` rows from place k on, without those of its own node and of columns
/// beyond the rows. An entry without an opposite counts twice, since it is met once.
template <class T>
NEWEL_HD AsymmetrySums asymmetry_of_row(const NodeBlocks<T>& a, Index rows, Index row, Offset k, int step) {
  AsymmetrySums sums;
  for (const Offset end = a.begin(row + 1); k < end; k += step) {
    const Index j = a.col[k];
    if (j >= rows || j / a.m == row / a.m) continue;
    const Offset at = find_column(a.col, a.begin(j), a.begin(j + 1), row);
    const double here = static_cast<double>(a.val[k]), there = at < 0 ? 0.0 : static_cast<double>(a.val[at]);
    sums.entries += here * here;
    sums.differences += (at < 0 ? 2 : 1) * (here - there) * (here - there);
  }
  return sums;
}

}  // namespace newel::detail
