// SPDX-License-Identifier: Apache-2.0
/// The command lines of `newel` as its parser takes them.
#pragma once

#include "apps/newel/command_line.hpp"
#include "tests/catch.hpp"

namespace newel::testing {

/// What `newel WORDS` asks for.
inline cli::CommandLine parsed(std::vector<std::string> words) {
  words.insert(words.begin(), "newel");
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  return cli::parse_command_line(static_cast<int>(argv.size()), argv.data());
}

inline std::string help_of(const std::string& command) {
  return std::get<cli::TextOnly>(parsed({command, "--help"}).command).text;
}

}  // namespace newel::testing
