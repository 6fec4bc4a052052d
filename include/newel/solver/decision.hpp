// SPDX-License-Identifier: Apache-2.0
/// SystemDecision: what `auto` has decided for a system and what its solves have shown, as a value that can be kept.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <newel/core/matrix_traits.hpp>

namespace newel {

/// A preconditioner as the choice weighs it. Seconds are the cost model's, for the machine that the system was on.
struct WeighedPrecond {
  std::string name;                ///< in the table
  double iteration_seconds = 0;    ///< of an iteration with it
  double build_seconds = 0;        ///< of its setup
  double refresh_seconds = 0;      ///< of a refresh
  double now_seconds = 0;          ///< of an iteration in the present format, where another one is expected to follow
  double measured_iterations = 0;  ///< of a solve with it; 0: there was none
};

/// A preconditioner, and those that may follow it, in the order of the table.
struct PrecondRanking {
  WeighedPrecond present;                ///< the one that the ranking is for
  std::vector<WeighedPrecond> stronger;  ///< what may follow it
};

/// Where a system stands: a checkpoint, say, keeps it, and a new system begins there (`SystemOptions::decision`).
/// Names are those of the tables. The fields are for `LinearSystem`; a reader may want the first few, whose defaults
/// mean "not decided".
struct SystemDecision {
  std::string format;                ///< of A
  std::string preconditioner;        ///< or "none"
  std::vector<std::string> solvers;  ///< in the order in which they are tried
  int solves = 0;                    ///< so many have been made
  int last_iterations = 0;           ///< of the last one that converged with this preconditioner; 0: none did
  /// Those that the last one would have taken with the preconditioner that `auto` begins with; 0: not known.
  double simple_iterations = 0;
  double simple_measured = 0;  ///< of the last whole solve with that one that converged; 0: there was none

  /// Of the matrix; 0: not known. A decision for a matrix of another size is refused.
  Index rows = 0;
  Offset entries = 0;  ///< likewise

  std::string format_reason, preconditioner_reason, solver_reason;  ///< one sentence each
  /// The format followed CSR after the preconditioner had been made, whose matrices were then renumbered.
  bool preconditioner_first = false;

  std::string expected_format;        ///< the one that the expected iterations pay for; empty: the present one
  double expected_iterations = 0;     ///< of a solve, by the size
  std::string formats_estimated_for;  ///< the preconditioner with which the formats were compared
  bool change_failed = false;         ///< for want of memory, say: the format stays
  bool provisional = false;              ///< a stronger preconditioner may follow
  std::vector<std::string> untried;      ///< what follows a preconditioner with which all solvers fail
  std::optional<PrecondRanking> ranked;  ///< of the present one, once it has been made
  bool builds_estimated = false;         ///< its `build_seconds` too
  bool builds_by_values = false;         ///< these by a look at the values
  std::optional<PrecondRanking> weaker;  ///< of the one that the present one has followed
  std::optional<MatrixTraits> traits;    ///< of the values that the system was made from, where they were read
  bool traits_older = false;             ///< than the present values

  /// Iterations and refreshes since the format, and since the preconditioner, has changed.
  double format_iterations = 0, format_refreshes = 0;
  double preconditioner_iterations = 0, preconditioner_refreshes = 0;  ///< likewise

  /// Of a preconditioner that has followed another, over whole solves: the iterations that one took with that other
  /// (0: not known), how many solves in a row took longer since, its refreshes since the last, and whether that
  /// number is an estimate.
  double weaker_iterations = 0;
  double weaker_seconds = 0;         ///< of an iteration with that other, see `weaker_iterations`
  int iterations_since = 0;          ///< of the last solve with the present one, see `weaker_iterations`
  int slower_solves = 0;             ///< see `weaker_iterations`
  int refreshes_since = 0;           ///< see `weaker_iterations`
  bool weaker_is_estimated = false;  ///< see `weaker_iterations`
};

/// One line in JSON: an object of the fields, with "newel_decision": 1, the version of the form. Every bit of a
/// number survives.
std::string json_of(const SystemDecision& decision);

/// The way back. Fields that are missing have their defaults, others are passed over. Throws InputError for a text
/// that is no such object, of another version, or holds a field of another type or a negative count.
SystemDecision decision_of(std::string_view json);

}  // namespace newel
