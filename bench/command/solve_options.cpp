// SPDX-License-Identifier: Apache-2.0
// What `newel bench solve` takes, and what its columns mean.
#include "run_options.hpp"

#include <algorithm>
#include <cmath>

#include <newel/solver/registry.hpp>

#include "apps/common/exit_status.hpp"
#include "apps/common/names.hpp"
#include "apps/common/precond_options.hpp"
#include "apps/common/text.hpp"
#include "apps/newel/input/rhs.hpp"

namespace newel::cli {
namespace {

constexpr const char* solve_columns =
    "Each solver with each preconditioner in each format, against the usual loops: CG and "
    "BiCGStab\n"
    "with none and Jacobi, by cuBLAS and cuSPARSE calls with scalars on the host and as a CUDA graph with scalars "
    "on\n"
    "the device (host: Eigen's ConjugateGradient and BiCGSTAB). All take turns in one process, every other round\n"
    "in reverse order, after a warm-up solve. Times are medians of whole solves by the host's clock, from b in "
    "memory "
    "to\n"
    "x in memory, from x = 0:\n"
    "  ms/iteration  a whole solve divided by its iterations; for a fixed number: --tol 0 --max-iterations N\n"
    "  floor%        of the speed at which the copy's bandwidth, in this run, moves what an iteration must move: A "
    "in\n"
    "                the fewest bytes of any format that takes part, x and y of each product once, and the vectors "
    "that\n"
    "                separate vector steps must read and write. A model: systems in caches or on the chip can exceed "
    "it\n"
    "  x             speed-up of an iteration, over the fastest of the others with the same solver and "
    "preconditioner\n"
    "  iterations    of the last round; GMRES counts inner ones, BiCGStab's hold two products each\n"
    "  ms/solve, x   the whole solve; its speed-up over the fastest competitor that converged, of any method\n"
    "  setup s       once, from the matrix in memory: order, format, preconditioner, solver, libraries' handles\n"
    "  residual      |b - A x| / |b| computed in long double from the returned x, the worst of all rounds\n"
    "  status        how it ended, and whether in one kernel that kept the vectors on the chip; what did not\n"
    "                converge stays in the table. One of ours that reports converged and is not is WRONG. The exit\n"
    "                status is then 1, and also if none of ours converges on any system; with --tol 0, if all are\n"
    "                refused";

void check_tolerance(double tolerance) {
  require_number("--tol", tolerance);
  if (tolerance >= 1)
    throw UsageError(text("--tol: expected less than 1, so that x = 0 is not a solution; found %g", tolerance));
}

}  // namespace

CLI::App& add_bench_solve(CLI::App& bench, RawBenchSolve& raw) {
  BenchSolveOptions& o = raw.options;
  CLI::App& solve = *bench.add_subcommand("solve", "Time whole solves and their iterations on the given systems");
  const OptionGroup group(solve);
  add_bench_systems(solve, o);
  group.add("--solvers", raw.solvers, "all|NAME,NAME...", "Default all: " + join(general_solver_names()));
  group.add("--preconds", raw.preconds, "all|NAME,NAME...",
            "Default jacobi; available: " + join(preconditioner_names()));
  group.add("--formats", raw.formats, "all|NAME,NAME...",
            "Names of formats, with or without variant, default " + raw.formats + "; all: without variants");
  raw.restart_given =
      group.add("--restart", o.restart, "M", "Length of GMRES's cycles, default " + std::to_string(o.restart))
          ->check(CLI::Range(1, INT32_MAX));
  group.add("--precision", raw.precision, "both|double|single", "Precision of matrix and vectors, default double");
  solve.add_flag("--mixed", o.mixed, "Also Newel's solvers in mixed precision");
  solve.add_flag("--single-basis", o.single_basis, "Also Newel's GMRES in double with its basis in single precision");
  group.add("--rhs", o.rhs, "B",
            "b.mtx (for one system) | ones | random[:SEED] | A*ones | A*random[:SEED], default ones");
  raw.tolerance_given = add_bench_stop(solve, o.tolerance, o.max_iterations);
  add_bench_run(solve, o, "solve", "contender");
  add_bench_scaling(solve, raw);
  solve.footer(solve_columns);
  solve.allow_extras();
  return solve;
}

BenchSolveOptions checked_bench_solve(const RawBenchSolve& raw) {
  BenchSolveOptions o = raw.options;
  take_precision(raw.precision, o);
  const std::vector<std::string> solvers = general_solver_names(), preconds = preconditioner_names();
  o.solvers = names_of(raw.solvers, "--solvers", solvers,
                       [&](const std::string& name) { return check_name(name, "--solvers", solvers); });
  o.preconds = names_of(raw.preconds, "--preconds", preconds,
                        [&](const std::string& name) { return check_name(name, "--preconds", preconds); });
  o.formats = names_of(raw.formats, "--formats", format_names(),
                       [](const std::string& name) { return check_table_format(name, "--formats"); });
  if (raw.tolerance_given->count() > 0) {
    check_tolerance(o.tolerance);
    o.single_tolerance = o.tolerance;
  }
  if (o.mixed && !o.double_precision) throw UsageError("--mixed needs double precision: omit --precision single");
  const bool has_gmres = std::any_of(o.solvers.begin(), o.solvers.end(),
                                     [](const std::string& name) { return find_solver(name).restarts; });
  if (raw.restart_given->count() > 0 && !has_gmres) {
    throw UsageError("--restart is an option of GMRES: expected gmres among --solvers, found " + join(o.solvers));
  }
  if (o.single_basis && (!has_gmres || !o.double_precision)) {
    throw UsageError("--single-basis needs GMRES in double: add gmres to --solvers and omit --precision single");
  }
  take_bench_scaling(raw, o);
  const RhsSpec rhs = parse_rhs(o.rhs);
  if (rhs.kind == RhsSpec::Kind::file && o.systems.size() > 1) {
    throw UsageError("--rhs " + o.rhs + ": a file is the right-hand side of one system, found " +
                     std::to_string(o.systems.size()));
  }
  return o;
}

}  // namespace newel::cli
