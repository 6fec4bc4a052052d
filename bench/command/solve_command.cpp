// SPDX-License-Identifier: Apache-2.0
// `newel bench solve`, step by step.
#include "solve.hpp"

#include "apps/common/exit_status.hpp"
#include "apps/common/names.hpp"
#include "apps/common/place.hpp"
#include "apps/newel/input/input_matrix.hpp"
#include "apps/newel/input/rhs.hpp"
#include "scaling.hpp"
#include "session.hpp"
#include "solve_in.hpp"

namespace newel::cli {
namespace {

template <class T, Space S>
void measure(const Context<Space::host>& host, const Context<S>& ctx, const InputMatrix& matrix,
             const BenchSolveOptions& options, BenchSolveSystem& system) {
  measure_or_refuse(system, [&] {
    const bench::SolveGoal goal{system.tolerance, options.max_iterations};
    const std::vector<double> b = right_hand_side(host, matrix, options.rhs);
    system.lines = BenchSolveRun<T, S>(host, ctx, matrix.a, b, goal, options.repeats)
                       .run(choose_solve_contenders<T>(ctx, options));
  });
}

template <Space S>
BenchSolveResult measure_all(const Context<Space::host>& host, const Context<S>& ctx,
                             const BenchSolveOptions& options, const std::string& command_line) {
  BenchSolveResult result;
  result.head = bench_head("newel bench solve", command_line, host, ctx, options.repeats);
  result.head["rhs"] = without_folders(options.rhs);
  result.head["max_iterations"] = options.max_iterations;
  result.head["restart"] = options.restart;
  result.copy = bench::measure_copy(ctx, options.repeats);
  print_now(bench_machine_text(result.head, result.copy) + "\n");
  for (const std::string& name : options.systems) {
    BenchSolveSystem of_matrix;
    of_matrix.name = name;
    of_matrix.restart = options.restart;
    const std::optional<InputMatrix> matrix = load_or_refuse(host, of_matrix);
    for_precisions(options, [&](bool single) {
      BenchSolveSystem system = of_matrix;
      system.single_precision = single;
      system.tolerance = single ? options.single_tolerance : options.tolerance;
      print_now(solved_system_text(system, system.tolerance));
      if (matrix && single) measure<float>(host, ctx, *matrix, options, system);
      if (matrix && !single) measure<double>(host, ctx, *matrix, options, system);
      print_now(bench_table_text(system, result.copy));
      result.systems.push_back(std::move(system));
    });
    write_bench_files(options.report, bench_json(result), options.csv, bench_csv(result));
  }
  return result;
}

// What the tables of this build do not hold is no matter of a single line.
void check_tables(const BenchSolveOptions& options, Space space) {
  for_precisions(options, [&](bool single) {
    for (const std::string& format : options.formats) {
      for (const std::string& precond : options.preconds) check_available(format, precond, space, single);
    }
  });
}

}  // namespace

int bench_exit_status(const BenchSolveResult& result) {
  if (any_wrong(result.systems)) return exit_wrong_product;
  if (any_unreadable(result.systems)) return exit_bad_input;
  return any_of_ours_succeeded(result.systems) ? exit_converged : exit_not_converged;
}

int run_bench_solve(const BenchSolveOptions& options, const std::string& command_line) {
  if (!options.shares.empty()) return run_bench_scaling(options, command_line);
  const Place place = choose_place(options.device);
  check_tables(options, place.space);
  check_bench_files(options.systems, options.report, options.csv, parse_rhs(options.rhs).file);
  const Context<Space::host> host(options.threads);
  const BenchSolveResult result =
      at_place(place, host, [&](const auto& ctx) { return measure_all(host, ctx, options, command_line); });
  const int status = bench_exit_status(result);
  if (status == exit_not_converged && !any_wrong(result.systems)) {
    print_error("none of Newel's solves converged, on any of the systems");
  }
  return status;
}

}  // namespace newel::cli
