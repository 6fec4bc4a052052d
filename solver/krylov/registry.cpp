// SPDX-License-Identifier: Apache-2.0
// The table of Krylov methods: one line each.
#include <newel/solver/registry.hpp>

#include <newel/core/error.hpp>
#include <newel/core/table.hpp>
#include <newel/solver/bicgstab.hpp>
#include <newel/solver/cg.hpp>
#include <newel/solver/gmres.hpp>
#include "core/vectors/instantiate.hpp"

namespace newel {
namespace {

Table<SolverMethod>& table() {
  static Table<SolverMethod> methods = {"solver", {"auto"}, {cg_method(), bicgstab_method(), gmres_method()}};
  return methods;
}

}  // namespace

const std::list<SolverMethod>& solver_methods() { return table().lines(); }

Registration register_solver(SolverMethod method) { return table().add(std::move(method)); }

const SolverMethod& find_solver(std::string_view name) {
  if (const SolverMethod* line = table().find(name)) return *line;
  std::string known;
  for (const SolverMethod& method : solver_methods()) known += (known.empty() ? "" : ", ") + method.name;
  if (canonical_name(name) == "auto") {
    throw InputError("LinearSystem chooses a solver automatically; here name one of: " + known);
  }
  refuse_unknown("solver", name, solver_names(), ", and for LinearSystem auto");
}

std::vector<std::string> solver_names() {
  std::vector<std::string> names;
  for (const SolverMethod& method : solver_methods()) names.push_back(method.name);
  return names;
}

template <class T, Space S>
std::unique_ptr<KrylovSolver<T, S>> make_solver(const Context<S>& ctx, Index n, const SolverOptions& options) {
  const SolverMethod& method = find_solver(options.name);
  const auto make = method.make.get<T, S>();
  if (make == nullptr) {
    throw InputError("solver '" + method.name + "' does not exist on the " + std::string(name_of(S)));
  }
  return make(ctx, n, options);
}

#define X(T, S) \
  template std::unique_ptr<KrylovSolver<T, S>> make_solver(const Context<S>&, Index, const SolverOptions&);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel
