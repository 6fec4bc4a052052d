// SPDX-License-Identifier: Apache-2.0
/// MatrixTraits of a matrix whose rows are distributed over ranks. Internal.
#pragma once

#include <newel/core/matrix_traits.hpp>
#include "distributed/precond/near_rows.hpp"
#include "distributed/precond/rank_matrix.hpp"

namespace newel::detail {

/// The same on all ranks. `near` reaches one step at least. Counts are at most the largest Index, and the first rows
/// are not found. All ranks call it together.
template <class T>
MatrixTraits rank_traits(const Context<Space::host>& ctx, const NearRows<T>& near);
/// The same on a device: `rows` are those of `a`. Only entries in columns of other ranks go by way of the host.
template <class T>
MatrixTraits rank_traits(const Context<Space::device>& ctx, const RankMatrix<T>& a, const RowsOnDevice<T>& rows);

/// What a rank knows, to be added, and to be compared, over all.
struct RankFacts {
  enum Counted { in_empty, in_missing, in_zero, in_negative, in_undamped, in_unmatched, counted_kinds };
  enum Compared { in_max_abs, in_asymmetry, in_relative_asymmetry, compared_kinds };

  double count[counted_kinds] = {};  ///< of rows, and of entries a_ij without an a_ji
  double most[compared_kinds] = {};

  /// a_ij with a_ji, which is 0 if it is not stored; the scales are those of rows i and j.
  void take_pair(double here, double there, bool stored, double scale_i, double scale_j);
  /// Those of other rows beside these.
  void join(const RankFacts& others);
  /// The same on all ranks, with a matrix of so many rows.
  MatrixTraits of_all(const Context<Space::host>& ctx, std::int64_t rows);
};

/// Throws NotSymmetric, on all ranks alike, if a_ij and a_ji differ by more than rounding to T.
template <class T>
void require_symmetry_on_ranks(const Context<Space::host>& ctx, const NearRows<T>& near);

}  // namespace newel::detail
