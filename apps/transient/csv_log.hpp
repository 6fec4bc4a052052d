// SPDX-License-Identifier: Apache-2.0
/// CsvLog: a table that a run writes, a line at a time, which a killed run leaves whole.
#pragma once

#include <optional>
#include <string>

namespace newel::transient {

/// Lines whose first number is their time.
class CsvLog {
 public:
  /// With `keep_until`, the lines that the file has up to that time stay: those of the run that continues. A file
  /// with another header is begun anew.
  CsvLog(std::string file, std::string header, std::optional<double> keep_until);

  void append(const std::string& line) { lines_ += line + '\n'; }
  /// Replaces the file by all lines so far. Throws InputError where it cannot be written.
  void flush() const;

 private:
  std::string file_, header_, lines_;
};

}  // namespace newel::transient
