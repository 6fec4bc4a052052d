// SPDX-License-Identifier: Apache-2.0
// The options of `newel solve`, by group, and what the tables say of them.
#include "declared_options.hpp"

#include <utility>

#include <newel/solver/registry.hpp>

#include "apps/common/exit_status.hpp"
#include "apps/common/names.hpp"
#include "apps/common/method_options.hpp"
#include "apps/common/place.hpp"
#include "apps/common/text.hpp"
#include "apps/common/unused_options.hpp"
#include "apps/fem/problem.hpp"
#include "apps/newel/input/input_matrix.hpp"
#include "apps/newel/input/precision.hpp"
#include "apps/newel/input/rhs.hpp"
#include "solution_file.hpp"

namespace newel::cli {
namespace {

constexpr int most_check_every = 64;  // what the library keeps norms for
constexpr int most_gpus = 1024;       // more than a host can have

constexpr const char* examples =
    "Examples:\n"
    "  newel solve bone.mtx                          A x = b with a known solution, all defaults\n"
    "  newel solve K.mtx.gz --rhs f.mtx --out u.mtx --rtol 1e-10\n"
    "  newel solve K.mtx --rhs F.mtx --out U.mtx     all columns of F, in batches that read K once\n"
    "  newel solve flow.mtx --solver gmres --restart 100 --device cuda --report r.json\n"
    "  newel solve generate:elasticity:20            a generated finite-element system\n"
    "  newel solve K.npz f.npy --out u.npy           files of SciPy and NumPy\n"
    "  mpirun -n 4 newel solve K.mtx                 four processes share the rows, on the host\n"
    "  newel solve K.mtx --gpus 2                    two GPUs share the rows\n"
    "  zcat K.mtx.gz | newel solve - --rhs f.mtx --out - > u.mtx  in a pipe\n"
    "\n"
    "Exit status: 0 converged (every column), 1 not converged, 2 bad input or usage, or a file or text that cannot "
    "be\n"
    "written (a full disk, a limit on the size of files), 3 device failure. --out, --report and --html are written\n"
    "for 0 and 1. Ctrl-C stops the solve, writes them and exits 1; another one more than a second later ends it\n"
    "at once.";

void add_system_options(CLI::App& solve, RawSolve& raw) {
  SolveOptions& o = raw.options;
  const OptionGroup group(solve, "The system");
  OptionGroup(solve).add("A", o.matrix, " ", system_words)->required();
  OptionGroup(solve).add("B", raw.second, " ", "The right-hand side, like --rhs");
  raw.rhs_given = group.add("--rhs", o.rhs, "B",
                            "b.mtx | - | ones | random[:SEED] | A*ones | A*random[:SEED], default A*random:1.\n"
                            "With A* the solution is known and the error against it is reported. A file may be of\n"
                            "Matrix Market, NumPy, PETSc or a table (.csv); n x k (array) means k right-hand sides,\n"
                            "solved together, each with its own report");
  group.add("--guess", o.guess, "X0.mtx", "Start from this vector instead of zero; n x k for k right-hand sides");
}

void add_solver_options(CLI::App& solve, RawSolve& raw) {
  const char* heading = "The method";
  const OptionGroup group(solve, heading);
  SystemOptions& s = raw.options.system;
  group.add("--solver", s.solver.name, one_of(solver_choices()),
            "Krylov method. auto: CG if A is symmetric with a positive diagonal, else another;\n"
            "if one fails, continues with the next");
  add_method_options(solve, solver_option_list(), s.solver.methods, raw.solver_options, heading);
  group.add("--null-space", raw.null_space, "none|constant",
            "constant: A maps constants to zero (pure Neumann problems)");
}

void add_format_options(CLI::App& solve, RawSolve& raw) {
  const OptionGroup group(solve, "The format of the matrix");
  SystemOptions& s = raw.options.system;
  group.add("--format", s.spmv.format, one_of(format_choices()),
            "auto, the default, uses a cost model; measure builds and times all. FORMAT:VARIANT\n"
            "names a variant");
  raw.products_given =
      group.add("--expect-products", s.expected_products, "N",
                "Expected matrix-vector products with this setup; default: an estimate for one solve");
  group.add("--partitioner", raw.partitioner, "automatic|natural|metis|coordinates|greedy",
            "How ehyb partitions the matrix");
  group.add("--parts", s.spmv.parts, "N", "Number of parts; default: chosen from the cache sizes")
      ->check(CLI::Range(1, INT32_MAX));
  group.add("--coordinates", raw.precond.files.coordinates, "X.mtx",
            "Coordinates of the nodes, for --precond amg and --partitioner coordinates: matrix array real\n"
            "general, points x 1 to 3. Generated systems have their own");
  group.add("--plan-cache", s.spmv.plan_cache, "DIR",
            "Store orders, measured choices, and what auto has learned from solves in this folder, per pattern,\n"
            "machine and options, for later runs");
}

void add_stopping_options(CLI::App& solve, RawSolve& raw) {
  const OptionGroup group(solve, "When to stop");
  StopCriterion& stop = raw.options.system.stop;
  raw.rtol_given = group.add("--rtol", raw.rtol, "RTOL",
                             text("Stop at |b - A x| <= max(RTOL |b|, ATOL), default %g in double and\n"
                                  "%g in single precision, with A and b\n"
                                  "rounded to it",
                                  default_rtol_double, default_rtol_single));
  group.add("--atol", stop.abs_tol, "ATOL", "Absolute tolerance, default 0");
  group.add("--max-iterations", stop.max_iterations, "N", "Default " + thousands(stop.max_iterations))
      ->check(CLI::Range(0, INT32_MAX));
  raw.time_limit_given = group.add("--time-limit", stop.time_limit_seconds, "S", "Stop iterating after S seconds");
  group
      .add("--check-every", stop.check_every, "N",
           text("Poll residual, clock and Ctrl-C every N iterations (at most %d), default 1 on\n"
                "the host and 16 on a device",
                most_check_every))
      ->check(CLI::Range(1, most_check_every));
}

void add_machine_options(CLI::App& solve, RawSolve& raw) {
  const OptionGroup group(solve, "The machine");
  group.add("--device", raw.options.device, "auto|host|cuda[:N]",
            "Where to solve, default auto: cuda if a device is available, else host; also host\n"
            "if the solve is estimated to end before a device has started. Under mpirun cuda gives\n"
            "each process a GPU of its host, and auto does if there is one for each");
  group
      .add("--gpus", raw.options.gpus, "N",
           "The first N GPUs of this host share the rows, with the preconditioners jacobi, l1-jacobi,\n"
           "fsai, spai, spai0 and amg; the report says how values travel between them")
      ->check(CLI::Range(1, most_gpus));
  group.add("--precision", raw.precision, "double|single|mixed",
            "Precision of matrix and vectors, default double; single solves the system rounded to single precision;\n"
            "mixed iterates in single, is as accurate as double, and continues in double if that fails;\n"
            "with format and preconditioner auto only if that is estimated to be faster");
  group.flag("--deterministic", raw.options.system.deterministic,
             "Identical bits in every run with the same machine, device and threads:\n"
             "no choice by measured times, no csr:alg1");
  group.add("--threads", raw.options.threads, "N", "Host threads, default all; under mpirun those of each process")
      ->check(CLI::Range(1, most_threads));
}

void add_output_options(CLI::App& solve, SolveOptions& o) {
  const OptionGroup group(solve, "Output");
  group.add("--out", o.out, "X.mtx",
            "The solution, n x k for k right-hand sides; the suffix selects the format: .mtx (matrix array\n"
            "real general), .npy, .csv, .petsc, or .vtu if a mesh or --coordinates give the nodes; .gz may\n"
            "follow all except .vtu. Needs --rhs. - writes .mtx to standard output, and the text of the\n"
            "report to standard error");
  group.add("--history", o.history, "H.csv",
            "iteration,residual,relative_residual,solver; with several columns the column comes first");
  group.add("--report", o.report, "R.json", "The full report as JSON");
  group.add("--html", o.html, "R.html",
            "The report as an HTML page: residuals, choices and their reasons, time and memory");
  group.flag("--quiet", o.quiet, "Print only errors");
}

// The right-hand side is named by --rhs or behind the matrix. A solution that is kept is that of a system that was
// asked for: the default is for trials.
void take_rhs(RawSolve& raw) {
  SolveOptions& o = raw.options;
  const bool by_option = raw.rhs_given->count() > 0;
  if (by_option && !raw.second.empty()) {
    throw UsageError("the right-hand side is given twice: '" + raw.second + "' and --rhs " + o.rhs);
  }
  if (!raw.second.empty()) o.rhs = raw.second;
  o.rhs_given = by_option || !raw.second.empty();
  if (!o.out.empty() && !o.rhs_given) {
    throw UsageError("--out " + o.out +
                     " needs a right-hand side: --rhs b.mtx (a file), --rhs ones, or --rhs A*random (one with a "
                     "known solution, for tests)");
  }
}

Partitioner check_partitioner(const std::string& given, const SolveOptions& options) {
  const auto partitioner = partitioner_named(
      check_choice(given, "--partitioner", {"automatic", "natural", "metis", "coordinates", "greedy"}));
  const bool known = !options.precond_files.coordinates.empty() || fem::is_generated(options.matrix);
  if (partitioner == Partitioner::coordinates && !known) {
    throw UsageError("--partitioner coordinates needs --coordinates X.mtx");
  }
  return partitioner;
}

}  // namespace

CLI::App& add_solve(CLI::App& app, RawSolve& raw) {
  raw.precond.names = preconditioner_choices();
  CLI::App& solve = *app.add_subcommand("solve", "Solve A x = b");
  add_system_options(solve, raw);
  add_solver_options(solve, raw);
  PrecondOptions& precond = raw.options.system.precond;
  add_precond_options(solve, precond, raw.precond, "Preconditioner, default " + precond.name);
  OptionGroup(solve, "The preconditioner")
      .flag("--precond-residual", raw.options.precond_residual,
            "Measure |A M - I|_F after the solve, by 64 products, and report it");
  add_format_options(solve, raw);
  add_stopping_options(solve, raw);
  add_machine_options(solve, raw);
  add_output_options(solve, raw.options);
  OptionGroup(solve, "Output")
      .flag("--explain", raw.options.explain,
            "Print every format and preconditioner that auto compares, with the seconds that the\n"
            "cost model estimates and, for those that the solve used, the measured seconds");
  solve.allow_extras();
  solve.footer(examples);
  return solve;
}

SolveOptions checked_solve(RawSolve& raw, const CLI::App& solve) {
  SolveOptions& o = raw.options;
  SystemOptions& s = o.system;
  const std::string precision = check_choice(raw.precision, "--precision", {"double", "single", "mixed"});
  o.single_precision = precision == "single";
  s.mixed = precision == "mixed";
  s.stop.rel_tol = raw.rtol_given->count() > 0 || !o.single_precision ? raw.rtol : default_rtol_single;
  require_number("--rtol", s.stop.rel_tol);
  require_number("--atol", s.stop.abs_tol);
  require_number("--time-limit", s.stop.time_limit_seconds);
  if (raw.time_limit_given->count() > 0 && s.stop.time_limit_seconds == 0) {
    throw UsageError("--time-limit: expected more than 0 seconds");
  }
  if (o.gpus > 0 && o.device != "auto" && o.device != "cuda") {
    throw UsageError("--gpus and --device " + o.device + ": pass only one of them");
  }
  if (o.gpus == 1) o.device = "cuda";
  const std::string null_space = check_choice(raw.null_space, "--null-space", {"none", "constant"});
  s.null_space = null_space == "constant" ? NullSpace::constant : NullSpace::none;
  s.solver.name = check_solver(s.solver.name);
  take_method_options(raw.solver_options, s.solver.methods);
  check_precond_options(s.precond, raw.precond);
  o.precond_files = raw.precond.files;
  s.spmv.format = check_format(s.spmv.format);
  s.spmv.partitioner = check_partitioner(raw.partitioner, o);
  require_number("--expect-products", s.expected_products);
  if (raw.products_given->count() > 0 && s.expected_products < 1) {
    throw UsageError("--expect-products: expected at least 1");
  }
  take_rhs(raw);
  (void)parse_rhs(o.rhs);
  check_solution_name(o);
  o.given = given_options(solve);
  return std::move(o);
}

}  // namespace newel::cli
