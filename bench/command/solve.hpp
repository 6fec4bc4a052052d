// SPDX-License-Identifier: Apache-2.0
/// `newel bench solve`: what it has measured, the figures that follow from it, its tables and files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/solve_contender.hpp"
#include "command_line.hpp"
#include "session.hpp"

namespace newel::cli {

/// One contender on one system. Seconds throughout.
struct BenchSolveLine {
  std::string by;  ///< "newel", "newel:mixed", "newel:single-basis", or the library that it is compared with
  std::string solver, precond;
  std::string format;  ///< as requested; `facts.format` is what was built
  bool competitor = false;
  bool mixed = false;         ///< ours, iterated in single precision; `facts` count its bytes
  bool single_basis = false;  ///< GMRES of ours with its basis in single precision
  std::string refused;        ///< why there is nothing else; empty where it was measured
  bench::SolveFacts facts;
  bench::SolveEnd end;  ///< of the last round, or of the last that did not converge
  double residual = 0;  ///< |b - A x| / |b| in long double, the worst of all rounds
  double allowed = 0;   ///< what it may be where a round ends "converged": the tolerance and the rounding of a check
  bool exceeded = false;  ///< a round called converged what is not
  bench::Samples solve;   ///< one a round
  bench::Samples iteration;

  bool measured() const { return refused.empty(); }
  /// Ours calls converged only what has been checked.
  bool wrong() const { return measured() && !competitor && exceeded; }
};

struct BenchSolveSystem : BenchedSystem {
  double tolerance = 0;
  int restart = 0;  ///< of GMRES
  std::vector<BenchSolveLine> lines;
};

struct BenchSolveResult {
  Json head;  ///< program, command, machine, what was requested
  bench::CopyBandwidth copy;
  std::vector<BenchSolveSystem> systems;
};

/// The vectors that one iteration must read or write in addition to its products, whose x and y count with them, as
/// often as a loop of separate kernels must: a sum over all rows parts two vector steps, and nothing but scalars
/// outlives one. Dot products ride on the product or the step that holds one of their vectors.
///
///   CG         x += alpha p, p = z + beta p reads z, p, x and writes p, x; r -= alpha q reads q, r and writes r: 8.
///              Jacobi's D is read by both instead of z: 10.
///   BiCGStab   p = r + beta (p - omega v): 4; r0.v: 1; s = r - alpha v: 3; x, r, rho: reads x, p, r, t, r0 and
///              writes x, r: 7; 15 in all. Jacobi, folded into the steps before the products, writes p^ and s^ and
///              reads D twice, s for t.s and s^ for x: 21. Another M: the last two alone, 17.
///   GMRES(m)   h = V^T w and w -= V h read a basis of (m + 1) / 2 vectors in the mean, without a second pass, then w
///              thrice and write it twice; x = x + V y reads one vector an iteration: m + 7. Jacobi reads D and
///              writes the product's x: m + 9. A basis in single precision halves its m + 1.
struct FloorModel {
  int products = 1;  ///< with A, and with M where M is a matrix
  double vectors = 0;
};

/// `cycle` is the m of GMRES; it is the restart, or the number of iterations where there were fewer.
FloorModel floor_model(const std::string& solver, const std::string& precond, int cycle);

/// What one iteration of `line` must move, in the precision that it iterates in: the model's vectors, its products
/// with A in the fewest bytes of any line of the system in that precision, and with M, where M is a matrix, in the
/// fewest of those with the same preconditioner.
double floor_bytes(const BenchSolveLine& line, const BenchSolveSystem& system);

struct BenchSolveFigures {
  double iteration_seconds = 0;
  double solve_seconds = 0;
  double floor_bytes = 0;
  double floor_seconds = 0;                 ///< at the copy's bandwidth
  double share_of_floor = 0;                ///< floor_seconds / iteration_seconds
  std::optional<double> iteration_speedup;  ///< over the fastest competitor with the same solver and preconditioner
  std::optional<double> solve_speedup;      ///< over the fastest converged competitor; none where the line is not
};

/// For a line that was measured.
BenchSolveFigures figures_of(const BenchSolveLine& line, const BenchSolveSystem& system,
                             const bench::CopyBandwidth& copy);

/// Whether one of ours did on any system what it was requested: converged, or for the tolerance 0, which asks for a
/// number of iterations, was measured.
bool any_of_ours_succeeded(const std::vector<BenchSolveSystem>& systems);

/// A line for each contender. One that refused has its reason instead, and what is wrong says WRONG.
std::string bench_table_text(const BenchSolveSystem& system, const bench::CopyBandwidth& copy);

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

/// Measures system after system, prints its table and writes the files anew behind each, and says on stderr where a
/// matrix could not be read, which is a line of its own, and where none of ours converged. Returns
/// `bench_exit_status`; what others, or some of ours without saying so, did not solve is a line of the table. Throws
/// InputError, DeviceError, OutOfMemory for what stops the whole run.
[[nodiscard]] int run_bench_solve(const BenchSolveOptions& options, const std::string& command_line);

/// exit_wrong_product where one of ours called converged what is not, else exit_bad_input where a matrix could not be
/// read; exit_not_converged where all of ours were refused or none converged, on any system
/// (`any_of_ours_succeeded`); else exit_converged.
[[nodiscard]] int bench_exit_status(const BenchSolveResult& result);

}  // namespace newel::cli
