// SPDX-License-Identifier: Apache-2.0
/// A pattern of the caller's own for the preconditioners that are sparse matrices.
#pragma once

#include <vector>

#include <newel/core/context.hpp>

namespace newel {

/// Where entries of a square matrix may stand, on the host and in the caller's numbering. The columns of a row may
/// stand in any order and more than once; diagonal entries are in it whether they are given or not.
struct GivenPattern {
  Index rows = 0;               ///< and columns
  std::vector<Offset> row_ptr;  ///< rows + 1
  std::vector<Index> col;       ///< row_ptr[rows] of them, from 0
};

namespace detail {

struct Sparsity;

/// Where a given entry (i, j) goes, in new numbers: there, to (j, i), or to whichever of them stands below the
/// diagonal.
enum class GivenFold { none, transposed, lower };

/// The pattern for a matrix of n rows in solver order, with every diagonal entry; `new_of_old` is empty for the
/// natural order. Throws InputError for another size, and for row pointers and columns out of range. O(entries),
/// with a sort of every row.
Sparsity given_sparsity(const Context<Space::host>& ctx, const GivenPattern& given, Index n,
                        const std::vector<Index>& new_of_old, GivenFold fold);

}  // namespace detail
}  // namespace newel
