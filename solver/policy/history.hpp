// SPDX-License-Identifier: Apache-2.0
/// History: what the solves and refreshes of a system have counted. Internal.
#pragma once

#include <newel/precond/choice.hpp>
#include "solver/policy/system_learning.hpp"

namespace newel::detail {

/// A stronger preconditioner over whole solves: the iterations that a solve took, or would have taken, with the one
/// before it; 0: not known. How many solves in a row took longer with the stronger one.
struct WholeSolves {
  double weaker_iterations = 0, weaker_seconds = 0;  ///< the latter of an iteration
  int iterations = 0;                                ///< of the last one, with the stronger
  int slower = 0, refreshes = 0;                     ///< of M, since the last solve
  bool estimated = false;                            ///< `weaker_iterations`
};

/// All counts of a system; its decision keeps them (SystemDecision), and nothing else that solves have shown.
struct History {
  int solves = 0;                 ///< columns one by one
  SystemLearning format;          ///< with the present format
  SystemLearning preconditioner;  ///< with the present preconditioner
  int last_iterations = 0;        ///< of the last solve that converged with it; 0: none did
  double simple_seen = 0;         ///< iterations with the simple preconditioner, by the last solve; 0: not known
  double simple_measured = 0;     ///< of the last whole solve with it that converged; 0: there was none
  bool change_failed = false;     ///< of the format, for want of memory, say: not tried again
  WholeSolves whole;

  void count(int iterations) {
    ++solves;
    format.count(iterations);
    preconditioner.count(iterations);
  }
  /// A whole solve with the present preconditioner.
  void solved(bool converged, int iterations, ExpectedIterations present) {
    last_iterations = converged ? iterations : 0;
    if (!converged) return;
    if (present == &simple_iterations) simple_measured = iterations;
    simple_seen = simple_iterations_for(present, iterations);
  }
  void count_refresh() {
    preconditioner.count_refresh();
    ++whole.refreshes;
  }
};

}  // namespace newel::detail
