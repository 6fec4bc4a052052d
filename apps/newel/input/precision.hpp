// SPDX-License-Identifier: Apache-2.0
/// Single and double precision: the default tolerances, and from what was read, in double, to the one requested.
#pragma once

#include <cmath>
#include <limits>
#include <string>

#include <newel/core/array.hpp>
#include <newel/core/error.hpp>
#include <newel/core/parallel.hpp>

namespace newel::cli {

/// Relative tolerance where none is given. Rounding in single precision ends near 1e-7 times the condition number.
inline constexpr double default_rtol_double = 1e-8;
inline constexpr double default_rtol_single = 1e-5;

/// `from` in precision T, rounded. Throws InputError where a finite number becomes infinite.
template <class T>
Array<T, Space::host> to_precision(const Context<Space::host>& ctx, Span<const double, Space::host> from,
                                   const char* what) {
  Array<T, Space::host> to(ctx, from.size);
  const auto fits = [&](std::int64_t i) {
    return !(std::abs(from[i]) > static_cast<double>(std::numeric_limits<T>::max()));
  };
  const bool all_fit = parallel_all(ctx, from.size, [&](std::int64_t i) {
    to[i] = static_cast<T>(from[i]);
    return fits(i);
  });
  if (all_fit) return to;
  std::int64_t first = 0;
  while (fits(first)) ++first;
  throw InputError(std::string(what) + " holds " + std::to_string(from[first]) +
                   ", which is outside the range of single precision: use --precision double");
}

}  // namespace newel::cli
