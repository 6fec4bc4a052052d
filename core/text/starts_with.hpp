// SPDX-License-Identifier: Apache-2.0
/// starts_with, as C++20 has it. Internal.
#pragma once

#include <string_view>

namespace newel::detail {

inline bool starts_with(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }

}  // namespace newel::detail
