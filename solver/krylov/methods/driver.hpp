// SPDX-License-Identifier: Apache-2.0
/// The driver of a solve, which all Krylov methods share: the first residual and the last, the best x, restarts, the
/// exchange of operators on the way, limits and progress. Internal.
#pragma once

#include "solver/krylov/methods/recurrence.hpp"

namespace newel::detail {

/// Solves by recurrences, each of which begins with r = b - A x, until one gives the outcome. `expected`: iterations
/// of the solve before, 0: none; of this one afterwards.
template <class T, Space S>
SolveReport drive(Recurrence<T, S>& recurrence, const SolveRequest<T, S>& request, int& expected);

}  // namespace newel::detail
