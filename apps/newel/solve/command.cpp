// SPDX-License-Identifier: Apache-2.0
// `newel solve`: the journey of one matrix, step by step.
#include "command.hpp"

#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>

#include <newel/precond/pattern_options.hpp>
#include <newel/solver/host_seconds.hpp>

#include "apps/common/exit_status.hpp"
#include "apps/common/live_progress.hpp"
#include "apps/common/names.hpp"
#include "apps/common/output_files.hpp"
#include "apps/common/precond_report.hpp"
#include "apps/common/text.hpp"
#include "apps/common/program.hpp"
#include "apps/newel/input/input_matrix.hpp"
#include "apps/newel/input/matrix_facts.hpp"
#include "apps/newel/input/rhs.hpp"
#include "backend.hpp"
#include "html_page.hpp"
#include "result.hpp"
#include "solution_file.hpp"
#include "solve_generated.hpp"
#include "solve_on_ranks.hpp"

namespace newel::cli {
namespace {

void check_files(const SolveOptions& o, const RhsSpec& rhs) {
  const std::vector<NamedFile> inputs = {{"matrix", o.matrix},
                                         {"right-hand side", rhs.file},
                                         {"guess", o.guess},
                                         {"coordinates", o.precond_files.coordinates},
                                         {"near-null vectors", o.precond_files.vectors},
                                         {"preconditioner's pattern", o.precond_files.pattern},
                                         {"constraints", o.precond_files.constraints},
                                         {"mass matrix", o.precond_files.mass}};
  check_inputs(inputs);
  check_outputs({{"--out", o.out}, {"--history", o.history}, {"--report", o.report}, {"--html", o.html}}, inputs);
}

// Where the report for people goes: standard output, unless that is the solution's.
std::FILE* text_stream(const SolveOptions& o) { return is_standard_stream(o.out) ? stderr : stdout; }

// Empty for a guess of zeros.
HostVector first_guess(const Context<Space::host>& ctx, const SolveOptions& o, Index n, Index columns, bool complex) {
  if (o.guess.empty()) return {};
  DenseColumns guess = read_columns_of(ctx, "--guess", o.guess, n);
  if (!complex && !guess.imaginary.empty()) {
    throw InputError("--guess " + o.guess +
                     ": expected real values, as in the matrix and the right-hand side, found " + "complex ones");
  }
  if (guess.cols != columns) {
    throw InputError("--guess " + o.guess + ": expected " + count_of(columns, "column", "columns") +
                     ", as in the right-hand side, found " + thousands(guess.cols));
  }
  return complex ? interleaved(ctx, guess) : std::move(guess.values);
}

// With constants in the null space the solution that is returned has mean zero, and so has the one to compare with.
void remove_mean(HostVector& x) {
  const double mean = std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
  for (double& value : x) value -= mean;
}

void write_files(const Context<Space::host>& ctx, SolveResult& result, const SolutionGrid& grid,
                 Span<const double, Space::host> x) {
  const SolveOptions& o = result.options;
  if (!o.out.empty() && result.complex) write_complex_solution(o, x, result.columns);
  if (!o.out.empty() && !result.complex) write_solution(ctx, o, grid, x, result.columns);
  if (!o.history.empty()) write_text_file("--history", o.history, history_csv(result.outcome.reports));
  result.clock.end("files");
  if (o.report.empty() && o.html.empty()) return;
  const std::string json = format_json(solve_json(result));
  if (!o.report.empty()) write_text_file("--report", o.report, json);
  if (o.html.empty()) return;
  const std::string printed = setup_text(result, result.outcome.setup) + result_text(result);
  write_text_file("--html", o.html, html_page(Json::parse(json).dump(-1, ' ', true), printable_lines(printed)));
}

void print(const SolveOptions& o, const std::string& lines) {
  if (!o.quiet) print_text(text_stream(o), lines);
}

std::optional<double> error_against(const Context<Space::host>& ctx, std::optional<HostVector>& solution,
                                    Span<const double, Space::host> x, NullSpace null_space) {
  if (!solution) return std::nullopt;
  if (null_space == NullSpace::constant) remove_mean(*solution);
  const double error = relative_error(ctx, x, solution->cspan());
  return std::isnan(error) ? std::nullopt : std::optional<double>(error);
}

}  // namespace

namespace {

void require_available(const SolveOptions& o, Space space) {
  check_available(o.system.spmv.format, o.system.precond.name, space, o.single_precision || o.system.mixed);
}

bool available_on(const SolveOptions& o, Space space) {
  try {
    require_available(o, space);
  } catch (const UsageError&) {
    return false;
  }
  return true;
}

// Before a complex system is solved.
void require_complex_possible(const SolveOptions& o, int ranks) {
  if (ranks > 1) {
    throw InputError(o.matrix + ": complex systems are solved by one process, on the host or on one GPU: leave out " +
                     (o.gpus > 1 ? "--gpus" : "mpirun"));
  }
  check_complex_solution_name(o);
}

// Without a look at the matrix. `process`: null without MPI.
void choose_place_of(SolveResult& result, const MpiProcess* process) {
  const SolveOptions& o = result.options;
  if (o.gpus > 1) refuse_on_ranks(o);
  if (process != nullptr) {
    const bool on_gpus = o.device == "cuda" || (o.device == "auto" && process->gpu.one_for_each());
    result.place = on_gpus ? place_of_gpus(*process) : Place{};
    if (o.device == "auto" && process->gpu.devices > 0 && !process->gpu.one_for_each()) {
      result.place_reason = count_of(process->gpu.devices, "GPU", "GPUs") + " for " + thousands(result.ranks) +
                            " processes: --device cuda lets processes share them";
    }
  } else {
    result.place = o.gpus > 1 ? choose_gpus(o.gpus) : choose_place(o.device);
  }
  result.ranks = std::max(result.ranks, result.place.devices);
  result.clock.end("start");
  require_available(o, result.place.space);
}

// A preconditioner does not take the values. What is wrong with the matrix itself comes before what else to try.
template <class Refusal>
[[noreturn]] void refuse_values(const SolveOptions& o, const SolveResult& result, const Refusal& error) {
  const std::string words = in_words_of_the_file(error, o.system.precond.name);
  if (result.defect.empty()) throw InputError(o.matrix + ": " + words);
  throw InputError(o.matrix + ": " + words.substr(0, words.find(": try ")) + ": " + result.defect);
}

// For a matrix that the host can solve as it was asked to. `process`: as above.
void choose_place_for(const Context<Space::host>& host, const Csr<double, Space::host>& a, SolveResult& result,
                      const MpiProcess* process) {
  const SolveOptions& o = result.options;
  const bool may_have_device = NEWEL_HAS_CUDA != 0 && available_on(o, Space::device);
  const auto host_seconds = [&] {
    SystemOptions system = o.system;
    system.columns = static_cast<int>(result.columns);
    // The real system of a complex one has four times the entries.
    return (result.complex ? 4 : 1) * expected_host_seconds<double>(host, a, system) /
           (process == nullptr ? 1 : result.ranks);
  };
  WhereToSolve where = choose_where(o.device, may_have_device, host_seconds);
  if (process != nullptr && where.place.space == Space::device) where.place = place_of_gpus(*process);
  result.clock.end("checks");
  result.place = where.place;
  result.place_reason = std::move(where.reason);
  result.place_by_model = true;
  result.clock.end("start");
  require_available(o, result.place.space);
}

// What is printed while a solve is under way.
SolveObserver observer_of(SolveResult& result, LiveProgress& live) {
  SolveObserver observer;
  observer.on_setup = [&](const SetupFacts& facts) {
    print(result.options, setup_text(result, facts));
    result.timeline.start();
  };
  observer.on_progress = [&](const Progress& progress) {
    live.update(progress);
    result.timeline.add(progress);
    return true;
  };
  return observer;
}

// f(). What a preconditioner refuses is said in words of the file.
template <class F>
auto in_words_for_users(const SolveResult& result, F&& f) {
  try {
    return f();
  } catch (const ZeroDiagonal& error) {
    refuse_values(result.options, result, error);
  } catch (const NotSymmetric& error) {
    refuse_values(result.options, result, error);
  } catch (const NotPositiveDefinite& error) {
    refuse_values(result.options, result, error);
  }
}

// Prints how the solve ended, and writes the files.
int report_on(const Context<Space::host>& host, SolveResult& result, const SolutionGrid& grid,
              Span<const double, Space::host> x) {
  print(result.options, result_text(result));
  result.clock.end("report");
  write_files(host, result, grid, x);
  print(result.options, files_text(result.options));
  return result.report().converged() ? exit_converged : exit_not_converged;
}

// A system that the ranks generate: nobody has the whole, and its size decides.
void choose_place_by_size(SolveResult& result, const MpiProcess& process) {
  constexpr std::int64_t least_rows = 100'000;
  const std::int64_t rows = generated_rows(result.options);
  if (rows >= least_rows && available_on(result.options, Space::device)) {
    result.place = place_of_gpus(process);
  } else {
    result.place_reason = "a generated system of " + thousands(rows) + " rows is solved on the host";
  }
}

int run_generated(const Context<Space::host>& host, SolveResult& result, const MpiProcess* process) {
  const SolveOptions& options = result.options;
  LiveProgress live(text_stream(options), LiveProgress::mode_for(text_stream(options), options.quiet));
  result.timeline = Timeline(result.columns);
  const SolveObserver printed = observer_of(result, live);
  GeneratedObserver observer;
  observer.on_rows = [&](const GeneratedSize& size) {
    result.rows = size.rows;
    result.nonzeros = size.entries;
    if (options.out.empty() || size.rows <= std::numeric_limits<Index>::max()) return;
    throw InputError("--out " + options.out + ": expected at most 2^31 - 1 rows, found " + thousands(size.rows));
  };
  observer.on_setup = printed.on_setup;
  observer.on_progress = printed.on_progress;
  GeneratedOutcome outcome = in_words_for_users(result, [&] {
    return process == nullptr
               ? solve_generated_on_gpus(result.place, host, options, observer, result.clock)
               : solve_generated_on_ranks(*process, result.place, host, options, observer, result.clock);
  });
  live.finish();
  result.outcome = std::move(outcome.solve);
  result.solution_error = outcome.error;
  result.clock.end("result");
  return report_on(host, result, {}, outcome.x.cspan());
}

}  // namespace

int run_solve(const SolveOptions& options, const std::string& command_line, const MpiProcess* process) {
  SolveResult result;
  result.under_mpi = process != nullptr && process->ranks->size() > 1;
  if (process != nullptr) result.ranks = process->ranks->size();
  RunClock& clock = result.clock;
  const RhsSpec rhs_spec = parse_rhs(options.rhs);
  result.options = options;
  result.command_line = command_line;
  clock.end("launch");
  const bool may_take_gpus = process == nullptr || process->gpu.one_for_each();
  const bool waits =
      options.device == "auto" && options.gpus == 0 && available_on(options, Space::host) && may_take_gpus;
  if (!waits) choose_place_of(result, process);
  check_files(options, rhs_spec);

  const Context<Space::host> host(options.threads);
  result.threads = host.threads();
  clock.end("launch");
  if (ranks_generate(options, result.ranks)) {
    if (waits && process != nullptr) choose_place_by_size(result, *process);
    return run_generated(host, result, process);
  }
  InputMatrix matrix = load_matrix(host, options.matrix, wants_mesh(options));
  clock.end("read");
  require_square(matrix);
  result.rows = matrix.a.rows;
  result.nonzeros = matrix.a.nnz();
  result.pattern_only = is_pattern_only(matrix);
  result.repeated = repeated_entries(host, matrix);
  const bool complex_matrix = !matrix.imaginary.empty();
  result.rows_sum_to_zero = !complex_matrix && rows_sum_to_zero(host, matrix.a);
  result.defect = complex_matrix ? defect_of(host, magnitudes_of(host, matrix)) : defect_of(host, matrix.a);
  clock.end("checks");

  RightHandSide rhs = make_rhs(host, rhs_spec, matrix);
  result.columns = rhs.columns;
  result.complex = rhs.complex;
  if (rhs.complex) require_complex_possible(options, result.ranks);
  clock.end("rhs");
  if (waits) choose_place_for(host, matrix.a, result, process);
  SolveTask task{matrix.a,
                 std::move(rhs.b),
                 first_guess(host, options, matrix.a.rows, rhs.columns, rhs.complex),
                 rhs.complex,
                 std::move(matrix.imaginary),
                 options.system,
                 clock,
                 options.precond_residual,
                 options.explain};
  task.options.columns = static_cast<int>(rhs.columns);
  task.options.spmv.coordinates = read_coordinates(host, options.precond_files.coordinates, matrix);
  read_precond_files(host, options.precond_files, matrix.a.rows, task.options.precond);
  const SolutionGrid grid = grid_for(options, matrix, task.options.spmv.coordinates.get());
  clock.end("rhs");

  LiveProgress live(text_stream(options), LiveProgress::mode_for(text_stream(options), options.quiet));
  result.timeline = Timeline(result.columns);
  const SolveObserver observer = observer_of(result, live);
  result.outcome = in_words_for_users(result, [&] {
    return process == nullptr
               ? solve_at(result.place, host, options.single_precision, task, observer)
               : solve_on_ranks(*process, result.place, host, options.single_precision, task, observer);
  });
  live.finish();

  const NullSpace null_space = result.complex ? NullSpace::none : options.system.null_space;
  result.solution_error = error_against(host, rhs.solution, task.x.cspan(), null_space);
  clock.end("result");
  return report_on(host, result, grid, task.x.cspan());
}

}  // namespace newel::cli
