// SPDX-License-Identifier: Apache-2.0
/// The preconditioners that ranks have, and the choice among them. Internal.
#pragma once

#include <newel/precond/choice.hpp>
#include "distributed/rows/distributed_operator.hpp"
#include "distributed/precond/rank_matrix.hpp"

namespace newel::detail {

/// Throws InputError for a preconditioner that ranks do not have, and for options that it cannot honour there.
template <Space S>
void require_precond_on_ranks(const PrecondOptions& options);

/// M by its name; null for "none". `A` is the matrix of `a`, and outlives M. All ranks call it together. Throws what
/// all ranks throw alike: ZeroDiagonal, NotSymmetric, NotPositiveDefinite, LongRow.
template <class T, Space S>
OperatorPtr<T, S> make_precond_on_ranks(const Context<S>& ctx, const DistributedOperator<T, S>& A,
                                        const RankMatrix<T>& a, const PrecondOptions& options);

/// What `options.precond` names. "auto" chooses as `choose_precond` does, by trials and by the cost of all ranks
/// together: the same on all ranks. All call it together.
template <class T, Space S>
ChosenPrecond<T, S> precond_on_ranks(const Context<S>& ctx, const DistributedOperator<T, S>& A,
                                     const RankMatrix<T>& a, const SystemOptions& options);

}  // namespace newel::detail
