// SPDX-License-Identifier: Apache-2.0
// Names of statuses.
#include <newel/solver/krylov.hpp>

namespace newel {

std::string_view name_of(Status status) {
  switch (status) {
    case Status::converged:
      return "converged";
    case Status::max_iterations:
      return "max_iterations";
    case Status::breakdown:
      return "breakdown";
    case Status::not_positive_definite:
      return "not_positive_definite";
    case Status::not_finite:
      return "not_finite";
    case Status::stagnation:
      return "stagnation";
    case Status::diverged:
      return "diverged";
    case Status::time_limit:
      return "time_limit";
    case Status::stopped_by_caller:
      return "stopped_by_caller";
  }
  return "unknown";
}

}  // namespace newel
