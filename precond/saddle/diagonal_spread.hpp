// SPDX-License-Identifier: Apache-2.0
/// How far a matrix is from its diagonal. Internal.
#pragma once

#include <newel/core/csr.hpp>

namespace newel::detail {

/// The largest over the smallest eigenvalue of D^-1 A, D the diagonal of the symmetric A, which must be positive: a
/// lower bound by eight steps of Lanczos's method (Golub and Van Loan, Matrix Computations, 4th edition, section
/// 10.1) from a vector that is almost constant. Mass matrices have less than 10, whatever the mesh; discrete
/// differential operators of second order far more, since they map constants to almost nothing. Infinite where an
/// eigenvalue is not positive.
template <class T>
double diagonal_spread(const Context<Space::host>& ctx, const CsrView<T, Space::host>& a);

}  // namespace newel::detail
