// SPDX-License-Identifier: Apache-2.0
/// `newel bench regret`: what it has measured, the figures that follow from it, its tables and files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <newel/solver/candidate.hpp>

#include "command_line.hpp"
#include "session.hpp"

namespace newel::cli {

/// How a LinearSystem is set up; "auto" or names of the tables.
struct RegretChoice {
  std::string format, precond, solver;

  /// "ehyb jacobi cg"
  std::string words() const { return format + ' ' + precond + ' ' + solver; }
};

/// What a LinearSystem is set up for: so many solves, with a refresh before each but the first.
struct RegretUse {
  std::string name;  ///< "one", "ten", "loop"
  int solves = 1;
};

/// How solves ended: the last one, or the first that did not converge.
struct RegretEnd {
  std::string refused;  ///< why there was no solve; empty where there was
  std::string status;   ///< one of the library's names of `Status`
  std::string reason;
  int iterations = 0;
  bool resident = false;
  double residual = 0;  ///< |b - A x| / |b| in long double
  bool wrong = false;   ///< called converged what is not

  bool converged() const { return refused.empty() && status == "converged" && !wrong; }
};

/// One fixed choice on one system. Seconds, a sample a repeat.
struct RegretCombination {
  RegretChoice choice;
  RegretEnd end;
  bench::Samples setup, first_solve;
  bench::Samples refresh, solve;  ///< of the same system, behind the first solve
};

/// What `auto` exchanged.
struct RegretChange {
  int solve = 0;  ///< counted from 1
  std::string what;
};

/// `auto` in one use. Choices and changes are those of the last repeat.
struct RegretAuto {
  RegretUse use;
  RegretEnd end;
  int solves = 0;  ///< done: fewer than those of the use where one failed
  RegretChoice choice;
  std::vector<RegretChange> changed;
  bench::Samples seconds;
};

/// The usual loop; `by` is empty where there is none in this build.
struct RegretUsual {
  std::string by, solver, precond;
  RegretEnd end;
  double setup_seconds = 0, solve_seconds = 0;
};

struct RegretSystem : BenchedSystem {
  double tolerance = 0;
  std::string first_solver;  ///< the one that `auto` begins with
  std::vector<RegretCombination> combinations;
  std::vector<RegretAuto> automatic;   ///< one for each use
  std::vector<SystemCandidate> model;  ///< what the cost model of `auto` says behind one solve
  RegretUsual usual;
};

struct RegretResult {
  Json head;  ///< program, command, machine, what was requested
  bench::CopyBandwidth copy;
  Json systems = Json::array();  ///< as `regret_system_json` makes them, or as an earlier report has them
};

/// One solve, ten, and a time loop of `loop`.
std::vector<RegretUse> regret_uses(int loop);

/// "1 solve", "200 solves".
std::string words_of(const RegretUse& use);

/// Setup, the first solve, and a refresh and a solve for each other one, of medians. For a combination that
/// converged.
double use_seconds(const RegretCombination& combination, int solves);

/// How a use ended for `auto` on one side and all combinations on the other.
enum class RegretOutcome { measured, auto_failed, only_auto, nothing_converged };

/// "measured", "auto_failed", "only_auto", "nothing_converged".
const char* name_of(RegretOutcome outcome);

struct RegretFigures {
  RegretOutcome outcome = RegretOutcome::nothing_converged;
  const RegretCombination* best = nullptr;  ///< of those that converged; null: none did
  std::optional<double> auto_seconds, best_seconds, regret;
};

/// One use on one system; `use` is one of `system.automatic`.
RegretFigures figures_of(const RegretSystem& system, const RegretAuto& use);

/// One use on all systems.
struct RegretMean {
  RegretUse use;
  int systems = 0;  ///< that have a regret
  std::optional<double> geometric_mean, most;
  std::string worst;                  ///< the system with the most
  std::vector<std::string> failures;  ///< systems that a combination solves and `auto` does not
};

/// Of the systems of a report, in the order of the uses. Throws Json::exception for what is no such system.
std::vector<RegretMean> means_of(const Json& systems);

/// Whether anything of ours on any system has this field true: "converged", or "wrong", called converged what is not.
bool any_of_ours(const Json& systems, const char* field);

/// A line for each use, what `auto` exchanged, the usual loop, and the combinations that are no candidates.
std::string bench_table_text(const RegretSystem& system);

/// Means and maxima of all systems, and what `auto` did not solve.
std::string bench_means_text(const Json& systems);

/// r.json: what docs/reports.md says; command, date, machine as in `newel bench spmv`; rhs, precision, tolerance,
/// max_iterations, loop, time_limit (null: the default), formats, preconds (null: those that `auto` may choose),
/// solvers (in addition to the one that `auto` begins with)
///   copy     bytes, gigabytes_per_second {min, median, max, samples}
///   timing   what the times are, in words
///   uses     one object for each use, over all systems: use ("one", "ten", "loop"), solves, systems (how many have a
///            regret), geometric_mean, max (null where none has), max_system, failures (systems that a combination
///            solves and `auto` does not)
///   systems  system (without folders), precision, rows, nonzeros, tolerance, refused (null or why nothing was
///            measured; rows and nonzeros are null where the matrix could not be read), first_solver (the one that
///            `auto` begins with), uses, combinations, usual
/// A use of a system has use, solves, outcome ("measured", "auto_failed", "only_auto", "nothing_converged"),
/// auto_seconds, best_seconds, regret (null where there is none), best {format, precond, solver} (or null), and auto:
/// how it ended, solves (done), format, precond, solver (in the end; null where nothing was set up), changed [{solve,
/// what}], seconds {min, median, max, samples}. A combination has format, precond, solver, how it ended, setup,
/// first_solve, refresh, solve {seconds {min, median, max, samples}} and uses {one, ten, loop} in seconds, null where
/// it did not converge. usual is null or has by, solver, precond, how it ended, setup_seconds, solve_seconds,
/// seconds. How something ended: refused (null or the reason, and then no more of this), status (one of the library's
/// names), reason (or null), converged, wrong, iterations, resident, true_relative_residual (long double). Numbers
/// that are not finite are null.
Json bench_json(const RegretResult& result);

/// A system as it stands in r.json.
Json regret_system_json(const RegretSystem& system);

/// One line for each system and use, under a header; one for a system that was refused, with the reason.
std::string bench_csv(const RegretResult& result);

/// Measures system after system, prints its table and writes the files anew behind each, and the means at the end.
/// With BenchRegretOptions::continues the systems that the report has already are kept. Returns `bench_exit_status`.
/// Throws InputError, DeviceError, OutOfMemory for what stops the whole run.
[[nodiscard]] int run_bench_regret(const BenchRegretOptions& options, const std::string& command_line);

/// exit_wrong_product where something called converged what is not, else exit_bad_input where a matrix could not be
/// read; exit_not_converged where a combination solves a system and `auto` does not, or nothing converged on any
/// system; else exit_converged.
[[nodiscard]] int bench_exit_status(const RegretResult& result);

}  // namespace newel::cli
