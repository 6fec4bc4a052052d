// SPDX-License-Identifier: Apache-2.0
/// Evidence that no x solves A x = b: a vector that A cannot produce a part of, and that b has a part of. Internal.
#pragma once

#include <optional>

#include <newel/solver/failure.hpp>
#include "solver/krylov/monitor/true_residual.hpp"

namespace newel::detail {

/// After a solve that failed at x, why no x meets the tolerance, with the least |b - A x| over |b| that is possible;
/// nothing where there is no evidence. Looked for are rows whose entries are all zero and the constant vector where
/// A's columns sum to zero, both if A knows its entries, and b - A x itself where it is orthogonal to everything that
/// A produces, so that x is a least-squares solution. Orthogonality is tested with products of random vectors.
/// Allocates three vectors, and a fourth while it looks at columns; finds nothing if there is no memory for them;
/// waits for the stream.
template <class T, Space S>
std::optional<Failure> why_inconsistent(const Context<S>& ctx, const LinearOperator<T, S>& A, Span<const T, S> b,
                                        Span<const T, S> x, double rhs_norm, double tolerance);

}  // namespace newel::detail
