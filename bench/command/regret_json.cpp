// SPDX-License-Identifier: Apache-2.0
// The report, and the table as comma-separated values.
#include "regret_json.hpp"

#include "csv_line.hpp"
#include "regret_figures.hpp"

namespace newel::cli {
namespace {

Json seconds_json(const bench::Samples& samples) { return samples.empty() ? Json() : bench::summary(samples); }

Json choice_json(const RegretChoice& choice) {
  return {
      {"format", or_null(choice.format)}, {"precond", or_null(choice.precond)}, {"solver", or_null(choice.solver)}};
}

void add_end(Json& json, const RegretEnd& end) {
  json["refused"] = or_null(end.refused);
  if (!end.refused.empty()) return;
  json["status"] = end.status;
  json["reason"] = or_null(end.reason);
  json["converged"] = end.converged();
  json["wrong"] = end.wrong;
  json["iterations"] = end.iterations;
  json["resident"] = end.resident;
  json["true_relative_residual"] = end.residual;
}

Json combination_json(const RegretCombination& line, const std::vector<RegretAuto>& uses) {
  Json json = choice_json(line.choice);
  add_end(json, line.end);
  json["setup"] = {{"seconds", seconds_json(line.setup)}};
  json["first_solve"] = {{"seconds", seconds_json(line.first_solve)}};
  json["refresh"] = {{"seconds", seconds_json(line.refresh)}};
  json["solve"] = {{"seconds", seconds_json(line.solve)}};
  json["uses"] = Json();
  if (!line.end.converged()) return json;
  for (const RegretAuto& use : uses) json["uses"][use.use.name] = use_seconds(line, use.use.solves);
  return json;
}

Json use_json(const RegretAuto& line, const RegretSystem& system) {
  const RegretFigures f = figures_of(system, line);
  Json json = {{"use", line.use.name},
               {"solves", line.use.solves},
               {"outcome", name_of(f.outcome)},
               {"auto_seconds", or_null(f.auto_seconds)},
               {"best_seconds", or_null(f.best_seconds)},
               {"regret", or_null(f.regret)},
               {"best", f.best == nullptr ? Json() : choice_json(f.best->choice)}};
  Json own = Json::object();
  add_end(own, line.end);
  own["solves"] = line.solves;
  own.update(choice_json(line.choice));
  own["changed"] = Json::array();
  for (const RegretChange& change : line.changed) {
    own["changed"].push_back({{"solve", change.solve}, {"what", change.what}});
  }
  own["seconds"] = seconds_json(line.seconds);
  json["auto"] = std::move(own);
  return json;
}

Json usual_json(const RegretUsual& usual) {
  if (usual.by.empty()) return {};
  Json json = {{"by", usual.by}, {"solver", usual.solver}, {"precond", usual.precond}};
  add_end(json, usual.end);
  json["setup_seconds"] = usual.setup_seconds;
  json["solve_seconds"] = usual.solve_seconds;
  json["seconds"] = usual.setup_seconds + usual.solve_seconds;
  return json;
}

Json model_json(const SystemCandidate& candidate) {
  return {{"format", candidate.format},
          {"precond", candidate.preconditioner},
          {"setup_seconds", candidate.setup_seconds},
          {"iteration_seconds", candidate.iteration_seconds},
          {"resident", candidate.resident},
          {"iterations", candidate.iterations}};
}

Json system_json(const RegretSystem& system) {
  Json json = solved_system_head(system, system.tolerance);
  json["first_solver"] = or_null(system.first_solver);
  json["uses"] = Json::array();
  json["combinations"] = Json::array();
  json["model"] = Json::array();
  json["usual"] = usual_json(system.usual);
  for (const RegretAuto& use : system.automatic) json["uses"].push_back(use_json(use, system));
  for (const SystemCandidate& candidate : system.model) json["model"].push_back(model_json(candidate));
  for (const RegretCombination& line : system.combinations) {
    json["combinations"].push_back(combination_json(line, system.automatic));
  }
  return json;
}

Json mean_json(const RegretMean& mean) {
  Json failures = Json::array();
  for (const std::string& system : mean.failures) failures.push_back(without_folders(system));
  return {{"use", mean.use.name},      {"solves", mean.use.solves},
          {"systems", mean.systems},   {"geometric_mean", or_null(mean.geometric_mean)},
          {"max", or_null(mean.most)}, {"max_system", or_null(without_folders(mean.worst))},
          {"failures", failures}};
}

constexpr const char* regret_csv_header =
    "system,precision,rows,nonzeros,tolerance,refused,use,solves,outcome,auto_seconds,best_seconds,regret,auto_"
    "format,"
    "auto_precond,auto_solver,best_format,best_precond,best_solver,usual_seconds\n";
constexpr int regret_measured_fields = 13;

CsvLine begun(const RegretSystem& system) {
  CsvLine csv;
  csv.add(without_folders(system.name)).add(std::string(system.precision()));
  if (system.unreadable) {
    csv.add_empty(2);
  } else {
    csv.add_count(system.rows).add_count(system.nonzeros);
  }
  csv.add(system.tolerance).add(system.refused);
  return csv;
}

std::string csv_line(const RegretAuto& line, const RegretSystem& system) {
  const RegretFigures f = figures_of(system, line);
  const RegretChoice best = f.best == nullptr ? RegretChoice{} : f.best->choice;
  CsvLine csv = begun(system);
  csv.add(line.use.name).add_count(line.use.solves).add(std::string(name_of(f.outcome)));
  csv.add(f.auto_seconds).add(f.best_seconds).add(f.regret);
  for (const RegretChoice& choice : {line.choice, best})
    csv.add(choice.format).add(choice.precond).add(choice.solver);
  const RegretUsual& usual = system.usual;
  std::optional<double> usual_seconds;
  if (usual.end.converged()) usual_seconds = usual.setup_seconds + usual.solve_seconds;
  return csv.add(usual_seconds).end();
}

}  // namespace

Json bench_json(const RegretResult& result) {
  Json json = result.head;
  json["copy"] = copy_json(result.copy);
  json["timing"] = {
      {"combinations",
       "by the host's clock, each on a fresh system: setup, first solve from x = 0, refresh with the "
       "same values, and the solve after it"},
      {"auto", "a whole use by the host's clock, setup included, after one solve that is not counted"},
      {"best",
       "composed of a combination's times: setup and first solve, and for each further solve a refresh and a "
       "solve"}};
  json["uses"] = Json::array();
  for (const RegretMean& mean : means_of(result.systems)) json["uses"].push_back(mean_json(mean));
  json["systems"] = Json::array();
  for (const RegretSystem& system : result.systems) json["systems"].push_back(system_json(system));
  return json;
}

std::string bench_csv(const RegretResult& result) {
  std::string csv = regret_csv_header;
  for (const RegretSystem& system : result.systems) {
    if (!system.refused.empty()) csv += begun(system).add_empty(regret_measured_fields).end();
    for (const RegretAuto& use : system.automatic) csv += csv_line(use, system);
  }
  return csv;
}

}  // namespace newel::cli
