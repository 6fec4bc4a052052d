// SPDX-License-Identifier: Apache-2.0
/// What is done with systems that no x solves. Internal.
#pragma once

#include "solver/chain/returned_x.hpp"

namespace newel::detail {

/// A solve that failed since no x meets the tolerance ends as stagnation, whatever the method has met: looks for the
/// reason in A and b, where that is worth some products.
template <class T, Space S>
void look_for_inconsistency(const Context<S>& ctx, const LinearOperator<T, S>& A, SolveReport& report,
                            Span<const T, S> b, Span<const T, S> x);

/// Takes the part along the residual out of x, if the residual does not grow by it: a residual that is orthogonal to
/// the range of a symmetric A is mapped to zero by it. `kept` is scratch.
template <class T, Space S>
void shorten(const Context<S>& ctx, const LinearOperator<T, S>& A, ReturnedResidual<T, S>& judge, KeptX<T, S>& kept,
             SolveReport& whole, Span<const T, S> b, Span<T, S> x);

}  // namespace newel::detail
