// SPDX-License-Identifier: Apache-2.0
/// The measurements of `newel bench solve` for programs: JSON and CSV.
#pragma once

#include <string>

#include "solve_result.hpp"

namespace newel::cli {

/// r.json: what docs/reports.md says; command, date, machine as in `newel bench spmv`, rhs, max_iterations, restart
///   copy     bytes, gigabytes_per_second {min, median, max, samples}
///   timing   what the times are and what the floor is, in words
///   systems  system (without folders), precision, rows, nonzeros, tolerance, refused (null or why there are no
///            solves; rows and nonzeros are null where the matrix could not be read), solves: one object each
/// A solve has by, solver, precond, format (as requested), competitor, refused (null or the reason, and then nothing
/// but these); built, detail; status (one of the library's names), reason (or null), converged, wrong, iterations,
/// true_relative_residual (long double, the worst of all rounds), recurrence_relative_residual; iteration and solve
/// {milliseconds {min, median, max, samples}}; setup_seconds, setup_phases; product_bytes, precond_bytes,
/// floor_bytes, floor_milliseconds, percent_of_floor; iteration_speedup over the fastest competitor with the same
/// solver and preconditioner, solve_speedup over the fastest converged one, null where there is none. Numbers that
/// are not finite are null.
Json bench_json(const BenchSolveResult& result);

/// One line for each system, precision and contender, under a header; one for a system without solves, with the
/// reason. Empty fields for what there is not.
std::string bench_csv(const BenchSolveResult& result);

}  // namespace newel::cli
