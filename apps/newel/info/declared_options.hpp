// SPDX-License-Identifier: Apache-2.0
/// The options of `newel info`, declared to CLI11.
#pragma once

#include <CLI/CLI.hpp>

#include "apps/common/precond_options.hpp"
#include "options.hpp"

namespace newel::cli {

/// Strings as they were typed, until the tables have been asked.
struct RawInfo {
  InfoOptions options;
  RawPrecond precond;
};

/// Adds the command `info` to `app`. `raw` must live as long as the two.
CLI::App& add_info(CLI::App& app, RawInfo& raw);

/// Throws UsageError for names that there are not, and for numbers out of range.
InfoOptions checked_info(RawInfo& raw);

}  // namespace newel::cli
