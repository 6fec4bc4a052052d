// SPDX-License-Identifier: Apache-2.0
/// Options declared to CLI11: under the headings of a help text, and those of preconditioners and solvers, the rows
/// of their tables.
#pragma once

#include <CLI/CLI.hpp>

#include <list>
#include <string>
#include <vector>

#include <newel/core/method_option.hpp>

namespace newel::cli {

/// The options under one heading of a command's help.
class OptionGroup {
 public:
  /// Without a heading, options stand with those that have none.
  explicit OptionGroup(CLI::App& command, const char* heading = nullptr) : command_(command), heading_(heading) {}

  /// An option whose value is shown as `placeholder`. `value` must live as long as the command.
  template <class T>
  CLI::Option* add(const std::string& flags, T& value, const std::string& placeholder,
                   const std::string& help) const {
    return under_heading(command_.add_option(flags, value, help)->option_text(placeholder));
  }
  CLI::Option* flag(const std::string& flags, bool& value, const std::string& help) const {
    return under_heading(command_.add_flag(flags, value, help));
  }

 private:
  CLI::Option* under_heading(CLI::Option* option) const {
    return heading_ == nullptr ? option : option->group(heading_);
  }

  CLI::App& command_;
  const char* heading_;
};

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
