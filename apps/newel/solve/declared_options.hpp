// SPDX-License-Identifier: Apache-2.0
/// The options of `newel solve`, declared to CLI11.
#pragma once

#include <CLI/CLI.hpp>

#include <list>
#include <string>

#include "apps/common/precond_options.hpp"
#include "apps/newel/input/precision.hpp"
#include "options.hpp"

namespace newel::cli {

/// Strings as they were typed, until the tables have been asked.
struct RawSolve {
  SolveOptions options;
  std::string precision = "double";
  std::string null_space = "none";
  std::string partitioner = "automatic";
  RawPrecond precond;
  std::list<DeclaredOption> solver_options;
  std::string second;  ///< the right-hand side behind the matrix, without --rhs
  double rtol = default_rtol_double;
  CLI::Option* rhs_given = nullptr;
  CLI::Option* rtol_given = nullptr;
  CLI::Option* time_limit_given = nullptr;
  CLI::Option* products_given = nullptr;
};

/// Adds the command `solve` to `app`. `raw` must live as long as the two.
CLI::App& add_solve(CLI::App& app, RawSolve& raw);

/// Throws UsageError for names that there are not, and for numbers out of range. Leaves `raw` without its options.
SolveOptions checked_solve(RawSolve& raw, const CLI::App& solve);

}  // namespace newel::cli
