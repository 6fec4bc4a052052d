// SPDX-License-Identifier: Apache-2.0
// A recurrence with its driver, as a solver.
#include <newel/solver/recurrence_solver.hpp>

#include <utility>

#include "core/vectors/instantiate.hpp"
#include "solver/krylov/methods/driver.hpp"

namespace newel {

template <class T, Space S>
RecurrenceSolver<T, S>::RecurrenceSolver(std::unique_ptr<detail::Recurrence<T, S>> recurrence)
    : recurrence_(std::move(recurrence)) {}
template <class T, Space S>
RecurrenceSolver<T, S>::RecurrenceSolver(RecurrenceSolver&&) noexcept = default;
template <class T, Space S>
RecurrenceSolver<T, S>& RecurrenceSolver<T, S>::operator=(RecurrenceSolver&&) noexcept = default;
template <class T, Space S>
RecurrenceSolver<T, S>::~RecurrenceSolver() = default;

template <class T, Space S>
SolveReport RecurrenceSolver<T, S>::run(const SolveRequest<T, S>& request) {
  return detail::drive<T, S>(*recurrence_, request, last_iterations_);
}

#define X(T, S) template class RecurrenceSolver<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel
