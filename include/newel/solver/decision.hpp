// SPDX-License-Identifier: Apache-2.0
/// SystemDecision: what "auto" has decided for a system and what its solves have shown, as a value that can be
/// stored.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <newel/core/matrix_traits.hpp>

namespace newel {

/// A preconditioner as the automatic choice compares it. Seconds are from the cost model for the system's machine.
struct WeighedPrecond {
  std::string name;                ///< name in the table
  double iteration_seconds = 0;    ///< per iteration with it
  double build_seconds = 0;        ///< of its setup
  double refresh_seconds = 0;      ///< of a refresh
  double now_seconds = 0;          ///< per iteration in the present format, if another format is expected to follow
  double measured_iterations = 0;  ///< of a solve with it; 0: none was made
};

/// A preconditioner, and those that may replace it, in the order of the table.
struct PrecondRanking {
  WeighedPrecond present;                ///< the preconditioner that the ranking is for
  std::vector<WeighedPrecond> stronger;  ///< preconditioners that may replace it
};

/// Iterations and refreshes since the format, or the preconditioner, changed.
struct SolveCounts {
  double iterations = 0;  ///< of all solves
  double refreshes = 0;   ///< of the values
};

/// A preconditioner that replaced a weaker one, by whole solves.
struct WholeSolves {
  double weaker_iterations = 0;  ///< that a solve took, or would have taken, with the weaker one; 0: not known
  double weaker_seconds = 0;     ///< per iteration with the weaker one
  int iterations = 0;            ///< of the last solve with the present one
  int slower = 0;          ///< consecutive solves that were clearly slower than with the weaker one; a far slower
                           ///< one counts as several
  int refreshes = 0;       ///< of the preconditioner, since the last solve
  bool estimated = false;  ///< `weaker_iterations` is an estimate
};

/// What the solves and refreshes of a system have counted.
struct SolveHistory {
  int solves = 0;           ///< so far, columns one by one
  int last_iterations = 0;  ///< of the last solve that converged with the present preconditioner; 0: none did
  /// Iterations that the last solve would have taken with the first preconditioner of "auto"; 0: not known.
  double simple_iterations = 0;
  double simple_measured = 0;  ///< measured in its last whole solve that converged; 0: none
  bool change_failed = false;  ///< a change of format failed (lack of memory, say): the format is kept
  SolveCounts format;          ///< with the present format
  SolveCounts preconditioner;  ///< with the present preconditioner
  WholeSolves whole;           ///< what replacing the preconditioner gained
};

/// One sentence each on why.
struct DecisionReasons {
  std::string format;          ///< why this format
  std::string preconditioner;  ///< why this preconditioner
  std::string solver;          ///< why this solver is the first
};

/// The format that the expected iterations justify.
struct ExpectedFormat {
  std::string format;          ///< empty: the present one
  double iterations = 0;       ///< of a solve, estimated from the size
  std::string preconditioner;  ///< that formats were compared for
};

/// The state of a system's automatic choices. Store it, for example in a checkpoint, and start a new system from it
/// (`SystemOptions::decision`). Names are those of the tables. The fields are meant for `LinearSystem`; programs may
/// read the first few. Default values mean "not decided".
struct SystemDecision {
  std::string format;                ///< of A
  std::string preconditioner;        ///< or "none"
  std::vector<std::string> solvers;  ///< in the order of the attempts
  bool scaled = false;               ///< rows and columns are scaled; what follows is of the scaled matrix
  bool matched = false;              ///< and columns are permuted by a matching
  SolveHistory history;              ///< what solves and refreshes have counted

  /// Of the matrix; 0: not known. A decision for a matrix of another size is refused.
  Index rows = 0;
  Offset entries = 0;  ///< number of stored entries, likewise

  DecisionReasons reasons;  ///< why these were chosen
  /// The format replaced CSR after the preconditioner was made; the preconditioner's matrices were then renumbered.
  bool preconditioner_first = false;

  ExpectedFormat expected;               ///< the format that may replace the present one
  bool provisional = false;              ///< a stronger preconditioner may follow
  std::vector<std::string> untried;      ///< preconditioners to try if all solvers fail with the present one
  std::optional<PrecondRanking> ranked;  ///< ranking of the present preconditioner, once it has been made
  bool builds_estimated = false;         ///< the `build_seconds` in `ranked` are estimated too
  bool builds_by_values = false;         ///< those estimates used the matrix values
  std::optional<PrecondRanking> weaker;  ///< ranking of the preconditioner that the present one replaced
  std::optional<MatrixTraits> traits;    ///< of the values that the system was made from, if they were inspected
  bool traits_older = false;             ///< `traits` are older than the present values
};

/// One line of JSON: an object of the fields, plus "newel_decision": 1, the version of the format. Numbers keep every
/// bit.
std::string json_of(const SystemDecision& decision);

/// The inverse of `json_of`. Missing fields get their defaults; unknown fields are ignored. Throws InputError if the
/// text is not such an object, has another version, or has a field of another type or a negative count.
SystemDecision decision_of(std::string_view json);

}  // namespace newel
