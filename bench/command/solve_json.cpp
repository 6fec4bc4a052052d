// SPDX-License-Identifier: Apache-2.0
// The report, and the table as comma-separated values.
#include "solve.hpp"

#include "csv.hpp"
#include "session.hpp"

namespace newel::cli {
namespace {

Json line_json(const BenchSolveLine& line, const BenchSolveSystem& system, const bench::CopyBandwidth& copy) {
  Json json = {{"by", line.by},         {"solver", line.solver},         {"precond", line.precond},
               {"format", line.format}, {"competitor", line.competitor}, {"refused", or_null(line.refused)}};
  if (!line.measured()) return json;
  const BenchSolveFigures f = figures_of(line, system, copy);
  json["built"] = line.facts.format;
  json["detail"] = line.facts.detail;
  json["status"] = line.end.status;
  json["reason"] = or_null(line.end.reason);
  json["converged"] = line.end.converged();
  json["wrong"] = line.wrong();
  json["iterations"] = line.end.iterations;
  json["resident"] = line.end.resident;
  json["true_relative_residual"] = line.residual;
  json["recurrence_relative_residual"] = line.end.recurrence_residual;
  json["iteration"] = bench::milliseconds(line.iteration);
  json["solve"] = bench::milliseconds(line.solve);
  json["setup_seconds"] = line.facts.setup_seconds;
  json["setup_phases"] = object_of(line.facts.setup_phases);
  json["product_bytes"] = line.facts.product_bytes;
  json["precond_bytes"] = line.facts.precond_bytes;
  json["floor_bytes"] = f.floor_bytes;
  json["floor_milliseconds"] = 1e3 * f.floor_seconds;
  json["percent_of_floor"] = 100 * f.share_of_floor;
  json["iteration_speedup"] = or_null(f.iteration_speedup);
  json["solve_speedup"] = or_null(f.solve_speedup);
  return json;
}

Json system_json(const BenchSolveSystem& system, const bench::CopyBandwidth& copy) {
  Json json = solved_system_head(system, system.tolerance);
  json["solves"] = Json::array();
  for (const BenchSolveLine& line : system.lines) json["solves"].push_back(line_json(line, system, copy));
  return json;
}

constexpr const char* solve_csv_columns =
    "system precision rows nonzeros tolerance by solver precond format refused built status wrong iterations "
    "true_relative_residual iteration_ms=iteration.milliseconds.median iteration_ms_min=iteration.milliseconds.min "
    "iteration_ms_max=iteration.milliseconds.max solve_ms=solve.milliseconds.median "
    "solve_ms_min=solve.milliseconds.min solve_ms_max=solve.milliseconds.max setup_seconds "
    "floor_ms=floor_milliseconds "
    "percent_of_floor iteration_speedup solve_speedup";

}  // namespace

Json bench_json(const BenchSolveResult& result) {
  Json json = result.head;
  json["copy"] = copy_json(result.copy);
  json["timing"] = {
      {"solve", "whole solves from x = 0 by the host's clock, after one warm-up solve, in turns"},
      {"iteration", "the time of a whole solve divided by its iterations"},
      {"floor",
       "a model: A in the fewest bytes of any format that takes part, M likewise, x and y of each product once, and "
       "the vectors that separate vector steps must read and write, at the copy's bandwidth"}};
  json["systems"] = Json::array();
  for (const BenchSolveSystem& system : result.systems) json["systems"].push_back(system_json(system, result.copy));
  return json;
}

std::string bench_csv(const BenchSolveResult& result) {
  return csv_of(bench_json(result), "solves", solve_csv_columns);
}

}  // namespace newel::cli
