// SPDX-License-Identifier: Apache-2.0
/// The pattern of a SPAI that grows where its columns are bad (M. J. Grote and T. Huckle, "Parallel Preconditioning
/// with Sparse Approximate Inverses", SIAM J. Sci. Comput. 18, 1997). Internal.
#pragma once

#include "precond/spai/spai_layout.hpp"

namespace newel::detail {

struct AdaptiveLimits {
  Index most_columns = 64;  ///< of a problem
  Index most_a_step = 5;    ///< columns that a step adds
};

/// The pattern of N for the rows of B (spai_layout.hpp), `val` being B's values. Problem j begins with column j.
/// While its residual r exceeds `epsilon`, the columns k that share a row with r are judged by what the residual
/// would be with k alone added, rho_k^2 = |r|^2 - (r.b_k)^2 / |b_k|^2; the best of those not above the mean join.
/// It ends at the limit, where no column helps, and where the last ones made the problem deficient, which then leave
/// again. Parallel by problems, the same whatever the number of threads.
template <class T>
Sparsity adaptive_sparsity(const Context<Space::host>& ctx, const Sparsity& b, Span<const T, Space::host> val,
                           double epsilon, const AdaptiveLimits& limits = {});

}  // namespace newel::detail
