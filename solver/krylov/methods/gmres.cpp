// SPDX-License-Identifier: Apache-2.0
// Restarted GMRES.
#include <newel/solver/gmres.hpp>

#include "core/vectors/instantiate.hpp"
#include "solver/krylov/methods/gmres_recurrence.hpp"

namespace newel {

template <class T, Space S, class B>
Gmres<T, S, B>::Gmres(const Context<S>& ctx, Index n, int restart, bool left)
    : RecurrenceSolver<T, S>(std::make_unique<detail::GmresRecurrence<T, S, B>>(ctx, n, restart, left)) {}

#define X(T, S) template class Gmres<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X
#define X(S) template class Gmres<double, S, float>;
NEWEL_FOR_SPACES(X)
#undef X

}  // namespace newel
