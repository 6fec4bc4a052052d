// SPDX-License-Identifier: Apache-2.0
/// Whether operators are indefinite, as far as products with a few vectors can show; whether they are symmetric is
/// `symmetry_fault`. Internal.
#pragma once

#include <newel/solver/failure.hpp>
#include <newel/spmv/operator.hpp>

namespace newel::detail {

/// Whether p.A p <= 0 is true and neither rounding nor underflow: formed again in twice the precision, or compared
/// with an estimate of the rounding if A does not know its entries, for p in units of its own size, which it is in
/// afterwards. `image` is a work vector, `scratch` a double in S; waits for the stream.
template <class T, Space S>
bool is_not_positive_along(const Context<S>& ctx, const LinearOperator<T, S>& A, Span<T, S> p, Span<T, S> image,
                           double* scratch);

/// Whether r.M r <= 0 is true of M as it is computed, and not the rounding or underflow of the product: formed again
/// for r in units of its own size, which it is in afterwards. `image` is a work vector, `scratch` a double in S;
/// waits for the stream.
template <class T, Space S>
bool is_precond_not_positive_along(const Context<S>& ctx, const LinearOperator<T, S>& M, Span<T, S> r,
                                   Span<T, S> image, double* scratch);

}  // namespace newel::detail
