// SPDX-License-Identifier: Apache-2.0
/// That factors have solved a system, as its decision says it: their method is the first of the solvers. Internal.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <newel/solver/choice.hpp>
#include <newel/solver/decision.hpp>
#include <newel/solver/registry.hpp>

namespace newel::detail {

/// Whether solves begin with the last resort, and continue with others. A method that was named stands alone.
inline bool begins_with_factors(const SystemDecision& decided) {
  const SolverMethod* const method = solver_of_last_resort();
  return method != nullptr && decided.solvers.size() > 1 && decided.solvers.front() == method->name;
}

/// To be called for a system whose solves begin with it.
inline void set_begins_with_factors(SystemDecision& decided) {
  if (!begins_with_factors(decided)) decided.solvers.insert(decided.solvers.begin(), solver_of_last_resort()->name);
}

/// The others, in the order of the attempts.
inline std::vector<std::string> solvers_besides_factors(const SystemDecision& decided) {
  return {decided.solvers.begin() + (begins_with_factors(decided) ? 1 : 0), decided.solvers.end()};
}

}  // namespace newel::detail
