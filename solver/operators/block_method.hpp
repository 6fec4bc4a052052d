// SPDX-License-Identifier: Apache-2.0
/// The method for the block-triangular form of the preconditioner for saddle points. Internal.
#pragma once

#include <newel/precond/registry.hpp>
#include <newel/precond/saddle/saddle_options.hpp>
#include <newel/solver/registry.hpp>
#include <newel/solver/system_options.hpp>
#include "solver/policy/system_choices.hpp"

namespace newel::detail {

/// One that minimises the residual while blocks may be inverted in another way in each iteration; null: there is
/// none.
inline const SolverMethod* solver_of_blocks() {
  for (const SolverMethod& method : solver_methods()) {
    if (method.flexible && method.minimises) return &method;
  }
  return nullptr;
}

/// Whether "auto" has all the choice that it takes to begin a solve with both.
inline bool may_choose_blocks(const SystemOptions& options) {
  return options.solver.name == "auto" && options.null_space == NullSpace::none && solver_of_blocks() != nullptr &&
         options.precond.of<SaddleOptions>().form == SaddleForm::automatic;
}

/// The usual solvers come back with another preconditioner.
inline void choose_solver_of_blocks(SystemChoices& chosen) {
  chosen.usual_solvers = chosen.solvers;
  chosen.solvers = {{solver_of_blocks()->name}, "a saddle point, whose preconditioner is block-triangular"};
}

}  // namespace newel::detail
