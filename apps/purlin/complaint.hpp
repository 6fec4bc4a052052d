// SPDX-License-Identifier: Apache-2.0
/// What CLI11 found wrong with a command line, in the words of the other messages.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace purlin::cli {

/// "--rtol: expected a number, found 'abc'" where an option of `app`, or of its commands, was given something else
/// than the number that it takes; else CLI11's own words.
std::string complaint(const CLI::ParseError& error, const CLI::App& app);

}  // namespace purlin::cli
