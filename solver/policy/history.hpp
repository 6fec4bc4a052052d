// SPDX-License-Identifier: Apache-2.0
/// History: what the solves and refreshes of a system count. Internal.
#pragma once

#include <newel/precond/choice.hpp>
#include <newel/solver/decision.hpp>

namespace newel::detail {

/// All counts of a system, and how they are counted. Its decision keeps them.
struct History : SolveHistory {
  void count(int of_solve) {
    ++solves;
    format.iterations += of_solve;
    preconditioner.iterations += of_solve;
  }
  /// A whole solve with the present preconditioner.
  void solved(bool converged, int of_solve, ExpectedIterations present) {
    last_iterations = converged ? of_solve : 0;
    if (!converged) return;
    if (present == &newel::simple_iterations) simple_measured = of_solve;
    simple_iterations = simple_iterations_for(present, of_solve);
  }
  void count_refresh() {
    ++preconditioner.refreshes;
    ++whole.refreshes;
  }
};

}  // namespace newel::detail
