// SPDX-License-Identifier: Apache-2.0
/// The pattern of ILUT. Internal.
#pragma once

#include <newel/core/csr.hpp>
#include "precond/incomplete/factor_pattern.hpp"

namespace newel::detail {

/// The entries that ILUT keeps of A in the order `old_of_new` (Y. Saad, Numer. Linear Algebra Appl. 1, 1994,
/// algorithm 2.1; his pivots of 0 are bounded as in factor_view.hpp). Left out are w_k before its division by the
/// pivot and u_ij if they are below drop |a_i|_2, and all but the largest fill / 2 * nnz / n entries of a row of L
/// and of U; of equal ones those of smaller columns stay. One row needs earlier ones, so one thread works. In double.
template <class T>
Triangles threshold_fill(const Context<Space::host>& ctx, const CsrView<T, Space::host>& a,
                         const std::vector<Index>& old_of_new, const IlutOptions& options);

}  // namespace newel::detail
