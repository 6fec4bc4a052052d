// SPDX-License-Identifier: Apache-2.0
/// SystemOptions::expected_products of so many solves, for interfaces that ask for solves.
#pragma once

#include <newel/solver/system_options.hpp>

namespace newel {

/// Products with A of that many solves of a system of `rows` unknowns, by the iterations that are expected for its
/// size: an estimate. `block` rows belong to a node where no coordinates say how many do. 0 for no solves.
double expected_products(double solves, const SystemOptions& options, Index rows, int block = 1);

}  // namespace newel
