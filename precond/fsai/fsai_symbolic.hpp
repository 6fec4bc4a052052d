// SPDX-License-Identifier: Apache-2.0
/// FSAI's symbolic phase: the patterns of A's lower triangle, of G and of G^T, in the space where numbers are
/// computed on them. Internal.
#pragma once

#include <newel/core/vector_ops.hpp>
#include <newel/precond/preconditioner.hpp>
#include "precond/fsai/fsai_pattern.hpp"

namespace newel::detail {

/// In the order of the matrix handed in. G has A's lower triangle as its pattern where it has no arrays of its own.
template <Space S>
struct FsaiSymbolic {
  Array<Offset, S> a_row_ptr;  ///< A's lower triangle, the diagonal last in every row
  Array<Index, S> a_col;
  Array<Offset, S> a_source;  ///< where its entries stand in A, -1 for a diagonal entry that is not there
  Array<Offset, S> g_row_ptr;
  Array<Index, S> g_col;
  Array<Offset, S> t_row_ptr;  ///< G^T
  Array<Index, S> t_col;
  Array<Offset, S> t_source;  ///< where its entries stand in G
  FsaiClasses<S> by_size;     ///< pieces of G's rows
  Offset longest = 0;         ///< entries of G's longest row
  Index longest_row = 0;      ///< the first of them
  double operations = 0;      ///< of the pieces' local problems: m^3 / 3 for m unknowns, summed

  bool g_is_lower() const { return g_row_ptr.empty(); }
  Offset g_nonzeros() const { return t_col.size(); }
};

/// For the square matrix `a`: G has the pattern of the lower triangle of `whole`, which is in the order of `a`; where
/// that is null, one by PrecondOptions::fsai_power, drop and pattern. On a device with kernels where G has the lower
/// triangle of A or of `whole` and that pattern is symmetric, so that no pattern comes to the host; otherwise on the
/// host. Throws InputError for a given pattern that does not fit. O(what the power takes).
template <class T, Space S>
FsaiSymbolic<S> make_fsai_symbolic(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                                   const PrecondOptions& options, const Pattern<S>* whole = nullptr);

/// By kernels, with G on the lower triangle of `whole`, or of `a` where that is null; false, and nothing of use in
/// `result`, where that pattern is not symmetric. Waits on the stream.
bool make_lower_symbolic(const Context<Space::device>& ctx, const Pattern<Space::device>& a,
                         const Pattern<Space::device>* whole, FsaiSymbolic<Space::device>& result);

}  // namespace newel::detail
