// SPDX-License-Identifier: Apache-2.0
// Quoting, and the shortest digits.
#include "csv_line.hpp"

#include <charconv>
#include <cmath>

#include "apps/common/printable.hpp"

namespace newel::cli {

CsvLine& CsvLine::add(const std::string& words) {
  const std::string shown = without_controls(words);
  std::string quoted;
  for (const char c : shown) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return put(shown.find_first_of(",\"") == std::string::npos ? shown : '"' + quoted + '"');
}

CsvLine& CsvLine::add(double number) {
  if (!std::isfinite(number)) return put("");
  char digits[32];
  return put(std::string(digits, std::to_chars(digits, digits + sizeof digits, number).ptr));
}

CsvLine& CsvLine::add_empty(int fields) {
  for (int k = 0; k < fields; ++k) put("");
  return *this;
}

CsvLine& CsvLine::put(const std::string& field) {
  line_ += (first_ ? "" : ",") + field;
  first_ = false;
  return *this;
}

}  // namespace newel::cli
