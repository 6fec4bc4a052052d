// SPDX-License-Identifier: Apache-2.0
/// `newel bench spmv`: what it has measured, the figures that follow from it, its tables and files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <newel/reorder/row_order.hpp>
#include <newel/spmv/operator.hpp>

#include "command_line.hpp"
#include "session.hpp"

namespace newel::cli {

/// Products with several vectors at once.
struct ColumnsProduct {
  int columns;
  bench::Samples warm;  ///< seconds of one product with all of them
};

/// One contender on one system. Seconds throughout.
struct BenchLine {
  std::string name;         ///< as requested; `info.name` is what was built
  bool competitor = false;  ///< one of those that the others are compared with
  bool break_even = false;  ///< one of those whose setup and products are to be undercut
  std::string refused;      ///< why there is nothing else; empty where it was measured
  std::string same_as;      ///< the line with the same arrays, whose products were timed for both; or empty
  OperatorInfo info;
  OrderReport order;
  double plan_seconds = 0;
  double permute_seconds = 0;
  double format_seconds = 0;
  double error = 0;  ///< of the worst row, in units of its bound
  bench::Samples warm, cold, refresh;
  std::vector<ColumnsProduct> columns;  ///< of each number that was requested

  bool measured() const { return refused.empty(); }
  bool wrong() const { return measured() && !(error <= 1); }
  double setup_seconds() const { return plan_seconds + permute_seconds + format_seconds; }
};

struct BenchSystem : BenchedSystem {
  Index cols = 0;
  Index block = 1;  ///< of node_block_size
  std::vector<BenchLine> lines;
};

struct BenchResult {
  Json head;  ///< program, command, machine
  bench::CopyBandwidth copy;
  std::uint64_t displacing_bytes = 0;  ///< written before each cold product
  std::vector<BenchSystem> systems;
};

/// exp of the mean of the logarithms; NaN for none.
double geometric_mean(const std::vector<double>& values);

/// The fastest right one among the competitors, by the median of warm products; null where there is none.
const BenchLine* best_competitor(const BenchSystem& system);
/// The same among those that the break-even is reckoned against.
const BenchLine* break_even_competitor(const BenchSystem& system);

/// In addition to the speeds: the model of EVC-HYB's section 3.2 (beta, code balance B, P_max = b / B with the
/// bandwidth b), with the bytes that each format counts itself instead of the paper's (1 / beta (8 + 4) + 8
/// alpha) nnz + 16 n, and with 2 nnz operations, those of y = A x, instead of 2 nnz + 3 n.
struct BenchFigures {
  double seconds = 0;  ///< of a warm product
  double cold_seconds = 0;
  double gflops = 0;
  double bytes_per_second = 0;
  double share_of_copy = 0;      ///< bytes_per_second over the copy's
  double share_of_roofline = 0;  ///< time of csr_product_bytes at the copy's bandwidth, over `seconds`
  double beta = 1;               ///< entries / slots
  double code_balance = 0;       ///< bytes a floating-point operation
  double p_max_gflops = 0;
  double setup_in_products = 0;
  double refresh_seconds = 0;
  double refresh_in_products = 0;
  std::optional<double> speedup;     ///< over the best competitor
  bool comparable = false;           ///< there is a line to break even with, and it is another one
  std::optional<double> break_even;  ///< none: never
};

/// For a line that was measured.
BenchFigures figures_of(const BenchLine& line, const BenchSystem& system, const bench::CopyBandwidth& copy);

/// A contender over all systems of one precision.
struct BenchMean {
  std::string name;
  bool single_precision = false;
  double speedup = 0;  ///< geometric mean of the speed-ups over the best competitor
  int systems = 0;     ///< where it was measured and right
  int of = 0;          ///< where it took part
};

/// Double precision first, then in the order in which the contenders appear.
std::vector<BenchMean> geometric_means(const std::vector<BenchSystem>& systems);

/// The machine, its copy bandwidth, what is written before cold products.
std::string bench_head_text(const BenchResult& result);

/// The line above a system's tables, known before it is measured.
std::string bench_system_text(const BenchSystem& system);

/// Two tables: speeds and errors; the model and the setup. A contender that refused has its reason instead, and what
/// is wrong says WRONG.
std::string bench_table_text(const BenchSystem& system, const bench::CopyBandwidth& copy);

/// The geometric means over all systems.
std::string bench_means_text(const BenchResult& result);

/// r.json: what docs/reports.md says, command, date, machine; then
///   copy             bytes, gigabytes_per_second {min, median, max, samples}
///   displacing_bytes written before each cold product
///   systems          system (without folders), precision, rows, cols, nonzeros, block, refused (null or why there
///                    are no formats; the sizes are null where the matrix could not be read), best_competitor,
///                    break_even_competitor (names or null), formats: one object each
///   geometric_means  name, precision, speedup over the best competitor, systems, of
/// A format has name, built (what it became), detail, competitor, refused (null or the reason, and then nothing but
/// these), same_as (null or the line that was timed for both), wrong, error_in_bounds; warm, cold and refresh
/// {milliseconds}; gflops, bytes_per_product, gigabytes_per_second, percent_of_copy, percent_of_csr_roofline;
/// stored_slots, padding, beta, code_balance, p_max_gflops, cached_share, bytes by part, figures; order {method,
/// figures}; setup_seconds {plan, permute, format, total}, plan_phases, format_phases; setup_in_products,
/// refresh_in_products; speedup over the best competitor; break_even: products, null for never and for the line that
/// it is reckoned against. Numbers that are not finite are null.
Json bench_json(const BenchResult& result);

/// One line for each system, precision and format, under a header; one for a system without formats, with the reason.
/// Empty fields for what there is not.
std::string bench_csv(const BenchResult& result);

/// Measures system after system, prints its tables and writes the files anew behind each. Returns exit_converged, or
/// exit_wrong_product where a format multiplied wrongly, else exit_bad_input where a matrix could not be read, which
/// is a line of its own and of stderr. Throws InputError, DeviceError, OutOfMemory for what stops the whole run; what
/// a single format refuses is a line of its table.
[[nodiscard]] int run_bench(const BenchOptions& options, const std::string& command_line);

/// exit_wrong_product where a line is wrong, else exit_bad_input where a matrix could not be read.
[[nodiscard]] int bench_exit_status(const BenchResult& result);

}  // namespace newel::cli
