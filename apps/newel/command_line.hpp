// SPDX-License-Identifier: Apache-2.0
/// The command line of `newel` as a struct: one of its commands, with its options.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "apps/common/text.hpp"
#include "apps/newel/info/options.hpp"
#include "apps/newel/solve/options.hpp"

namespace newel::cli {

/// `newel bench`, which is a program of its own.
struct BenchProgram {};

struct CommandLine {
  std::variant<TextOnly, SolveOptions, InfoOptions, BenchProgram> command;
  std::string text;                   ///< as typed, quoted for a shell
  std::vector<std::string> warnings;  ///< options that were given and cannot have an effect; none with --quiet
};

/// Throws UsageError for everything that is not a command line.
CommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace newel::cli
