// SPDX-License-Identifier: Apache-2.0
/// A run of newel-beam in one space: set up, step, write, report.
#pragma once

#include <string>
#include <vector>

#include "apps/transient/run_job.hpp"
#include "beam_params.hpp"
#include "beam_theory.hpp"

namespace newel::beam {

/// What is known before the space is entered.
struct BeamJob : transient::RunJob {
  std::string shape = "fork";  ///< of a run without a mesh
  int strikes = 1;             ///< at once, sharing one matrix
  BeamParams params;
  transient::MeshInput mesh;
  std::vector<fem::Point> probes;      ///< of the shape
  std::vector<Cantilever> cantilever;  ///< one or none: what theory is compared with
};

/// Runs and returns the exit status; throws what bad input and devices throw.
template <Space S>
int run_beam(const Context<Space::host>& host, const Context<S>& ctx, BeamJob& job);

/// Throws what bad input, bad usage and devices throw.
int run_command(int argc, const char* const* argv);

}  // namespace newel::beam
