// SPDX-License-Identifier: Apache-2.0
// Restarted GMRES.
#include <newel/solver/gmres.hpp>

#include "core/vectors/instantiate.hpp"
#include "solver/krylov/methods/gmres_recurrence.hpp"

namespace newel {

template <class T, Space S, class B>
Gmres<T, S, B>::Gmres(const Context<S>& ctx, Index n, int restart, bool left)
    : recurrence_(std::make_unique<detail::GmresRecurrence<T, S, B>>(ctx, n, restart, left)) {}
template <class T, Space S, class B>
Gmres<T, S, B>::Gmres(Gmres&&) noexcept = default;
template <class T, Space S, class B>
Gmres<T, S, B>& Gmres<T, S, B>::operator=(Gmres&&) noexcept = default;
template <class T, Space S, class B>
Gmres<T, S, B>::~Gmres() = default;

template <class T, Space S, class B>
SolveReport Gmres<T, S, B>::run(const SolveRequest<T, S>& request) {
  return detail::drive<T, S>(*recurrence_, request, last_iterations_);
}

#define X(T, S) template class Gmres<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X
#define X(S) template class Gmres<double, S, float>;
NEWEL_FOR_SPACES(X)
#undef X

}  // namespace newel
