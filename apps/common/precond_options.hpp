// SPDX-License-Identifier: Apache-2.0
/// The options of preconditioners, declared to CLI11: `newel solve` and `newel info` share them.
#pragma once

#include <CLI/CLI.hpp>

#include <list>
#include <string>
#include <vector>

#include <newel/precond/registry.hpp>

#include "method_options.hpp"
#include "precond_files.hpp"

namespace newel::cli {

/// What was typed and has yet to be looked up or read; and what --precond may be.
struct RawPrecond {
  std::vector<std::string> names;
  PrecondFiles files;
  std::list<DeclaredOption> own;
};

/// Adds --precond, described by `what`, and what goes with it. Both structs must live as long as `command`. A program
/// that makes its matrix itself has no use for files.
enum class FileOptions { offered, none };
void add_precond_options(CLI::App& command, PrecondOptions& options, RawPrecond& raw, const std::string& what,
                         FileOptions files = FileOptions::offered);

/// Brings names to the table's own. Throws UsageError for names that there are not, for numbers out of range and for
/// what does not go with a pattern of the user's.
void check_precond_options(PrecondOptions& options, RawPrecond& raw);

}  // namespace newel::cli
