// SPDX-License-Identifier: Apache-2.0
/// CsvLine: one line of comma-separated values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace newel::cli {

/// Fields are added in their order; words are quoted where they need it, numbers have the digits that read back to
/// the same bits, and what is not finite or not there is an empty field.
class CsvLine {
 public:
  CsvLine& add(const std::string& words);
  CsvLine& add(double number);
  CsvLine& add(const std::optional<double>& number) { return number ? add(*number) : put(""); }
  CsvLine& add_count(std::int64_t number) { return put(std::to_string(number)); }
  CsvLine& add_empty(int fields);
  std::string end() const { return line_ + '\n'; }

 private:
  CsvLine& put(const std::string& field);

  std::string line_;
  bool first_ = true;
};

}  // namespace newel::cli
