// SPDX-License-Identifier: Apache-2.0
/// A run of newel-heat in one space: set up, step, write, report.
#pragma once

#include <string>

#include "apps/transient/run_job.hpp"
#include "heat_params.hpp"

namespace newel::heat {

/// What is known before the space is entered.
struct HeatJob : transient::RunJob {
  std::string scheme = "crank-nicolson";  ///< | backward-euler
  bool compare = true;                    ///< measure break-even at the end
  HeatParams params;
  transient::MeshInput mesh;
};

/// Runs and returns the exit status; throws what bad input and devices throw.
template <Space S>
int run_heat(const Context<Space::host>& host, const Context<S>& ctx, HeatJob& job);

/// Throws what bad input, bad usage and devices throw.
int run_command(int argc, const char* const* argv);

}  // namespace newel::heat
