// SPDX-License-Identifier: Apache-2.0
// Tables of a run.
#include "csv_log.hpp"

#include <cstdlib>
#include <fstream>
#include <utility>

#include "apps/common/output_files.hpp"

namespace newel::transient {

CsvLog::CsvLog(std::string file, std::string header, std::optional<double> keep_until)
    : file_(std::move(file)), header_(std::move(header)) {
  if (!keep_until) return;
  std::ifstream old(file_);
  std::string line;
  if (!std::getline(old, line) || line != header_) return;
  while (std::getline(old, line)) {
    if (std::strtod(line.c_str(), nullptr) <= *keep_until) append(line);
  }
}

void CsvLog::flush() const { cli::write_text_file("--out", file_, header_ + '\n' + lines_); }

}  // namespace newel::transient
