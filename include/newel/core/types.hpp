// SPDX-License-Identifier: Apache-2.0
/// The two index types, the two memory spaces and the names of the value types.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace newel {

/// A row or column number. 0-based everywhere in the library.
using Index = std::int32_t;

/// A position among the non-zeros, or a number of them: a matrix may have more than 2^31.
using Offset = std::int64_t;

/// Where memory is and code runs. It is part of the type of every array, span, context and operator, so passing
/// device memory to host code does not compile.
enum class Space { host, device };

/// "host" or "device".
constexpr std::string_view name_of(Space space) { return space == Space::host ? "host" : "device"; }

/// "double" or "single".
template <class T>
constexpr std::string_view precision_name() {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>, "Newel computes in float and double");
  return std::is_same_v<T, double> ? "double" : "single";
}

}  // namespace newel
