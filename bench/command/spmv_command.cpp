// SPDX-License-Identifier: Apache-2.0
// `newel bench spmv`, step by step.
#include "spmv.hpp"

#include <newel/core/matrix_traits.hpp>

#include "apps/common/exit_status.hpp"
#include "apps/common/place.hpp"
#include "apps/newel/input/input_matrix.hpp"
#include "session.hpp"
#include "spmv_in.hpp"

namespace newel::cli {
namespace {

template <class T, Space S>
void measure(const Context<Space::host>& host, const Context<S>& ctx, const InputMatrix& matrix,
             const BenchOptions& options, std::uint64_t displacing_bytes, BenchSystem& system) {
  measure_or_refuse(system, [&] {
    BenchSettings settings;
    settings.repeats = options.repeats;
    settings.displacing_bytes = displacing_bytes;
    settings.columns = options.columns;
    system.lines = BenchRun<T, S>(host, ctx, matrix.a, settings).run(choose_contenders<T>(ctx, options.formats));
  });
}

template <Space S>
BenchResult measure_all(const Context<Space::host>& host, const Context<S>& ctx, const BenchOptions& options,
                        const std::string& command_line) {
  BenchResult result;
  result.head = bench_head("newel bench spmv", command_line, host, ctx, options.repeats);
  result.copy = bench::measure_copy(ctx, options.repeats);
  result.displacing_bytes = bench::displacing_bytes(ctx);
  print_now(bench_head_text(result));
  for (const std::string& name : options.systems) {
    BenchSystem of_matrix;
    of_matrix.name = name;
    const std::optional<InputMatrix> matrix = load_or_refuse(host, of_matrix);
    if (matrix) {
      of_matrix.cols = matrix->a.cols;
      of_matrix.block = node_block_size(host, CsrView<double, Space::host>(matrix->a));
    }
    for_precisions(options, [&](bool single) {
      BenchSystem system = of_matrix;
      system.single_precision = single;
      print_now(bench_system_text(system));
      if (matrix && single) measure<float>(host, ctx, *matrix, options, result.displacing_bytes, system);
      if (matrix && !single) measure<double>(host, ctx, *matrix, options, result.displacing_bytes, system);
      print_now(bench_table_text(system, result.copy));
      result.systems.push_back(std::move(system));
    });
    write_bench_files(options.report, bench_json(result), options.csv, bench_csv(result));
  }
  return result;
}

}  // namespace

int bench_exit_status(const BenchResult& result) {
  if (any_wrong(result.systems)) return exit_wrong_product;
  return any_unreadable(result.systems) ? exit_bad_input : exit_converged;
}

int run_bench(const BenchOptions& options, const std::string& command_line) {
  const Place place = choose_place(options.device);
  check_bench_files(options.systems, options.report, options.csv);
  const Context<Space::host> host(options.threads);
  const BenchResult result =
      at_place(place, host, [&](const auto& ctx) { return measure_all(host, ctx, options, command_line); });
  print_now(bench_means_text(result));
  return bench_exit_status(result);
}

}  // namespace newel::cli
