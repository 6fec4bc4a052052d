// SPDX-License-Identifier: Apache-2.0
/// `newel bench solve --gpus` and `--ranks`: how the time of CG falls with the GPUs, or the ranks on the host, that
/// share a system (strong scaling), and how it stays with a system that grows with them (weak scaling).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <newel/distributed/distributed_system.hpp>

#include "bench/measure.hpp"
#include "command_line.hpp"
#include "session.hpp"

namespace newel::cli {

/// CG with one preconditioner on so many ranks.
struct ScalingLine {
  int ranks = 1;
  std::string precond;
  std::string link;    ///< as requested; "none" for one rank without ranks
  std::string linked;  ///< how values travelled, in the library's words; of one rank the format
  std::string format;  ///< of the matrix, as it was built
  std::string refused;
  double setup_seconds = 0;
  /// Of the setup on rank 0, by phase: of the system, then those of its matrix and of its preconditioner.
  std::vector<std::pair<std::string, double>> system_phases, matrix_phases, precond_phases;
  bench::Samples solve;      ///< seconds of whole solves to the tolerance, from x = 0; one a round
  bench::Samples iteration;  ///< seconds; of diagonal preconditioners by the difference of two loops
  std::string status;
  bool converged = false;
  int iterations = 0;   ///< of a whole solve
  double residual = 0;  ///< |b - A x| / |b|
  bool resident = false;
  std::uint64_t bytes = 0;   ///< that the systems of all ranks hold
  std::int64_t entries = 0;  ///< of the whole matrix

  bool measured() const { return refused.empty(); }
};

struct ScalingSystem {
  std::string name;
  std::int64_t rows = 0, nonzeros = 0;
  std::vector<ScalingLine> lines;
};

/// Systems that grow with the ranks: `of_one` is that of one.
struct WeakScaling {
  std::string of_one;
  std::vector<ScalingSystem> systems;
};

struct ScalingResult {
  Json head;
  Space space = Space::host;
  std::vector<ScalingSystem> systems;
  std::vector<WeakScaling> weak;
};

/// generate:KIND:N with N times the cube root of `ranks`: about `ranks` times the rows. Throws UsageError for what is
/// no such system.
std::string scaled_spec(const std::string& spec, int ranks);

/// The names that --links takes, in the order of RankLink.
const std::vector<std::string>& link_names();

/// The fastest iteration of one rank with a preconditioner; empty: it was not measured.
std::optional<double> iteration_of_one(const ScalingSystem& system, const std::string& precond);

/// What an iteration of one rank takes, for each row, over what one of several takes for each row of a rank: 1 if a
/// system that grows with the ranks takes the same time. Empty: one of the two was not measured.
std::optional<double> weak_efficiency(const WeakScaling& weak, const ScalingLine& line, std::int64_t rows);

/// r.json: program, command, date, machine, tolerance, loop_iterations; and
///   systems  system, rows, nonzeros, runs: one object each
///   weak     of_one, and systems as above, one for each number of ranks
/// A run has gpus (on the host: ranks), precond, requested_link, link, refused (null or the reason, and then nothing
/// but these); format; setup_seconds; setup_phases of the system, its matrix and its preconditioner; iterations (of
/// the loop), microseconds of an iteration {min, median, max, samples}; solve {milliseconds}, solve_iterations,
/// status, converged, true_relative_residual; resident, bytes of all ranks.
Json scaling_json(const ScalingResult& result, const BenchSolveOptions& options);

/// A table of the system's lines.
std::string scaling_text(const ScalingSystem& system, Space space);

/// A line for each number of ranks, with its efficiency.
std::string weak_text(const WeakScaling& weak, Space space);

/// Measures system after system, prints its tables and writes the file again after each. Returns exit_converged, or
/// exit_not_converged where a solve did not converge or none was possible. Throws NoDevice for more GPUs than there
/// are; UsageError; InputError.
[[nodiscard]] int run_bench_scaling(const BenchSolveOptions& options, const std::string& command_line);

}  // namespace newel::cli
