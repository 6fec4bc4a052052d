// SPDX-License-Identifier: Apache-2.0
/// `newel solve A`, and what the user asked it for, checked as far as words alone can be checked.
#pragma once

#include <string>
#include <vector>

#include <newel/solver/linear_system.hpp>

#include "apps/common/precond_files.hpp"

namespace newel::cli {

/// The options of `newel solve`. File names are empty where none was given.
struct SolveOptions {
  std::string matrix;  ///< file, or generated spec
  std::string rhs = "A*random:1";
  bool rhs_given = false;  ///< not the default
  std::string guess, out, history, report, html;
  PrecondFiles precond_files;
  bool precond_residual = false;  ///< measure |A M - I|
  bool explain = false;           ///< print what the automatic choices compare
  std::string device = "auto";
  int gpus = 0;  ///< that share the system; 0: not asked for
  bool single_precision = false;
  int threads = 0;  ///< 0: all
  bool quiet = false;
  std::vector<std::string> given;  ///< what was given of the options that some solves have no use for
  SystemOptions system;            ///< format, preconditioner, solver, stopping, null space, mixed precision

  /// As --precision names it.
  std::string precision() const { return single_precision ? "single" : system.mixed ? "mixed" : "double"; }
};

}  // namespace newel::cli
