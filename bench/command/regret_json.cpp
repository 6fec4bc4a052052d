// SPDX-License-Identifier: Apache-2.0
// The report, and the table as comma-separated values.
#include "regret.hpp"

#include "csv.hpp"

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

Json mean_json(const RegretMean& mean) {
  return {{"use", mean.use.name},      {"solves", mean.use.solves},
          {"systems", mean.systems},   {"geometric_mean", or_null(mean.geometric_mean)},
          {"max", or_null(mean.most)}, {"max_system", or_null(mean.worst)},
          {"failures", mean.failures}};
}

constexpr const char* regret_csv_columns =
    "system precision rows nonzeros tolerance refused use solves outcome auto_seconds best_seconds regret "
    "auto_format=auto.format auto_precond=auto.precond auto_solver=auto.solver best_format=best.format "
    "best_precond=best.precond best_solver=best.solver usual_seconds=usual.seconds";

}  // namespace

Json regret_system_json(const RegretSystem& system) {
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
  json["systems"] = result.systems;
  return json;
}

std::string bench_csv(const RegretResult& result) {
  Json report = bench_json(result);
  for (Json& system : report["systems"]) {  // a usual loop that fails has no seconds to compare with
    if (!system["usual"].is_null() && !system["usual"].value("converged", false)) system["usual"] = Json();
  }
  return csv_of(report, "uses", regret_csv_columns);
}

}  // namespace newel::cli
