// SPDX-License-Identifier: Apache-2.0
/// What the user asked `newel info` for.
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

}  // namespace newel::cli
