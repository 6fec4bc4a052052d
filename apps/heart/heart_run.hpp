// SPDX-License-Identifier: Apache-2.0
/// A run of purlin-heart in one space: set up, step, write, report.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/heart/heart_body.hpp"
#include "apps/purlin/place.hpp"
#include "apps/purlin/stopwatch.hpp"
#include "apps/transient/checkpoint.hpp"
#include "apps/transient/run_options.hpp"

namespace purlin::heart {

inline constexpr const char* program_name = "purlin-heart";

/// What is known before the space is entered.
struct HeartJob {
  transient::RunOptions options;
  AssemblyKind assembly = AssemblyKind::in_place;
  std::vector<Stimulus> stimuli;
  HeartParams params;
  cli::Json params_json;
  std::string params_fingerprint;
  cli::Json kept;  ///< more that a resumed run takes from the checkpoint's header
  HeartBody body;
  std::optional<transient::Checkpoint> resume;
  cli::Place place;
  std::string command_line;
  cli::Stopwatch total;  ///< since the program began
};

/// Runs and returns the exit status; throws what bad input and devices throw.
template <Space S>
int run_heart(const Context<Space::host>& host, const Context<S>& ctx, HeartJob& job);

}  // namespace purlin::heart
