// SPDX-License-Identifier: Apache-2.0
/// Whether test cases of a library that is loaded at run time can run.
#pragma once

#include <string>

namespace newel::testing {

/// Whether a test case has to be skipped because of what is missing; empty: nothing. It then says so and is counted,
/// like those without data. The first line of each test case that needs a library.
bool skipped_without_library(const std::string& missing);

}  // namespace newel::testing
