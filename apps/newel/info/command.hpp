// SPDX-License-Identifier: Apache-2.0
/// `newel info A`: what is in a matrix.
#pragma once

#include "options.hpp"

namespace newel::cli {

/// Prints the facts and writes the report. Returns the exit status; throws what bad input throws.
int run_info(const InfoOptions& options);

}  // namespace newel::cli
