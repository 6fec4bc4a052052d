// SPDX-License-Identifier: Apache-2.0
/// Which factorisations the solver `direct` can take, and what is missing for the others.
#pragma once

#include <string>
#include <vector>

#include <newel/core/types.hpp>

namespace newel {

/// One way to factorise a matrix.
struct Factorisation {
  std::string title;    ///< "L U by KLU"
  Space space;          ///< where the factors are
  std::string license;  ///< of the library, by its SPDX identifier
  std::string package;  ///< what brings the library
  std::string missing;  ///< why it cannot be used here; empty: it can
};

/// All factorisations of this build, in the order of preference. The first call looks for their libraries, which are
/// loaded if they are there.
std::vector<Factorisation> factorisations();

}  // namespace newel
