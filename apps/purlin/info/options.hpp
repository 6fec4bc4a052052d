// SPDX-License-Identifier: Apache-2.0
/// What the user asked `purlin info` for.
#pragma once

#include <string>

#include <purlin/precond/registry.hpp>

#include "apps/common/precond_files.hpp"

namespace purlin::cli {

/// The options of `purlin info`. File names are empty where none was given.
struct InfoOptions {
  std::string matrix;
  std::string report;
  std::string out;  ///< file that the matrix is written to
  int threads = 0;
  PrecondOptions precond{"none"};  ///< one to build and to judge
  PrecondFiles precond_files;
};

}  // namespace purlin::cli
