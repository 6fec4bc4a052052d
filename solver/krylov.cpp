// SPDX-License-Identifier: Apache-2.0
// Names of statuses, and the solvers by name.
#include <purlin/solver/krylov.hpp>

#include <algorithm>

#include <purlin/core/error.hpp>
#include <purlin/core/instantiate.hpp>
#include <purlin/solver/bicgstab.hpp>
#include <purlin/solver/cg.hpp>
#include <purlin/solver/gmres.hpp>
#include <purlin/spmv/registry.hpp>

namespace purlin {

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

const std::vector<std::string>& solver_names() {
  static const std::vector<std::string> names = {"cg", "bicgstab", "gmres"};
  return names;
}

int gmres_cycle_length(const SolverOptions& options, Index n, std::size_t value_bytes) {
  constexpr std::int64_t usual = 50, basis_bytes = std::int64_t{16} << 20;
  if (options.restart < 0) throw InputError("the restart of GMRES is 0 (automatic) or more");
  const std::int64_t most = std::max<Index>(n, 1);
  std::int64_t length = options.restart > 0 ? options.restart : usual;
  if (options.restart == 0 && options.name == "auto") {
    length = std::max(usual, basis_bytes / (most * static_cast<std::int64_t>(value_bytes)));
  }
  return static_cast<int>(std::min(length, most));
}

std::size_t basis_value_bytes(const SolverOptions& options, std::size_t value_bytes) {
  return options.single_basis ? sizeof(float) : value_bytes;
}

template <class T, Space S>
std::unique_ptr<KrylovSolver<T, S>> make_solver(const Context<S>& ctx, Index n, const SolverOptions& options) {
  const std::string name = canonical_name(options.name);
  if (name == "cg") return std::make_unique<Cg<T, S>>(ctx, n, options.resident);
  if (name == "bicgstab") return std::make_unique<Bicgstab<T, S>>(ctx, n, options.resident);
  if (name == "gmres") {
    const int restart = gmres_cycle_length(options, n, basis_value_bytes(options, sizeof(T)));
    if (options.single_basis) return std::make_unique<Gmres<T, S, float>>(ctx, n, restart, options.left);
    return std::make_unique<Gmres<T, S>>(ctx, n, restart, options.left);
  }
  std::string known;
  for (const auto& name : solver_names()) known += (known.empty() ? "" : ", ") + name;
  if (name == "auto") throw InputError("LinearSystem chooses a solver automatically; here name one of: " + known);
  throw InputError("there is no solver '" + options.name + "'; there are: " + known + ", and for LinearSystem auto");
}

#define X(T, S) \
  template std::unique_ptr<KrylovSolver<T, S>> make_solver(const Context<S>&, Index, const SolverOptions&);
PURLIN_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace purlin
