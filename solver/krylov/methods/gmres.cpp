// SPDX-License-Identifier: Apache-2.0
// Restarted GMRES.
#include <newel/solver/gmres.hpp>

#include "core/vectors/instantiate.hpp"
#include "solver/krylov/methods/gmres_recurrence.hpp"
#include "solver/recycle/recycling.hpp"

namespace newel {

template <class T, Space S, class B>
Gmres<T, S, B>::Gmres(const Context<S>& ctx, Index n, int restart, bool left, int recycled)
    : RecurrenceSolver<T, S>(std::make_unique<detail::GmresRecurrence<T, S, B>>(ctx, n, restart, left, recycled)) {}

template <class T, Space S, class B>
SolveReport Gmres<T, S, B>::run(const SolveRequest<T, S>& request) {
  const auto drive = [this](const SolveRequest<T, S>& with) { return RecurrenceSolver<T, S>::run(with); };
  auto& deflation = this->template recurrence<detail::GmresRecurrence<T, S, B>>().deflation();
  if (request.recycling == nullptr || deflation.room() == 0) return drive(request);
  return request.recycling->solve(request, deflation, drive);
}

#define X(T, S) template class Gmres<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X
#define X(S) template class Gmres<double, S, float>;
NEWEL_FOR_SPACES(X)
#undef X

}  // namespace newel
