// SPDX-License-Identifier: Apache-2.0
/// SystemCandidate: one combination that the automatic choices of a system compare.
#pragma once

#include <string>

namespace newel {

/// A format and a preconditioner, with the cost model's estimate of one solve.
struct SystemCandidate {
  std::string format, preconditioner;  ///< names in the tables
  double setup_seconds = 0;            ///< of the format, and of the preconditioner unless it was named in the
                                       ///< options
  double iteration_seconds = 0;        ///< of the solver that a solve starts with
  bool resident = false;               ///< runs in one kernel that keeps the vectors on the chip
  double iterations = 0;               ///< expected for one solve
  bool present = false;                ///< the system uses both now

  /// Setup plus one solve.
  double seconds() const { return setup_seconds + iterations * iteration_seconds; }
};

}  // namespace newel
