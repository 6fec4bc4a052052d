// SPDX-License-Identifier: Apache-2.0
/// Everything that is known after a solve, and the reports made from it.
#pragma once

#include <optional>
#include <string>

#include <newel/solver/advice.hpp>

#include "apps/common/json_file.hpp"
#include "apps/common/unused_options.hpp"
#include "backend.hpp"
#include "options.hpp"
#include "timeline.hpp"

namespace newel::cli {

/// What a converged solve says too little about: its solution error, where that is known, is above 1e-2 and above
/// 1,000 times the relative residual. Else empty.
std::string remark_on_error(const SolveReport& report, double solution_error, const SolveOptions& options,
                            const SystemFacts& facts);

/// One change of the command line that fits how the solve ended; empty for `converged`. `preconditioner` is the one
/// that it ended with; empty: the one in the options.
std::string next_step(const SolveReport& report, const SolveOptions& options, const SystemFacts& facts,
                      const std::string& preconditioner = {});

/// The reason of a solve that failed, with what is wrong with the matrix itself.
std::string full_reason(const SolveReport& report, const SolveOptions& options, const SystemFacts& facts);

struct SolveResult {
  SolveOptions options;
  std::string command_line;
  Place place;
  std::string place_reason;     ///< why the host, where it was chosen although there may be a device
  bool place_by_model = false;  ///< by a cost model
  int threads = 0;              ///< of each rank
  int ranks = 1;                ///< processes or GPUs that share the rows
  bool under_mpi = false;       ///< they are processes
  Index columns = 1;            ///< right-hand sides
  std::int64_t rows = 0;
  Offset nonzeros = 0;
  bool complex = false;           ///< the system; rows and non-zeros are complex ones
  Offset repeated = 0;            ///< entries of the file that repeat others, and were summed
  bool rows_sum_to_zero = false;  ///< A maps constant vectors to zero
  std::string defect;             ///< of rows or columns: zeros alone, NaN; empty: none
  bool pattern_only = false;      ///< the matrix's file holds no values
  SolveOutcome outcome;
  Timeline timeline{1};
  std::optional<double> solution_error;  ///< |x - x*| / |x*|
  RunClock clock;                        ///< of the process, with the phases of "seconds"

  /// Of the only column, or of the worst: the first that did not converge of those with the largest true residual
  /// over |b|; where all converged, the one with the largest.
  const SolveReport& report() const { return outcome.reports[worst()]; }
  std::size_t worst() const;
  bool several() const { return outcome.reports.size() > 1; }
  /// Of the system, for the advice to a column's report; row sums by the matrix itself.
  SystemFacts facts_of(std::size_t column) const;
  /// What to try, and why a column was not solved, with what is wrong with the matrix.
  std::string advice_of(std::size_t column) const;
  std::string reason_of(std::size_t column) const;
  /// Options that were given and that this solve, as it came out, had no use for.
  std::vector<UnusedOption> unused() const;
};

/// r.json. Schema 1; residuals are 2-norms of b - A x, those named relative are divided by |b| (by 1 for b = 0):
///   converged, status, reason     the end; status is one of the library's names, reason a sentence or "". Of several
///                                 attempts it is the last one's, and so is solver
///   iterations                    of all attempts together
///   rhs_norm, initial_residual    absolute
///   relative_residual             as the recurrence has it
///   true_relative_residual        formed from the x that is returned, which is that of the best attempt
///   relative_residual_error_bound how far rounding may have moved true_relative_residual: "converged" means that
///   both
///                                 together meet the tolerance
///   twice_precision               whether b - A x was formed in twice the working precision
///   row_residual                  max |b - A x|_i / (sum_j |a_ij| max|x| + |b_i|), near 1 where a row is not solved
///   at
///                                 all; null where the entries are not known
///   warning                       what a converged solve should make its reader look at, or ""
///   residual_of                   the system that residuals, norms and tolerance are of: "the system as given", or
///                                 "the system rounded to single precision"
///   attainable_relative_residual  what rounding allows, for status "stagnation" where there is ground to say so,
///   else
///                                 null
///   solution_error                |x - x*| / |x*| where the solution is known, else null
///   repeated_entries              how many entries of the file repeat others, and were summed
///   values_taken_as_one           whether the matrix's file holds a pattern without values
///   device                        "host", "cuda:0", "cuda:0 to cuda:3"; device_name is null on the
///   host; device_reason says why the
///                                 host was taken under --device auto, else ""
///   ranks                         processes under MPI, or GPUs, that shared the rows, else 1; threads, those of each
///                                 process
///   link                          how values travelled between the GPUs that shared the rows; null without several
///   rank_rows                     how many rows each of these GPUs had; null without several
///   seconds                       of the process until the report is written, by phases that add up to total:
///                                   launch    the program is loaded, options and files are checked
///                                   start     the context: the CUDA driver wakes up
///                                   read      the matrix is read or generated
///                                   checks    of the matrix: empty rows, repeated entries, row sums
///                                   rhs       right-hand side, guess, coordinates and pattern
///                                   setup     conversion, upload and everything before the first iteration
///                                   report    texts and this report are made and printed
///                                   solve     all columns, from b to x
///                                   preconditioner_residual   only with --precond-residual
///                                   result    x is taken back and compared, memory is given back
///                                   files     --out and --history are written
///   setup_phases                  splits setup; transfer is conversion to the precision and upload
///   preconditioner_residual       |A M - I|_F with --precond-residual: norm, relative to |I|_F, probes (0: exact);
///                                 else null
///   history                       the recurrence's residual, absolute, before the first iteration and after each, of
///                                 all attempts one after another
///   timeline                      when the solve had come how far, at up to 500 of its iterations: arrays of
///                                 iteration, counted through all attempts, seconds since the solve began, and
///                                 relative_residual
///   candidates                    with --explain what the automatic choices compare, the least seconds first:
///   format,
///                                 preconditioner, iterations and seconds that the cost model expects of one solve,
///                                 and whether the system has them; else null
///   precision_reason              why mixed precision is not used, or not at first; else empty
///   operators                     matrix, preconditioner; residual_matrix: A in double in mixed precision, or
///                                 null
///   attempts                      the solvers that ran, in order
///   unused_options                options that were given and had no effect: option, and reason
/// With several right-hand sides all this is about the worst of them, but for seconds, which are those of all; there
/// are then also
///   columns                       an object for each column, in order, with these fields of its own solve
///   worst_column                  its number, from 1
/// Numbers that are not finite are null.
/// Ends the phase "report" of the clock.
Json solve_json(SolveResult& result);

/// h.csv: iteration,residual,relative_residual,solver, with the digits that read back to the same bits. Iterations
/// count through all attempts; the one that an attempt starts from has a line of each of the two. With several
/// reports, the columns of a system, a first field numbers them from 1.
std::string history_csv(const std::vector<SolveReport>& reports);

/// What is printed before the solve: matrix, device, format, preconditioner, solver and why.
std::string setup_text(const SolveResult& result, const SetupFacts& facts);

/// What is printed after it: how it ended, residual, error, seconds, attempts, advice.
std::string result_text(const SolveResult& result);

/// Which files were written; empty for none.
std::string files_text(const SolveOptions& options);

}  // namespace newel::cli
