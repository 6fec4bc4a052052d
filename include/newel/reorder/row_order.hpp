// SPDX-License-Identifier: Apache-2.0
/// RowOrder: a renumbering of x and y together, with part boundaries; and the permuted matrix.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <newel/core/csr.hpp>

namespace newel {

/// How an order was found; printed in reports.
struct OrderReport {
  std::string method;                                   ///< one line, or empty for the natural order
  std::string remark;                                   ///< what could not be done as requested; empty: nothing
  std::vector<std::pair<std::string, double>> figures;  ///< "parts", "cut", "halo per row", ...
  std::vector<std::pair<std::string, double>> seconds;  ///< by phase
};

/// A symmetric renumbering. Both arrays have length n, or are empty for the natural order. `gather(x, old_of_new)`
/// converts a vector from the caller's order to the solver's, `gather(x, new_of_old)` converts it back.
template <Space S>
struct RowOrder {
  Array<Index, S> old_of_new;     ///< new row i is the caller's row old_of_new[i]
  Array<Index, S> new_of_old;     ///< the inverse
  std::vector<Index> part_begin;  ///< parts + 1, ascending from 0 to n, in new row numbers; empty: no parts
  OrderReport report;             ///< how it was found

  /// Whether it is the caller's own order.
  bool natural() const { return old_of_new.empty(); }
};

/// Throws InputError unless `part_begin` is empty or ascends from 0 to n.
void check_part_bounds(const std::vector<Index>& part_begin, Index n);

/// The order given by `old_of_new`, a permutation of 0..n-1, with optional part boundaries. Throws InputError, which
/// names the first value that is out of range or repeated, or a boundary that does not fit.
template <Space S>
RowOrder<S> make_row_order(const Context<S>& ctx, const std::vector<Index>& old_of_new,
                           std::vector<Index> part_begin = {});

/// A renumbered matrix B, B_ij = A_{old(i) old(j)}, with sorted columns, and the map from its entries to those of A.
template <class T, Space S>
struct PermutedCsr {
  Csr<T, S> matrix;       ///< B
  ValueMap<S> value_map;  ///< from B's entries to A's

  /// A view that carries the map: operators made from it are refreshed with values in the caller's order.
  CsrView<T, S> view() const {
    CsrView<T, S> v(matrix);
    v.value_map = &value_map;
    return v;
  }
};

/// Renumbers rows and columns of the square matrix `a` in its own space; on the device it does not wait. `a` must be
/// canonical.
template <class T, Space S>
PermutedCsr<T, S> permute(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order);

}  // namespace newel
