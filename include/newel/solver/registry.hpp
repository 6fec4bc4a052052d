// SPDX-License-Identifier: Apache-2.0
/// The table of solvers, and `make_solver`, which looks one up.
#pragma once

#include <newel/core/table.hpp>
#include <newel/solver/method.hpp>

namespace newel {

/// All methods: those of the library, and those that the program has registered.
const std::list<SolverMethod>& solver_methods();

/// Adds a method. Throws InputError where the name is in use. See Table.
Registration register_solver(SolverMethod method);

/// The line of that name. Throws InputError that lists the names there are.
const SolverMethod& find_solver(std::string_view name);

/// The names of the table.
std::vector<std::string> solver_names();
/// Those of methods for more than diagonal matrices.
std::vector<std::string> general_solver_names();

/// All options of the table, each once, in its order; their values lie in `SolverOptions::methods`.
std::vector<MethodOption> solver_option_list();

/// A solver for systems of `n` unknowns. Throws InputError for unknown names, options out of range and methods that
/// are made from a matrix, which LinearSystem does; OutOfMemory.
template <class T, Space S>
std::unique_ptr<KrylovSolver<T, S>> make_solver(const Context<S>& ctx, Index n, const SolverOptions& options);

namespace detail {

/// What makes the method from a number of unknowns, its options checked. Throws InputError as `make_solver` does.
template <class T, Space S>
MakeSolver<T, S> maker_of(const SolverMethod& method, const SolverOptions& options);

}  // namespace detail

}  // namespace newel
