// SPDX-License-Identifier: Apache-2.0
/// The options of preconditioners, declared to CLI11: `newel solve` and `newel info` share them.
#pragma once

#include <CLI/CLI.hpp>

#include <list>
#include <string>
#include <vector>

#include <newel/precond/registry.hpp>

#include "precond_files.hpp"

namespace newel::cli {

/// What was typed and has yet to be looked up or read; and what --precond may be.
struct RawPrecond {
  /// An option of the table with its text, and whether it was given.
  struct Own {
    const PrecondOption* line;
    OptionValue value;
    CLI::Option* given;
  };
  std::vector<std::string> names;
  PrecondFiles files;
  std::list<Own> own;
};

/// Adds --precond, described by `what`, and what goes with it. Both structs must live as long as `command`. A program
/// that makes its matrix itself has no use for files.
enum class FileOptions { offered, none };
void add_precond_options(CLI::App& command, PrecondOptions& options, RawPrecond& raw, const std::string& what,
                         FileOptions files = FileOptions::offered);

/// Brings names to the table's own. Throws UsageError for names that there are not, for numbers out of range and for
/// what does not go with a pattern of the user's.
void check_precond_options(PrecondOptions& options, RawPrecond& raw);

/// "--fsai-drop" of "--fsai-drop,--spai-drop", and "--fsai-drop, --spai-drop".
std::string first_flag(const PrecondOption& option);
std::string all_flags(const PrecondOption& option);

/// "a|b|c"
std::string one_of(const std::vector<std::string>& names);

/// Throws UsageError for a number that is negative or not finite.
void require_number(const char* option, double value);

}  // namespace newel::cli
