// SPDX-License-Identifier: Apache-2.0
/// Converts a number of solves to SystemOptions::expected_products, for interfaces that ask for solves.
#pragma once

#include <newel/solver/system_options.hpp>

namespace newel {

/// Estimated products with A in `solves` solves of a system of `rows` unknowns, from the iterations expected for its
/// size. `block`: rows per node, used if no coordinates give that number. 0 for no solves.
double expected_products(double solves, const SystemOptions& options, Index rows, int block = 1);

}  // namespace newel
