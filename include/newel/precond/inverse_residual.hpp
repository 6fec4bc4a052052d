// SPDX-License-Identifier: Apache-2.0
/// The distance of an approximate inverse from the inverse: |A M - I| in the Frobenius norm, from products alone.
#pragma once

#include <newel/precond/preconditioner.hpp>

namespace newel {

/// How far a preconditioner is from the inverse of A.
struct InverseResidual {
  double norm = 0;      ///< |A M - I|_F, or |M A - I|_F for the left side
  double relative = 0;  ///< norm / |I|_F, |I|_F = sqrt(n); 0 for n = 0
  int probes = 0;       ///< number of random vectors used for the estimate; 0: exact
};

/// Up to 256 unknowns: exact, column by column. Beyond: the mean of |(A M - I) v|^2 over 32 vectors v of random
/// signs, an unbiased estimate of the squared norm (M. F. Hutchinson, "A stochastic estimator of the trace of the
/// influence matrix", 1989). The standard deviation of that mean is at most a quarter of it, sqrt(2 / 32), and much
/// less if many columns contribute. The vectors are the same on every call, and are generated in the operators'
/// space. Costs 64 products and two vectors; waits on the stream once.
template <class T, Space S>
InverseResidual inverse_residual(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>& M,
                                 PrecondSide side = PrecondSide::right);

}  // namespace newel
