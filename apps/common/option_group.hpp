// SPDX-License-Identifier: Apache-2.0
/// OptionGroup: the options under one heading of a command's help.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace newel::cli {

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

}  // namespace newel::cli
