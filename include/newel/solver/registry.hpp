// SPDX-License-Identifier: Apache-2.0
/// The table of Krylov methods, and `make_solver`, which looks one up.
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

/// A solver for systems of `n` unknowns. Throws InputError for unknown names, OutOfMemory.
template <class T, Space S>
std::unique_ptr<KrylovSolver<T, S>> make_solver(const Context<S>& ctx, Index n, const SolverOptions& options);

}  // namespace newel
