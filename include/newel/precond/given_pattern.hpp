// SPDX-License-Identifier: Apache-2.0
/// A sparsity pattern given by the caller, for preconditioners that are sparse matrices.
#pragma once

#include <vector>

#include <newel/core/context.hpp>

namespace newel {

/// Allowed positions of entries in a square matrix, on the host and in the caller's numbering. The columns of a row
/// may be in any order and may repeat. Diagonal entries are always included.
struct GivenPattern {
  Index rows = 0;               ///< also the number of columns
  std::vector<Offset> row_ptr;  ///< rows + 1
  std::vector<Index> col;       ///< row_ptr[rows] columns, 0-based
};

namespace detail {

struct Sparsity;

/// Where to put a given entry (i, j), in new row numbers: at (i, j), at (j, i), or at whichever of the two is below
/// the diagonal.
enum class GivenFold { none, transposed, lower };

/// The pattern for a matrix of n rows in solver order, with all diagonal entries; `new_of_old` is empty for the
/// natural order. Throws InputError if the size differs or row pointers or columns are out of range. O(entries), plus
/// a sort of every row.
Sparsity given_sparsity(const Context<Space::host>& ctx, const GivenPattern& given, Index n,
                        const std::vector<Index>& new_of_old, GivenFold fold);

}  // namespace detail
}  // namespace newel
