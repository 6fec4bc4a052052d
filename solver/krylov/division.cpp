// SPDX-License-Identifier: Apache-2.0
// The solver of diagonal matrices.
#include "solver/krylov/division.hpp"

#include <cmath>

#include "core/vectors/instantiate.hpp"
#include "solver/krylov/monitor/convergence_monitor.hpp"

namespace newel::detail {

template <class T, Space S>
SolveReport Division<T, S>::run(const SolveRequest<T, S>& request) {
  constexpr int most_steps = 2;
  SolveRequest<T, S> alone = request;
  alone.exchange = nullptr;
  ConvergenceMonitor<T, S> convergence(name(), r_.size(), alone, scratch_.data(), 0);
  convergence.report.method = {};
  if (convergence.open(r_.span())) {
    bool met = false;
    for (int step = 0; step < most_steps && !met && std::isfinite(convergence.residual.norm()); ++step) {
      request.M->apply(request.ctx, T(1), r_.cspan(), T(1), request.x);
      met = convergence.residual.form(r_.span());
    }
    convergence.report.recurrence_residual = convergence.residual.norm();
    if (met) convergence.outcome.conclude(Status::converged);
    if (!std::isfinite(convergence.residual.norm())) convergence.conclude(Event::not_finite);
    convergence.outcome.conclude_stagnation();
  }
  return convergence.close(r_.span(), work_.span());
}

#define X(T, S) template class Division<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
