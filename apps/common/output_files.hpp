// SPDX-License-Identifier: Apache-2.0
/// The files of a command line: outputs are known to be writable before hours are spent on what goes into them, and
/// "-" is standard input or standard output.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace newel::cli {

/// An option and the file it names.
using NamedFile = std::pair<std::string, std::string>;

/// Checks that each output (empty names and "-" are skipped) can be made or replaced, by making and removing a file
/// beside it, that no two are the same file, and that none is one of `inputs`. Throws InputError.
void check_outputs(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs);

/// Whether `file` is a device or a pipe, which is written into rather than replaced.
bool is_special_file(const std::string& file);

/// Writes `content` to a temporary file and renames it, so that no partial file is left under the name; straight into
/// it where it is a device or a pipe. Throws InputError.
void write_text_file(const std::string& option, const std::string& file, const std::string& content);

inline constexpr const char* standard_stream = "-";

inline bool is_standard_stream(const std::string& file) { return file == standard_stream; }

/// The file to open for an input: standard input by the name that the system has for it.
inline std::string input_file(const std::string& file) { return is_standard_stream(file) ? "/dev/stdin" : file; }

/// Throws UsageError where more than one of the inputs is "-": it can be read once.
void check_inputs(const std::vector<NamedFile>& inputs);

}  // namespace newel::cli
