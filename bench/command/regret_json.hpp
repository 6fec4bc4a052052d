// SPDX-License-Identifier: Apache-2.0
/// The measurements of `newel bench regret` for programs: JSON, which a later call continues, and CSV.
#pragma once

#include <string>
#include <vector>

#include "regret_result.hpp"

namespace newel::cli {

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

/// A system as `bench_json` writes it. Throws Json::exception for what it does not write.
RegretSystem regret_system_from(const Json& json);

/// One line for each system and use, under a header; one for a system that was refused, with the reason.
std::string bench_csv(const RegretResult& result);

}  // namespace newel::cli
