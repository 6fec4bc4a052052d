// SPDX-License-Identifier: Apache-2.0
/// HeartJob: what purlin-heart was asked for, and the options and the model that a run of it is made with.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/heart/heart_body.hpp"
#include "apps/heart/monodomain.hpp"
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

/// A beat of 400 ms in steps of 0.25, CG to 1e-6: what purlin-heart does unless told otherwise.
void set_heart_defaults(transient::RunOptions& options);

/// Of the linear system, with the products that the run asks of one setup; of a resumed run in its order.
SystemOptions system_options_of(const HeartJob& job);
NewtonOptions newton_options_of(const HeartJob& job);
/// Throws InputError for a stimulus that reaches nothing.
HeartModel model_of(const HeartJob& job);

}  // namespace purlin::heart
