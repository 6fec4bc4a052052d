// SPDX-License-Identifier: Apache-2.0
/// The options of preconditioners and solvers, the rows of their tables, declared to CLI11.
#pragma once

#include <CLI/CLI.hpp>

#include <list>
#include <string>
#include <vector>

#include <newel/core/method_option.hpp>

namespace newel::cli {

/// An option of a table with what was typed for it, and whether it was given.
struct DeclaredOption {
  MethodOption line;
  OptionValue value;
  CLI::Option* given;
};

/// Adds the options, whose values are in `values` so far. `declared` receives them, and lives as long as `command`.
void add_method_options(CLI::App& command, const std::vector<MethodOption>& options, const OptionBag& values,
                        std::list<DeclaredOption>& declared, const char* group);

/// Writes those that were given. Throws UsageError for words that there are not and for numbers that are negative.
void take_method_options(std::list<DeclaredOption>& declared, OptionBag& values);

/// "--fsai-drop" of "--fsai-drop,--spai-drop", and "--fsai-drop, --spai-drop".
std::string first_flag(const MethodOption& option);
std::string all_flags(const MethodOption& option);

/// "a|b|c"
std::string one_of(const std::vector<std::string>& names);

/// Throws UsageError for a number that is negative or not finite.
void require_number(const char* option, double value);

}  // namespace newel::cli
