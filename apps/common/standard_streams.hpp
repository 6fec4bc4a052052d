// SPDX-License-Identifier: Apache-2.0
/// "-" on the command line: standard input where a file is read, standard output where one is written.
#pragma once

#include <string>
#include <vector>

#include "output_files.hpp"

namespace newel::cli {

inline constexpr const char* standard_stream = "-";

inline bool is_standard_stream(const std::string& file) { return file == standard_stream; }

/// The file to open for an input: standard input by the name that the system has for it.
inline std::string input_file(const std::string& file) { return is_standard_stream(file) ? "/dev/stdin" : file; }

/// Throws UsageError where more than one of the inputs is "-": it can be read once.
void check_inputs(const std::vector<NamedFile>& inputs);

}  // namespace newel::cli
