// SPDX-License-Identifier: Apache-2.0
// Tables of fixed columns.
#include "spmv.hpp"

#include <algorithm>

#include <newel/core/error.hpp>

#include "apps/common/text.hpp"
#include "session.hpp"

namespace newel::cli {
namespace {

constexpr const char* name_column = "  %-18s ";

std::string named(const BenchLine& line) { return text(name_column, line.name.c_str()); }

std::string range_of(const bench::Samples& seconds) { return bench::spread(seconds, 1e3); }

std::string error_text(const BenchLine& line) {
  return line.wrong() ? text("WRONG (%.3g)", line.error) : text("%.2g", line.error);
}

std::string speed_line(const BenchLine& line, const BenchFigures& f) {
  return named(line) + text("%-28s %8.4g %8.1f %8.1f %7.1f %6.1f %6.1f %8s  %s\n", range_of(line.warm).c_str(),
                            1e3 * f.cold_seconds, f.gflops, 1e-6 * double(line.info.bytes_per_product),
                            1e-9 * f.bytes_per_second, 100 * f.share_of_copy, 100 * f.share_of_roofline,
                            f.speedup ? text("%.3f", *f.speedup).c_str() : "-", error_text(line).c_str());
}

std::string break_even_text(const BenchFigures& f) {
  if (!f.comparable) return "-";
  return f.break_even ? thousands(static_cast<std::int64_t>(*f.break_even)) : "never";
}

// The other names under which the operator of a line was requested: "ehyb" and the variant that it is.
std::vector<std::string> other_names(const BenchLine& line, const BenchSystem& system) {
  std::vector<std::string> names;
  for (const BenchLine& other : system.lines) {
    if (other.same_as == line.name) names.push_back(other.name);
  }
  return names;
}

std::string setup_line(const BenchLine& line, const BenchSystem& system, const BenchFigures& f) {
  std::string remark;
  if (line.info.name != line.name) remark += "  " + line.info.name;
  const std::vector<std::string> others = other_names(line, system);
  if (!others.empty()) remark += "  also " + join(others);
  return named(line) + text("%6.1f%% %5.3f %6.2f %7.1f %9.4g %8.3g %8.3g %8.3g %11.4g %11s %10.4g %11.2f%s\n",
                            100 * line.info.padding_ratio(), f.beta, f.code_balance, f.p_max_gflops,
                            1e3 * line.setup_seconds(), 1e3 * line.plan_seconds, 1e3 * line.permute_seconds,
                            1e3 * line.format_seconds, f.setup_in_products, break_even_text(f).c_str(),
                            1e3 * f.refresh_seconds, f.refresh_in_products, remark.c_str());
}

// The products with several vectors; "" where none were requested.
std::string columns_table(const BenchSystem& system) {
  const auto with_columns = std::find_if(system.lines.begin(), system.lines.end(),
                                         [](const BenchLine& line) { return !line.columns.empty(); });
  if (with_columns == system.lines.end()) return "";
  std::string table = "\n" + text(name_column, "format");
  for (const ColumnsProduct& of : with_columns->columns) {
    table += text(" %-30s %11s", text("ms of %d vectors", of.columns).c_str(), "in products");
  }
  for (const BenchLine& line : system.lines) {
    if (line.columns.empty() || !line.same_as.empty()) continue;
    table += "\n" + named(line);
    for (const ColumnsProduct& of : line.columns) {
      table += text(" %-30s %11.3g", range_of(of.warm).c_str(), bench::median(of.warm) / bench::median(line.warm));
    }
  }
  return table + "\n";
}

// Whether a name stood for the same other one on every system, whose mean is then its own.
bool always_another(const BenchResult& result, const std::string& name) {
  std::string other;
  for (const BenchSystem& system : result.systems) {
    for (const BenchLine& line : system.lines) {
      if (line.name != name || !line.measured()) continue;
      if (line.same_as.empty() || (!other.empty() && other != line.same_as)) return false;
      other = line.same_as;
    }
  }
  return !other.empty();
}

}  // namespace

std::string bench_head_text(const BenchResult& result) {
  return bench_machine_text(result.head, result.copy) + "; " + human_bytes(result.displacing_bytes) +
         " written before each cold product\n";
}

std::string bench_system_text(const BenchSystem& system) {
  const std::string head = "\n" + system.name + ", " + system.precision() + " precision";
  if (system.unreadable) return head + "\n";
  return head + ": " + count_of(system.rows, "row", "rows") +
         (system.cols == system.rows ? "" : ", " + count_of(system.cols, "column", "columns")) + ", " +
         count_of(system.nonzeros, "non-zero", "non-zeros") +
         (system.block > 1 ? text(", %d x %d blocks", system.block, system.block) : "") + "\n";
}

std::string bench_table_text(const BenchSystem& system, const bench::CopyBandwidth& copy) {
  if (!system.refused.empty()) return refused_text(system);
  std::string speeds =
      text(name_column, "format") + text("%-28s %8s %8s %8s %7s %6s %6s %8s  %s\n", "ms (min .. max)", "cold ms",
                                         "GFLOP/s", "MB", "GB/s", "copy%", "roof%", "speed-up", "error");
  std::string setups =
      "\n" + text(name_column, "format") +
      text("%7s %5s %6s %7s %9s %8s %8s %8s %11s %11s %10s %11s\n", "padding", "beta", "B", "P_max", "setup ms",
           "plan", "permute", "format", "in products", "pays back", "refresh ms", "in products");
  for (const BenchLine& line : system.lines) {
    if (!line.same_as.empty()) continue;  // one row for each operator
    if (!line.measured()) {
      speeds += named(line) + "refused: " + line.refused + "\n";
      continue;
    }
    const BenchFigures f = figures_of(line, system, copy);
    speeds += speed_line(line, f);
    setups += setup_line(line, system, f);
  }
  return speeds + setups + columns_table(system);
}

std::string bench_means_text(const BenchResult& result) {
  const std::vector<BenchMean> means = geometric_means(result.systems);
  if (means.empty()) return "";
  std::string lines = "\nspeed-up over the fastest competitor, geometric mean over the systems\n";
  for (const BenchMean& mean : means) {
    if (always_another(result, mean.name)) continue;
    lines += text(name_column, mean.name.c_str()) + text("%-7s ", mean.single_precision ? "single" : "double") +
             (mean.systems == 0 ? "     -" : text("%6.3f", mean.speedup)) +
             text("  (%d of %d)\n", mean.systems, mean.of);
  }
  return lines;
}

}  // namespace newel::cli
