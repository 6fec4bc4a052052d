// SPDX-License-Identifier: Apache-2.0
// The solvers of a system: those that are made from its matrix, and the chain that tries them.
#include "solver/system/system_operators.hpp"

#include <algorithm>
#include <type_traits>

#include "core/vectors/instantiate.hpp"

namespace newel::detail {

// Of all methods that a solve may come to, `a` being the matrix in solver order.
template <class T, Space S>
void PlainOperators<T, S>::make_from_matrix(const CsrView<T, S>& a) {
  const SolverMatrix<T, S> matrix{a, order_, chosen_.traits ? &*chosen_.traits : nullptr};
  const auto add = [&](const SolverMethod& method) {
    if (method.check != nullptr) method.check(options_.solver);
    const auto make = method.make_from_matrix.template get<T, S>();
    if (make == nullptr) {
      throw InputError("solver '" + method.name + "' does not exist on the " + std::string(name_of(S)) +
                       (std::is_same_v<T, float> ? " in single precision" : ""));
    }
    made_.emplace_back(&method, make(ctx_, matrix, options_.solver));
  };
  if (chosen_.diagonal && options_.solver.name == "auto") add(*solver_of_diagonal());
  for (const std::string& name : chosen_.solvers.order) {
    const SolverMethod& method = find_solver(name);
    if (!method.from_matrix()) continue;
    add(method);
    const bool inverse = preconditioner() != nullptr && !preconditioner()->diagonal().empty();
    if (method.demands != Demand::diagonal || (inverse && options_.null_space == NullSpace::none)) continue;
    throw InputError("solver '" + method.name +
                     "' needs the inverse of the matrix as preconditioner: auto or jacobi, a diagonal without zeros, "
                     "and no null space");
  }
}

template <class T, Space S>
SolverChain<T, S> PlainOperators<T, S>::make_chain() {
  std::vector<std::string> names = chosen_.solvers.order;
  if (divides() && options_.solver.name == "auto") names.insert(names.begin(), solver_of_diagonal()->name);
  std::vector<ChainStep<T, S>> steps;
  for (const std::string& name : names) {
    const SolverMethod* const method = &find_solver(name);
    const auto made = std::find_if(made_.begin(), made_.end(), [&](const auto& one) { return one.first == method; });
    if (made == made_.end()) {
      steps.push_back(chain_steps<T, S>(ctx_, A_->rows(), {name}, options_.solver).front());
    } else {
      steps.push_back({name, method, false, [solver = made->second] { return solver; }});
    }
  }
  return {ctx_, std::move(steps), *A_, applied_preconditioner(), options_.null_space == NullSpace::constant};
}

#define X(T, S)                                                               \
  template void PlainOperators<T, S>::make_from_matrix(const CsrView<T, S>&); \
  template SolverChain<T, S> PlainOperators<T, S>::make_chain();
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
