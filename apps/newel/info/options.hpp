// SPDX-License-Identifier: Apache-2.0
/// `newel info A`: what is in a matrix.
#pragma once

#include <string>

#include <newel/precond/registry.hpp>

#include "apps/common/precond_files.hpp"

namespace newel::cli {

/// The options of `newel info`. File names are empty where none was given.
struct InfoOptions {
  std::string matrix;
  std::string report;
  std::string out;  ///< file that the matrix is written to
  int threads = 0;
  PrecondOptions precond{"none"};  ///< one to build and to judge
  PrecondFiles precond_files;
};

/// Prints the facts and writes the report. Returns the exit status; throws what bad input throws.
int run_info(const InfoOptions& options);

}  // namespace newel::cli
