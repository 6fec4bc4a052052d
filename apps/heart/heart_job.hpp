// SPDX-License-Identifier: Apache-2.0
/// HeartJob: what newel-heart was requested, and the options and the model that a run of it is made with.
#pragma once

#include <vector>

#include "apps/heart/heart_body.hpp"
#include "apps/heart/monodomain.hpp"
#include "apps/transient/run_job.hpp"

namespace newel::heart {

inline constexpr const char* program_name = "newel-heart";

/// What is known before the space is entered.
struct HeartJob : transient::RunJob {
  AssemblyKind assembly = AssemblyKind::in_place;
  std::vector<Stimulus> stimuli;
  HeartParams params;
  cli::Json kept;  ///< more that a resumed run takes from the checkpoint's header
  HeartBody body;

  HeartJob() { program = program_name; }
};

/// A beat of 400 ms in steps of 0.25, CG to 1e-6: what newel-heart does by default.
void set_heart_defaults(transient::RunOptions& options);

/// Of the linear system, with the products that the run asks of one setup; of a resumed run in its order.
SystemOptions system_options_of(const HeartJob& job);
NewtonOptions newton_options_of(const HeartJob& job);
/// A view of the job's body. Throws InputError for a stimulus that reaches nothing.
HeartView heart_of(const Context<Space::host>& host, const HeartJob& job);

/// Parses, runs, and returns the exit status; throws what `cli::report_exception` explains.
int run_command(int argc, const char* const* argv);

/// Runs and returns the exit status; throws what bad input and devices throw.
template <Space S>
int run_heart(const Context<Space::host>& host, const Context<S>& ctx, HeartJob& job);

}  // namespace newel::heart
