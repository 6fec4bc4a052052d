// SPDX-License-Identifier: Apache-2.0
/// The options that all commands of `newel bench` take, declared to CLI11.
#pragma once

#include <CLI/CLI.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "apps/common/exit_status.hpp"
#include "apps/common/names.hpp"
#include "apps/common/option_group.hpp"
#include "apps/common/text.hpp"
#include "command_line.hpp"

namespace newel::cli {

/// The systems. `o` must live as long as the command.
void add_bench_systems(CLI::App& command, BenchRunOptions& o);

/// Where, how often, and what is written: --device to --csv. `verb` is what is done there, `line` what a line of the
/// CSV file is, in addition to system and precision.
void add_bench_run(CLI::App& command, BenchRunOptions& o, const std::string& verb, const std::string& line);

/// --tol and --max-iterations of a solve; the first. Both must live as long as the command.
CLI::Option* add_bench_stop(CLI::App& command, double& tolerance, int& max_iterations);

/// Throws UsageError for what is no precision.
void take_precision(const std::string& given, BenchRunOptions& o);

/// The names in `given`, each brought to the table's spelling by `check`; all of `all` for "all". Throws UsageError
/// for a name that is there twice.
template <class Check>
std::vector<std::string> names_of(const std::string& given, const std::string& option,
                                  const std::vector<std::string>& all, Check&& check) {
  if (given == "all") return all;
  std::vector<std::string> names;
  for (const std::string& part : split(given, ',')) {
    const std::string name = check(part);
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      throw UsageError(option + ": " + name + " is given twice");
    }
    names.push_back(name);
  }
  return names;
}

}  // namespace newel::cli
