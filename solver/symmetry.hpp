// SPDX-License-Identifier: Apache-2.0
/// Whether operators are symmetric, as far as products with two vectors can show. Internal.
#pragma once

#include <string>

#include <purlin/spmv/operator.hpp>

namespace purlin::detail {

/// Why CG cannot work with A and M (which may be null), in a few words: one of them is not symmetric. Empty where two
/// vectors do not show that, or where there is no memory to ask. Two products with each; waits for the stream.
template <class T, Space S>
std::string symmetry_fault(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M);

}  // namespace purlin::detail
