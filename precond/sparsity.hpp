// SPDX-License-Identifier: Apache-2.0
/// Sparsity patterns that approximate inverses are computed on: powers, triangles and transposes of A's. Internal.
///
/// Every function works on the host, in parallel by rows, and gives the same arrays whatever the number of threads.
#pragma once

#include <newel/core/csr.hpp>

namespace newel::detail {

/// A pattern of its own: the columns of a row ascend strictly.
struct Sparsity {
  Index rows = 0;
  Index cols = 0;
  Array<Offset, Space::host> row_ptr;  ///< rows + 1
  Array<Index, Space::host> col;       ///< nnz

  Offset nnz() const { return col.size(); }
  Offset row_length(Index i) const { return row_ptr[i + 1] - row_ptr[i]; }
  /// A view, which the arrays must outlive.
  Pattern<Space::host> view() const {
    Pattern<Space::host> pattern;
    pattern.rows = rows;
    pattern.cols = cols;
    pattern.row_ptr64 = row_ptr.cspan();
    pattern.col = col.cspan();
    return pattern;
  }
};

/// A pattern whose entries come from those of another: entry k from entry source[k], -1 where it had none there.
struct SourcedSparsity {
  Sparsity pattern;
  Array<Offset, Space::host> source;
};

/// Which columns of a row are kept.
enum class Triangle { whole, lower };

/// A copy of the pattern. O(nnz).
Sparsity copy_of(const Context<Space::host>& ctx, const Pattern<Space::host>& a);

/// The entries of the square matrix `a` with |a_ij| > drop * sqrt(|a_ii a_jj|), and the stored diagonal entries,
/// whatever they are. A missing diagonal entry counts as 0, and so drops nothing of its row and column. An entry and
/// its opposite stay or go together where |a_ij| = |a_ji|. O(nnz).
template <class T>
Sparsity thresholded(const Context<Space::host>& ctx, const CsrView<T, Space::host>& a, double drop);

/// The pattern of (I + |A|)^power for the square pattern `a`, power >= 1: what |A|^power reaches, with the diagonal
/// and all lower powers in it, so that patterns nest. `triangle`: of the last power only what stands on and below the
/// diagonal. The columns of a row of `a` may stand in any order, and more than once, where the whole of it is asked
/// for. O(entries met by the last product), with a mark per column in each thread.
Sparsity power_of(const Context<Space::host>& ctx, const Pattern<Space::host>& a, int power,
                  Triangle triangle = Triangle::whole);

/// What stands on and below the diagonal of the square pattern `a`, with every diagonal entry, each row's last; where
/// each entry stands in `a`. O(nnz).
SourcedSparsity lower_of(const Context<Space::host>& ctx, const Pattern<Space::host>& a);

/// The transposed pattern, and where each of its entries stands in `a`. O(nnz + rows + cols).
SourcedSparsity transpose_of(const Context<Space::host>& ctx, const Pattern<Space::host>& a);

}  // namespace newel::detail
