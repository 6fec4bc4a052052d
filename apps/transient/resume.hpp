// SPDX-License-Identifier: Apache-2.0
/// Resuming: which options a checkpoint keeps, and how they meet those of the new command line.
#pragma once

#include <optional>
#include <string>

#include "checkpoint.hpp"
#include "run_job.hpp"
#include "run_options.hpp"

namespace newel::transient {

/// The options that a run is made again from: with the format and the preconditioner that `system` came to have, the
/// number of threads, and the mesh's name made absolute.
cli::Json kept_options(const RunOptions& options, const SystemInfo& system, int threads);

/// Options of the checkpoint for all that the command line does not give. Mesh, refinement, unit and step cannot be
/// changed: throws InputError where they are given and differ; with --deterministic (then or now) neither can
/// threads, format, solver, preconditioner and tolerance. Words that leave a choice to the program ("auto") take what
/// was chosen. Duration, output and device may always be given anew.
void take_kept_options(const Checkpoint& checkpoint, const RunCommand& command, RunOptions& options);

/// Of a checkpoint's header: the frame at its time that no --output-every asked for.
inline constexpr const char* extra_frame_key = "extra_frame";

/// From where on a run writes its tables and series.
struct SeriesStart {
  std::optional<double> kept_until;  ///< lines and frames of the folder up to this time stay; none: they begin anew
  /// The file of a frame at that time which stands there only because the run ended then; a run that continues
  /// removes it, so that its series is that of an unbroken run. Empty: none.
  std::string extra_frame;
};

/// Of a run that will end behind its checkpoint or, where not `steps_left`, at it.
SeriesStart series_start(const RunJob& job, double time, bool steps_left);

/// Puts the order of the unknowns and its parts into a checkpoint, as "order" and "parts"; nothing for the natural
/// one.
template <Space S>
void keep_order(const Context<S>& ctx, const RowOrder<S>& order, Checkpoint& checkpoint);

/// Makes a system take the order that was kept. Throws InputError where it is not one of `rows` unknowns.
void take_kept_order(const Checkpoint& checkpoint, Index rows, SystemOptions& options);

/// Puts the past solutions of a system (GuessOptions) into a checkpoint, as "guess"; nothing if it keeps none.
template <Space S>
void keep_guess(const LinearSystem<double, S>& system, Checkpoint& checkpoint);

/// Gives them back to a system of the run that continues. Throws InputError if they do not fit.
template <Space S>
void take_kept_guess(const Checkpoint& checkpoint, LinearSystem<double, S>& system);

/// Of the numbers of a mesh: for "is this the mesh of that run".
std::string mesh_fingerprint(const std::vector<std::array<double, 3>>& nodes,
                             const std::vector<std::array<Index, 4>>& tets);

}  // namespace newel::transient
