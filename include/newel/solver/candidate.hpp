// SPDX-License-Identifier: Apache-2.0
/// SystemCandidate: what the automatic choices of a system compare.
#pragma once

#include <string>

namespace newel {

/// A format and a preconditioner, as the cost model sees one solve with them.
struct SystemCandidate {
  std::string format, preconditioner;  ///< names of the tables
  double setup_seconds = 0;            ///< of the format, and of a preconditioner that was not named
  double iteration_seconds = 0;        ///< of the solver that a solve starts with
  bool resident = false;               ///< in one kernel that keeps the vectors on the chip
  double iterations = 0;               ///< that are expected of one solve
  bool present = false;                ///< the system has both

  /// Of the setup and one solve.
  double seconds() const { return setup_seconds + iterations * iteration_seconds; }
};

}  // namespace newel
