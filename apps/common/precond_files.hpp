// SPDX-License-Identifier: Apache-2.0
/// PrecondFiles: the files that preconditioners are given.
#pragma once

#include <string>

namespace newel::cli {

/// Names of files, to be read once the matrix is known; empty where none was given.
struct PrecondFiles {
  std::string pattern;      ///< --precond-pattern
  std::string vectors;      ///< --amg-vectors
  std::string coordinates;  ///< --coordinates
  std::string constraints;  ///< --saddle-rows
  std::string mass;         ///< --saddle-mass
};

}  // namespace newel::cli
