// SPDX-License-Identifier: Apache-2.0
/// FactorView: what loops and kernels see of incomplete factors. Internal.
#pragma once

#include <newel/core/context.hpp>

namespace newel::detail {

using DeviceContext = Context<Space::device>;

/// What a factorisation has met, over all rows.
struct FactorVerdict {
  unsigned long long bounded;       ///< pivots that were too small and were replaced
  unsigned long long not_positive;  ///< symmetric: pivots that are not positive enough
  unsigned long long not_finite;    ///< rows with a value that is not finite
};

/// The factors A = L D U of a matrix in elimination order: L and U have ones on their diagonals, which are not
/// stored. Columns of a row ascend. If A is symmetric, U = L^T, and |D| takes the place of D, so that M is positive
/// definite (P. E. Gill, W. Murray, D. B. Ponceleon, M. A. Saunders, SIAM J. Matrix Anal. Appl. 13, 1992).
template <class T>
struct FactorView {
  Index rows = 0;
  bool symmetric = false;
  bool positive = false;          ///< symmetric: pivots must be positive; otherwise they are bounded
  const Offset* l_ptr = nullptr;  ///< rows + 1
  const Index* l_col = nullptr;
  const Offset* u_ptr = nullptr;  ///< rows + 1
  const Index* u_col = nullptr;
  const Offset* mirror = nullptr;  ///< symmetric: where each entry of U is in L
  T* l_val = nullptr;
  T* u_val = nullptr;
  T* d_inv = nullptr;      ///< 1 / d_ii
  const T* a_l = nullptr;  ///< A on the pattern of L, 0 where it has no entry
  const T* a_d = nullptr;  ///< its diagonal
  const T* a_u = nullptr;  ///< A on the pattern of U; symmetric: null
  double shift = 0;        ///< see FactorOptions
};

/// A pivot whose magnitude is below this share of the row's largest entry is replaced by that bound, with its sign
/// (Y. Saad, 2003, section 10.4.1, and his program ILUT). A row of zeros gets the pivot 1.
inline constexpr double least_pivot = 1e-4;
/// A pivot that must be positive must be larger than this share of its diagonal entry after the shift; otherwise all
/// is done again with a larger shift.
inline constexpr double least_positive_pivot = 1e-8;

}  // namespace newel::detail
