// SPDX-License-Identifier: Apache-2.0
// Names of statuses, and the solvers by name.
#include <purlin/solver/krylov.hpp>

#include <purlin/core/error.hpp>
#include <purlin/core/instantiate.hpp>
#include <purlin/solver/bicgstab.hpp>
#include <purlin/solver/cg.hpp>
#include <purlin/solver/gmres.hpp>

namespace purlin {

std::string_view name_of(Status status) {
  switch (status) {
    case Status::converged: return "converged";
    case Status::max_iterations: return "max_iterations";
    case Status::breakdown: return "breakdown";
    case Status::not_positive_definite: return "not_positive_definite";
    case Status::not_finite: return "not_finite";
    case Status::stagnation: return "stagnation";
    case Status::time_limit: return "time_limit";
    case Status::stopped_by_caller: return "stopped_by_caller";
  }
  return "unknown";
}

const std::vector<std::string>& solver_names() {
  static const std::vector<std::string> names = {"cg", "bicgstab", "gmres"};
  return names;
}

template <class T, Space S>
std::unique_ptr<KrylovSolver<T, S>> make_solver(const Context<S>& ctx, Index n, const SolverOptions& options) {
  if (options.name == "cg") return std::make_unique<Cg<T, S>>(ctx, n);
  if (options.name == "bicgstab") return std::make_unique<Bicgstab<T, S>>(ctx, n);
  if (options.name == "gmres") return std::make_unique<Gmres<T, S>>(ctx, n, options.restart, options.left);
  std::string known;
  for (const auto& name : solver_names()) known += (known.empty() ? "" : ", ") + name;
  throw InputError("there is no solver '" + options.name + "'; there are: " + known);
}

#define X(T, S) \
  template std::unique_ptr<KrylovSolver<T, S>> make_solver(const Context<S>&, Index, const SolverOptions&);
PURLIN_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace purlin
