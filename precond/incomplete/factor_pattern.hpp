// SPDX-License-Identifier: Apache-2.0
/// FactorPattern: all of incomplete factors that depends on the pattern of A alone: order, fill, levels. Internal.
#pragma once

#include <vector>

#include <newel/core/csr.hpp>
#include <newel/precond/incomplete/incomplete_options.hpp>
#include "precond/sparsity.hpp"

namespace newel::detail {

/// Strict triangles of L and U, columns ascending.
struct Triangles {
  Sparsity lower, upper;
};

/// The factors' rows are sorted by levels: a row of L needs rows of earlier levels alone, a row of U those of later
/// ones. The levels are those of both patterns together, so one order serves both.
struct FactorPattern {
  std::vector<Index> old_of_new;   ///< row i of the factors is row old_of_new[i] of A
  std::vector<Index> level_begin;  ///< levels + 1
  Triangles parts;
  /// Where the entries of L, of the diagonal and of U are in A; -1 if A has none there. If symmetric, without U.
  Array<Offset, Space::host> source;
  Array<Offset, Space::host> mirror;  ///< symmetric: where each entry of U is in L

  Index levels() const { return static_cast<Index>(level_begin.size()) - 1; }
};

/// B_ij = A_{old(i) old(j)}, columns ascending. O(nnz log(row length)).
Sparsity in_order(const Context<Space::host>& ctx, const Pattern<Space::host>& a,
                  const std::vector<Index>& old_of_new);

/// The pattern of A and A^T together, for a square pattern. O(nnz).
Sparsity with_transpose(const Context<Space::host>& ctx, const Sparsity& a);

/// An order of elimination: entry i is the row that comes i-th. `symmetric` is a pattern with its transpose, in
/// natural order.
std::vector<Index> elimination_order(const Sparsity& symmetric, FactorOrder order);

/// The patterns of ILU(level), in the order of `a`. An entry (i, j) is kept if a path of at most level + 1 edges
/// leads from i to j in the graph of A through vertices below min(i, j) (D. Hysom and A. Pothen, SIAM J. Sci. Comput.
/// 22, 2001, theorem 1). Rows are independent of each other. The same for any number of threads. `symmetric`: `a` is
/// its own transpose.
Triangles level_fill(const Context<Space::host>& ctx, const Sparsity& a, int level, bool symmetric);

/// Sorts `parts`, in the order `old_of_new` of A, by levels, and finds their entries in A. `symmetric`: upper is the
/// transpose of lower, and entries that A has only above the diagonal are found there.
FactorPattern by_levels(const Context<Space::host>& ctx, const Pattern<Space::host>& a,
                        const std::vector<Index>& old_of_new, const Triangles& parts, bool symmetric);

}  // namespace newel::detail
