// SPDX-License-Identifier: Apache-2.0
/// The rows of the table of factorisations on the host, each from the source of its library. Internal.
#pragma once

#include "solver/direct/factors.hpp"

namespace newel::detail {

/// In builds with Eigen: for every symmetric matrix, and for every matrix.
HostFactorisation eigen_ldlt();
HostFactorisation eigen_lu();
/// A fill-reducing order of rows and columns together for a matrix that is symmetric, to rounding at least:
/// approximate minimum degree of the pattern and its transpose (Amestoy, Davis and Duff 1996). In builds with Eigen.
std::vector<Index> minimum_degree_order(const ColumnPattern& whole);

/// KLU, loaded at run time: for matrices whose factors hardly fill up, as those of circuits and networks.
HostFactorisation klu_lu();

/// CHOLMOD's supernodal L L^T, loaded at run time: for positive definite matrices whose factors fill up. In builds
/// with Eigen, whose order it takes, that NEWEL_CHOLMOD_SUPERNODAL allows to call it.
HostFactorisation cholmod_llt();

}  // namespace newel::detail
