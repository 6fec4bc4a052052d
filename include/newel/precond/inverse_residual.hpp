// SPDX-License-Identifier: Apache-2.0
/// How far an approximate inverse is from the inverse: |A M - I| in the Frobenius norm, from products alone.
#pragma once

#include <newel/precond/preconditioner.hpp>

namespace newel {

/// How far a preconditioner is from the inverse of A.
struct InverseResidual {
  double norm = 0;      ///< |A M - I|_F, or |M A - I|_F for the left side
  double relative = 0;  ///< norm / |I|_F, |I|_F = sqrt(n); 0 for n = 0
  int probes = 0;       ///< random vectors that it was estimated with; 0: exact
};

/// Exact, column by column, up to 256 unknowns. Else the mean of |(A M - I) v|^2 over 32 vectors v of random signs,
/// of which it is the expectation (M. F. Hutchinson, "A stochastic estimator of the trace of the influence matrix",
/// 1989); its standard deviation is at most sqrt(2 / 32), a quarter, of the mean, and much less where many columns
/// contribute. The same vectors on every call, made where the operators are.
/// 64 products, two vectors; waits on the stream once.
template <class T, Space S>
InverseResidual inverse_residual(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>& M,
                                 PrecondSide side = PrecondSide::right);

}  // namespace newel
