// SPDX-License-Identifier: Apache-2.0
/// Counts in sentences: no powers of ten where a person would write the number out. Internal.
#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace newel::detail {

/// 1234567.8 as "1,234,568", and with two significant digits as "1,200,000". Powers of ten from 1e15 on; "inf".
inline std::string plain_number(double number, int significant = 15) {
  char digits[32];
  if (!(std::abs(number) < 1e15)) {
    std::snprintf(digits, sizeof digits, "%.3g", number);
    return digits;
  }
  std::snprintf(digits, sizeof digits, "%.*e", significant - 1, number);
  std::snprintf(digits, sizeof digits, "%.0f", std::strtod(digits, nullptr));
  std::string text = digits;
  const std::size_t first = text[0] == '-' ? 1 : 0;
  for (std::size_t end = text.size(); end > first + 3; end -= 3) text.insert(end - 3, ",");
  return text;
}

}  // namespace newel::detail
