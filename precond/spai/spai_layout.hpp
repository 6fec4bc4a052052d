// SPDX-License-Identifier: Apache-2.0
/// The local least-squares problems of SPAI before their numbers: which columns and how many rows each has. Internal.
///
/// SPAI from the right, A M = I, has one problem a column of M; from the left, M A = I, one a row. Both are written
/// as one here, with B = A^T from the right and B = A from the left: problem j finds the row n_j of N that minimises
/// | sum_k n_jk b_k - e_j |, b_k being row k of B, over the k of a given pattern. M = N^T or N.
#pragma once

#include "precond/sparsity.hpp"

namespace newel::detail {

/// What keeps a few dense rows from making every problem that meets them as long as the matrix.
struct SpaiLimits {
  Offset longest_row = 4096;       ///< of B: a longer one is used in its own problem only, which is then diagonal
  Offset most_values = 1ll << 23;  ///< rows times columns of a problem; a larger one becomes diagonal
};

/// For a matrix of so many entries: rows that are far longer than the others are used in their own problem only.
SpaiLimits spai_limits(double entries, Index rows);

struct SpaiLayout {
  Sparsity pattern;                   ///< of N, every diagonal entry in it
  Array<Index, Space::host> touched;  ///< rows of problem j: where its b_k have entries. 0: one column, no matrix
  Index limited = 0;                  ///< problems that lost columns to the limits
  Index most_rows = 0;                ///< of one problem
  Index most_columns = 0;
  Offset most_values = 0;  ///< rows times (columns + 1)
};

/// The problems over `pattern`, square, diagonal in it, for the square pattern of B. Parallel by rows, the same
/// whatever the number of threads. O(entries of all b_k of all problems), with a mark per row in each thread.
SpaiLayout make_spai_layout(const Context<Space::host>& ctx, const Pattern<Space::host>& b, Sparsity pattern,
                            const SpaiLimits& limits = {});

/// The diagonal alone.
Sparsity diagonal_sparsity(const Context<Space::host>& ctx, Index n);

/// The union of a square pattern and its transposed one: entry (i, j) of it is entry `own` of the pattern, and
/// `mirrored` is the pattern's entry (j, i); -1 where there is none.
struct SymmetricUnion {
  Sparsity pattern;
  Array<Offset, Space::host> own, mirrored;
};
SymmetricUnion symmetric_union(const Context<Space::host>& ctx, const Sparsity& pattern);

}  // namespace newel::detail
