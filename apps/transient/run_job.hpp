// SPDX-License-Identifier: Apache-2.0
/// RunJob: what a program that steps through time was requested, and what all of them do alike before and after they
/// step.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/common/output_files.hpp"
#include "apps/common/place.hpp"
#include "apps/common/run_clock.hpp"
#include "checkpoint.hpp"
#include "folder_lock.hpp"
#include "mesh_input.hpp"
#include "params.hpp"
#include "run_options.hpp"
#include "run_report.hpp"

namespace newel::transient {

/// What is known before the space is entered. A program adds its own.
struct RunJob {
  std::string program;  ///< "newel-heat"
  RunOptions options;
  cli::Json params_json;
  std::string params_fingerprint;
  std::string params_text;  ///< what params.json holds
  std::optional<Checkpoint> resume;
  cli::Place place;
  std::string command_line;
  cli::Stopwatch total;                     ///< since the program began
  cli::RunClock start;                      ///< of the process, with the phases before the first step
  int checkpoints_removed = 0;              ///< of an earlier run: see begin_folder
  std::shared_ptr<FolderLock> folder_lock;  ///< of `options.out`, once it is known to be this run's

  /// Whether tables and series in the folder continue. Resumed into another folder, they begin anew there.
  bool continues_in_place() const;
};

/// Reads the checkpoint of --resume, and from it the options that the command line does not give and the parameters.
/// Throws InputError where there is none, where the parameters are not those of the run before, and where another run
/// writes into the folder that this one is to continue in.
void take_checkpoint(RunJob& job, const RunCommand& command, ParamTable& table);

/// With options and parameters settled: chooses the place, checks that the method exists there, and makes the folder.
/// `inputs` are files that no output may replace. Locks the folder until the job's end. Throws InputError where
/// another run has it, or where it holds a run of another program, whose files would be mixed with this one's, unless
/// the run continues in place.
void prepare_run(RunJob& job, const ParamTable& table, const std::vector<cli::NamedFile>& inputs);

/// The first that a run writes, when nothing but its steps can fail any more: params.json. Unless it continues in
/// place, the checkpoints that the program left in the folder are of another run: removes and counts them, and says
/// so. Throws InputError where one stays.
void begin_folder(RunJob& job);

/// Throws InputError where the run that continues was made on another mesh.
void require_same_mesh(const RunJob& job, const MeshInput& mesh);

/// A checkpoint with all that is known of the run but its state.
Checkpoint begin_checkpoint(const RunJob& job, const MeshInput& mesh, const SystemInfo& system, Space space,
                            int threads, double time);

/// A report with all that the job knows; `failure` empty: finished, or interrupted.
RunReport begin_report(const RunJob& job, const MeshInput& mesh, bool finished, const std::string& failure);

/// How the run is computed, two lines: the place and the system.
std::string method_text(const RunJob& job, const SystemInfo& system, int threads, const std::string& device_name);

/// Writes the report's file and prints what people want to know: its text, `more`, what was written (`files`, the
/// report is added), how to continue, and the failure. Lets others into the folder. Returns the exit status.
int end_run(RunJob& job, const RunReport& report, const std::string& more, const std::string& files);

/// To stdout, unless the run is quiet.
void print_lines(const RunJob& job, const std::string& lines);

std::string in_folder(const std::string& folder, const std::string& name);

/// "NVIDIA H200"; empty on the host.
template <Space S>
std::string device_name_of(const Context<S>& ctx) {
  if constexpr (S == Space::host) {
    (void)ctx;
    return "";
  } else {
    return ctx.device_name();
  }
}

}  // namespace newel::transient
