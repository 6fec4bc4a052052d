// SPDX-License-Identifier: Apache-2.0
/// RunReport: the report of a finished run, as JSON and as a few lines of text.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "apps/common/place.hpp"
#include "run_options.hpp"
#include "run_progress.hpp"
#include "shares.hpp"

namespace newel::transient {

/// What a process simulates.
struct SimulatedTime {
  TimeUnit unit;
  double start = 0, end = 0;
};

/// How a run began.
struct RunBeginning {
  std::string resumed_from;     ///< file; empty: from the beginning
  int checkpoints_removed = 0;  ///< of an earlier run in the folder
  /// Seconds of the process before the first step, by phase, from its start.
  std::vector<std::pair<std::string, double>> phases;
};

/// The most bytes that were held.
struct PeakBytes {
  std::uint64_t arrays = 0;   ///< in the run's space
  std::uint64_t process = 0;  ///< of the whole process on the host: `peak_process_bytes`
};

/// Everything that both demos report. A demo adds its own under names of its own (`own`).
struct RunReport {
  std::string program;       ///< "newel-heat"
  std::string command_line;  ///< as typed
  cli::Place place;
  std::string device_name;  ///< "NVIDIA H200"; empty on the host
  int threads = 0;
  std::string ending = "finished";  ///< finished | interrupted | failed
  std::string reason;               ///< of a failure
  cli::Json mesh;                   ///< MeshInput::json
  cli::Json params;                 ///< effective
  const RunOptions* options = nullptr;
  SystemInfo system;
  SimulatedTime time;  ///< of this process
  RunBeginning beginning;
  std::int64_t steps = 0;  ///< of this process
  std::int64_t newton = 0;
  std::int64_t setups = 1;  ///< how many LinearSystems the run made
  SolveTotals totals;
  ShareReport shares;
  PeakBytes peak;
  cli::Json own;  ///< more fields at the top level
};

/// The most memory that this process has held (VmHWM); 0 where that is unknown.
std::uint64_t peak_process_bytes();

/// The report of a run (docs/reports.md). Its `ending` tells it from other programs' reports.
cli::Json run_json(const RunReport& report);

/// "12.3 s before the first step: fibres 4.2 s, ...", one labelled line, the longest first.
std::string start_text(const std::vector<std::pair<std::string, double>>& phases);

/// About a dozen lines.
std::string run_text(const RunReport& report);

}  // namespace newel::transient
