// SPDX-License-Identifier: Apache-2.0
/// The command lines of `newel bench` as one types them.
#pragma once

#include "apps/common/exit_status.hpp"
#include "bench/command/command_line.hpp"
#include "tests/apps/process.hpp"
#include "tests/catch.hpp"

namespace newel::cli_testing {

/// The options of `newel bench LINE`, such as "spmv a.mtx --repeats 3".
template <class Options>
Options parsed_bench(const std::string& line) {
  const Words all = joined({"newel", "bench"}, words(line));
  std::vector<const char*> argv;
  for (const std::string& word : all) argv.push_back(word.c_str());
  return std::get<Options>(cli::parse_bench_command_line(static_cast<int>(argv.size()), argv.data()).command);
}

/// Each of `ends` behind `newel bench COMMAND` is refused as wrong usage.
template <class Options>
void check_refused_bench(const std::string& command, const Words& ends) {
  for (const std::string& end : ends) {
    INFO(command << ' ' << end);
    CHECK_THROWS_AS(parsed_bench<Options>(command + ' ' + end), cli::UsageError);
  }
}

}  // namespace newel::cli_testing
