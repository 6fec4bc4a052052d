// SPDX-License-Identifier: Apache-2.0
// The table of solvers: one line each.
#include <newel/solver/registry.hpp>

#include <newel/core/error.hpp>
#include <newel/core/table.hpp>
#include <newel/reorder/scaling.hpp>
#include <newel/solver/bicgstab.hpp>
#include <newel/solver/cg.hpp>
#include <newel/solver/fgmres.hpp>
#include <newel/solver/gmres.hpp>
#include <newel/solver/guess.hpp>
#include <newel/solver/idrs.hpp>
#include <newel/solver/minres.hpp>
#include "core/vectors/instantiate.hpp"
#include "solver/direct/direct_solver.hpp"
#include "solver/krylov/division.hpp"

namespace newel {
namespace {

Table<SolverMethod>& table() {
  static Table<SolverMethod> methods = {"solver",
                                        {"auto"},
                                        {cg_method(), bicgstab_method(), gmres_method(), minres_method(),
                                         idrs_method(), fgmres_method(), direct_method(), division_method()}};
  return methods;
}

}  // namespace

const std::list<SolverMethod>& solver_methods() { return table().lines(); }

Registration register_solver(SolverMethod method) {
  if (method.title.empty()) method.title = method.name;
  return table().add(std::move(method));
}

const SolverMethod& find_solver(std::string_view name) {
  if (const SolverMethod* line = table().find(name)) return *line;
  std::string known;
  for (const SolverMethod& method : solver_methods()) known += (known.empty() ? "" : ", ") + method.name;
  if (canonical_name(name) == "auto") {
    throw InputError("solver 'auto' is chosen by a system (LinearSystem): here name one of " + known);
  }
  refuse_unknown("solver", name, solver_names(), ", or auto");
}

std::vector<std::string> solver_names() {
  std::vector<std::string> names;
  for (const SolverMethod& method : solver_methods()) names.push_back(method.name);
  return names;
}

template <class T, Space S>
MakeSolver<T, S> detail::maker_of(const SolverMethod& method, const SolverOptions& options) {
  if (method.check != nullptr) method.check(options);
  if (const auto make = method.make.get<T, S>()) return make;
  throw InputError("solver '" + method.name +
                   (method.from_matrix()
                        ? "' needs the entries of a matrix: use a LinearSystem that is made from a matrix"
                        : "' is not available on the " + std::string(name_of(S))));
}

std::vector<std::string> general_solver_names() {
  std::vector<std::string> names;
  for (const SolverMethod& method : solver_methods()) {
    if (!method.from_matrix()) names.push_back(method.name);
  }
  return names;
}

std::vector<MethodOption> solver_option_list() {
  std::vector<MethodOption> options = options_of(solver_methods());
  for (MethodOption& option : scaling_option_list()) options.push_back(std::move(option));
  for (MethodOption& option : guess_option_list()) options.push_back(std::move(option));
  return options;
}

template <class T, Space S>
std::unique_ptr<KrylovSolver<T, S>> make_solver(const Context<S>& ctx, Index n, const SolverOptions& options) {
  const SolverMethod& method = find_solver(options.name);
  return detail::maker_of<T, S>(method, options)(ctx, n, options);
}

#define X(T, S)                                                                                \
  template MakeSolver<T, S> detail::maker_of<T, S>(const SolverMethod&, const SolverOptions&); \
  template std::unique_ptr<KrylovSolver<T, S>> make_solver(const Context<S>&, Index, const SolverOptions&);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel
