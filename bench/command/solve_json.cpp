// SPDX-License-Identifier: Apache-2.0
// The report, and the table as comma-separated values.
#include "solve_json.hpp"

#include "csv_line.hpp"
#include "session.hpp"
#include "solve_figures.hpp"

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

constexpr const char* solve_csv_header =
    "system,precision,rows,nonzeros,tolerance,by,solver,precond,format,refused,built,status,wrong,iterations,"
    "true_relative_residual,iteration_ms,iteration_ms_min,iteration_ms_max,solve_ms,solve_ms_min,solve_ms_max,"
    "setup_seconds,floor_ms,percent_of_floor,iteration_speedup,solve_speedup\n";
constexpr int solve_measured_fields = 16;

void add_spread(CsvLine& csv, const bench::Samples& seconds) {
  const Json ms = bench::summary(seconds, 1e3);
  for (const char* field : {"median", "min", "max"}) csv.add(ms[field].get<double>());
}

std::string csv_line(const BenchSolveLine& line, const BenchSolveSystem& system, const bench::CopyBandwidth& copy) {
  CsvLine csv;
  csv.add(without_folders(system.name)).add(std::string(system.precision()));
  csv.add_count(system.rows).add_count(system.nonzeros).add(system.tolerance);
  csv.add(line.by).add(line.solver).add(line.precond).add(line.format).add(line.refused);
  if (!line.measured()) return csv.add_empty(solve_measured_fields).end();
  const BenchSolveFigures f = figures_of(line, system, copy);
  csv.add(line.facts.format).add(line.end.status).add(std::string(line.wrong() ? "wrong" : ""));
  csv.add_count(line.end.iterations).add(line.residual);
  add_spread(csv, line.iteration);
  add_spread(csv, line.solve);
  csv.add(line.facts.setup_seconds).add(1e3 * f.floor_seconds).add(100 * f.share_of_floor);
  return csv.add(f.iteration_speedup).add(f.solve_speedup).end();
}

// A system without solves has one line with the reason.
std::string csv_refused(const BenchSolveSystem& system) {
  CsvLine csv;
  csv.add(without_folders(system.name)).add(std::string(system.precision()));
  if (system.unreadable) {
    csv.add_empty(2);
  } else {
    csv.add_count(system.rows).add_count(system.nonzeros);
  }
  return csv.add(system.tolerance).add_empty(4).add(system.refused).add_empty(solve_measured_fields).end();
}

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
  std::string csv = solve_csv_header;
  for (const BenchSolveSystem& system : result.systems) {
    if (!system.refused.empty()) csv += csv_refused(system);
    for (const BenchSolveLine& line : system.lines) csv += csv_line(line, system, result.copy);
  }
  return csv;
}

}  // namespace newel::cli
