// SPDX-License-Identifier: Apache-2.0
// A table of fixed columns.
#include "solve.hpp"

#include "apps/common/text.hpp"

namespace newel::cli {
namespace {

std::string named(const BenchSolveLine& line) {
  return text("  %-21s %-9s %-7s %-18s ", line.by.c_str(), line.solver.c_str(), line.precond.c_str(),
              (line.facts.format.empty() ? line.format : line.facts.format).c_str());
}

std::string ratio(const std::optional<double>& value) { return value ? text("%.3g", *value) : "-"; }

std::string status_text(const BenchSolveLine& line) {
  if (line.wrong()) return "WRONG: reported converged";
  if (line.end.converged() && !(line.residual <= line.allowed)) return "converged, by its recurrence only";
  return line.end.status + (line.end.resident ? ", in one kernel" : "") +
         (line.end.reason.empty() ? "" : ": " + line.end.reason);
}

std::string line_text(const BenchSolveLine& line, const BenchSolveFigures& f) {
  return named(line) + text("%-28s %6.1f %6s %10d  %-28s %6s %8.3g %9.2e  %s\n",
                            bench::spread(line.iteration, 1e3).c_str(), 100 * f.share_of_floor,
                            ratio(f.iteration_speedup).c_str(), line.end.iterations,
                            bench::spread(line.solve, 1e3).c_str(), ratio(f.solve_speedup).c_str(),
                            line.facts.setup_seconds, line.residual, status_text(line).c_str());
}

}  // namespace

std::string bench_table_text(const BenchSolveSystem& system, const bench::CopyBandwidth& copy) {
  if (!system.refused.empty()) return refused_text(system);
  std::string lines = text("  %-21s %-9s %-7s %-18s %-28s %6s %6s %10s  %-28s %6s %8s %9s  %s\n", "by", "solver",
                           "precond", "format", "ms/iteration (min .. max)", "floor%", "x", "iterations",
                           "ms/solve (min .. max)", "x", "setup s", "residual", "status");
  for (const BenchSolveLine& line : system.lines) {
    lines += line.measured() ? line_text(line, figures_of(line, system, copy))
                             : named(line) + "refused: " + line.refused + "\n";
  }
  return lines;
}

}  // namespace newel::cli
