// SPDX-License-Identifier: Apache-2.0
/// Errors that CLI11 found in a command line, worded like the other messages.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace newel::cli {

/// "--rtol: expected a number, found 'abc'" where an option of `app`, or of its commands, was given something else
/// than the number that it takes; else CLI11's own words.
std::string option_error(const CLI::ParseError& error, const CLI::App& app);

/// Parses; false where the help was requested. Throws UsageError, with `required` where what `app` needs is missing.
bool parse_or_help(CLI::App& app, int argc, const char* const* argv, const std::string& required);

/// Throws UsageError for "maxiter=5", with the option that is meant; nothing for what resembles none.
void refuse_keyword(const CLI::App& app, const std::string& argument);

/// Throws UsageError where something was given that `app` does not take, with the nearest option.
void refuse_extras(const CLI::App& app);

/// Where none of `commands` was given: throws UsageError with `usage`, or with the nearest command.
[[noreturn]] void refuse_unknown_command(const CLI::App& app, const std::string& usage,
                                         const std::vector<std::string>& commands);

}  // namespace newel::cli
