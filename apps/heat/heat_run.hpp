// SPDX-License-Identifier: Apache-2.0
/// A run of purlin-heat in one space: set up, step, write, report.
#pragma once

#include <optional>
#include <string>

#include "apps/purlin/place.hpp"
#include "apps/purlin/stopwatch.hpp"
#include "apps/transient/checkpoint.hpp"
#include "apps/transient/mesh_input.hpp"
#include "apps/transient/run_options.hpp"
#include "heat_params.hpp"

namespace purlin::heat {

/// What is known before the space is entered.
struct HeatJob {
  transient::RunOptions options;
  std::string scheme = "crank-nicolson";  ///< | backward-euler
  bool compare = true;                    ///< measure break-even at the end
  HeatParams params;
  cli::Json params_json;
  std::string params_fingerprint;
  transient::MeshInput mesh;
  std::optional<transient::Checkpoint> resume;
  cli::Place place;
  std::string command_line;
  cli::Stopwatch total;  ///< since the program began
};

/// Runs and returns the exit status; throws what bad input and devices throw.
template <Space S>
int run_heat(const Context<Space::host>& host, const Context<S>& ctx, HeatJob& job);

}  // namespace purlin::heat
