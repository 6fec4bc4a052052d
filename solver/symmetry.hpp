// SPDX-License-Identifier: Apache-2.0
/// Whether operators are symmetric, as far as products with two vectors can show. Internal.
#pragma once

#include <purlin/solver/failure.hpp>
#include <purlin/spmv/operator.hpp>

namespace purlin::detail {

/// Which of A and M (which may be null) is not symmetric, so that CG cannot work with them; none where two vectors do
/// not show that, or where there is no memory to ask. Two products with each; waits for the stream.
template <class T, Space S>
Asymmetric symmetry_fault(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M);

}  // namespace purlin::detail
