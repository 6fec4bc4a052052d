// SPDX-License-Identifier: Apache-2.0
// The x that a solve keeps.
#include "solver/krylov/methods/best_x.hpp"

#include <algorithm>

#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"

namespace newel::detail {

template <class T, Space S>
void BestX<T, S>::offer(const SolveRequest<T, S>& system, double residual, int iteration) {
  if (!empty() && iteration == what_.iteration) return;  // it is this one
  if (!(residual < what_.residual)) {
    if (last_ < 0) last_ = iteration;
    return;
  }
  is_zero_ = system.guess == InitialGuess::zero && iteration == 0;
  if (!is_zero_) copy<T>(system.ctx, Span<const T, S>(system.x), kept_);
  what_ = {residual, iteration};
  last_ = -1;
}

template <class T, Space S>
void BestX<T, S>::restore(const SolveRequest<T, S>& system) const {
  if (is_zero_) return fill<T, S>(system.ctx, T(0), system.x);
  copy<T>(system.ctx, Span<const T, S>(kept_), system.x);
}

template <class T, Space S>
void return_to_best(const SolveRequest<T, S>& system, ConvergenceMonitor<T, S>& convergence, Span<T, S> r,
                    const BestX<T, S>& start, const std::function<void(int)>& repeat) {
  const std::vector<double>& history = convergence.report.history;
  const auto first = history.begin() + start.what().iteration;
  const auto last = start.last() < 0 ? history.end() : history.begin() + start.last() + 1;
  start.restore(system);
  repeat(static_cast<int>(std::min_element(first, last) - first));
  if (convergence.residual.form(r) || convergence.residual.norm() <= *first) return;
  start.restore(system);
  convergence.residual.form(r);
}

#define X(T, S)                                                                                                      \
  template class BestX<T, S>;                                                                                        \
  template void return_to_best(const SolveRequest<T, S>&, ConvergenceMonitor<T, S>&, Span<T, S>, const BestX<T, S>&, \
                               const std::function<void(int)>&);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
