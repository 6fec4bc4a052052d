// SPDX-License-Identifier: Apache-2.0
/// The table of solvers, and `make_solver`, which makes a solver by its name.
#pragma once

#include <newel/core/table.hpp>
#include <newel/solver/method.hpp>

namespace newel {

/// All methods: those of the library, and those that the program has registered.
const std::list<SolverMethod>& solver_methods();

/// Adds a method. Throws InputError if the name is in use. See Table.
Registration register_solver(SolverMethod method);

/// The method with this name. Throws InputError, which lists the known names.
const SolverMethod& find_solver(std::string_view name);

/// The names of all methods.
std::vector<std::string> solver_names();
/// The names of methods that need products with A alone, and are made for any operator.
std::vector<std::string> general_solver_names();

/// All options of the table, each once, in table order, then those of a system (ScalingOptions, GuessOptions); their
/// values are in `SolverOptions::methods`.
std::vector<MethodOption> solver_option_list();

/// A solver for systems of `n` unknowns. Throws InputError for unknown names, options out of range, and methods that
/// are made from a matrix (LinearSystem makes those); OutOfMemory.
template <class T, Space S>
std::unique_ptr<KrylovSolver<T, S>> make_solver(const Context<S>& ctx, Index n, const SolverOptions& options);

namespace detail {

/// The function that makes the method from the number of unknowns; checks the options. Throws InputError like
/// `make_solver`.
template <class T, Space S>
MakeSolver<T, S> maker_of(const SolverMethod& method, const SolverOptions& options);

}  // namespace detail

}  // namespace newel
