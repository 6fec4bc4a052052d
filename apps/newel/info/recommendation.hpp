// SPDX-License-Identifier: Apache-2.0
/// A command to begin with, from what is known of a matrix.
#pragma once

#include <string>

#include <newel/core/matrix_traits.hpp>

namespace newel::cli {

struct Recommendation {
  std::string command;  ///< empty where no solve can work
  std::string reason;   ///< why this one, or why none
};

/// A command for the matrix `name` with these traits, square or not. It names what differs from the defaults only,
/// and a right-hand side for a trial. `defect`: why no solve can work, as `defect_of` says.
Recommendation recommend(const std::string& name, Index rows, Index cols, const MatrixTraits& traits,
                         bool rows_sum_to_zero, const std::string& defect);

}  // namespace newel::cli
