// SPDX-License-Identifier: Apache-2.0
// A system read back from a report.
#include "regret_json.hpp"

#include <cmath>

namespace newel::cli {
namespace {

std::string words_or_empty(const Json& json) { return json.is_null() ? std::string() : json.get<std::string>(); }

bench::Samples samples_of(const Json& seconds) {
  return seconds.is_null() ? bench::Samples() : seconds.at("samples").get<bench::Samples>();
}

RegretChoice choice_of(const Json& json) {
  return {words_or_empty(json.at("format")), words_or_empty(json.at("precond")), words_or_empty(json.at("solver"))};
}

RegretEnd end_of(const Json& json) {
  RegretEnd end;
  end.refused = words_or_empty(json.at("refused"));
  if (!end.refused.empty()) return end;
  end.status = json.at("status").get<std::string>();
  end.reason = words_or_empty(json.at("reason"));
  end.wrong = json.at("wrong").get<bool>();
  end.iterations = json.at("iterations").get<int>();
  end.resident = json.at("resident").get<bool>();
  const Json& residual = json.at("true_relative_residual");
  end.residual = residual.is_null() ? std::nan("") : residual.get<double>();
  return end;
}

RegretCombination combination_of(const Json& json) {
  RegretCombination line;
  line.choice = choice_of(json);
  line.end = end_of(json);
  line.setup = samples_of(json.at("setup").at("seconds"));
  line.first_solve = samples_of(json.at("first_solve").at("seconds"));
  line.refresh = samples_of(json.at("refresh").at("seconds"));
  line.solve = samples_of(json.at("solve").at("seconds"));
  return line;
}

RegretAuto use_of(const Json& json) {
  RegretAuto line;
  line.use = {json.at("use").get<std::string>(), json.at("solves").get<int>()};
  const Json& own = json.at("auto");
  line.end = end_of(own);
  line.solves = own.at("solves").get<int>();
  line.choice = choice_of(own);
  for (const Json& change : own.at("changed")) {
    line.changed.push_back({change.at("solve").get<int>(), change.at("what").get<std::string>()});
  }
  line.seconds = samples_of(own.at("seconds"));
  return line;
}

SystemCandidate candidate_of(const Json& json) {
  SystemCandidate candidate;
  candidate.format = json.at("format").get<std::string>();
  candidate.preconditioner = json.at("precond").get<std::string>();
  candidate.setup_seconds = json.at("setup_seconds").get<double>();
  candidate.iteration_seconds = json.at("iteration_seconds").get<double>();
  candidate.resident = json.at("resident").get<bool>();
  candidate.iterations = json.at("iterations").get<double>();
  return candidate;
}

RegretUsual usual_of(const Json& json) {
  RegretUsual usual;
  if (json.is_null()) return usual;
  usual.by = json.at("by").get<std::string>();
  usual.solver = json.at("solver").get<std::string>();
  usual.precond = json.at("precond").get<std::string>();
  usual.end = end_of(json);
  usual.setup_seconds = json.at("setup_seconds").get<double>();
  usual.solve_seconds = json.at("solve_seconds").get<double>();
  return usual;
}

}  // namespace

RegretSystem regret_system_from(const Json& json) {
  RegretSystem system;
  system.name = json.at("system").get<std::string>();
  system.single_precision = json.at("precision") == "single";
  system.unreadable = json.at("rows").is_null();
  if (!system.unreadable) {
    system.rows = json.at("rows").get<Index>();
    system.nonzeros = json.at("nonzeros").get<Offset>();
  }
  system.tolerance = json.at("tolerance").get<double>();
  system.refused = words_or_empty(json.at("refused"));
  system.first_solver = words_or_empty(json.at("first_solver"));
  for (const Json& use : json.at("uses")) system.automatic.push_back(use_of(use));
  for (const Json& line : json.at("combinations")) system.combinations.push_back(combination_of(line));
  for (const Json& line : json.value("model", Json::array())) system.model.push_back(candidate_of(line));
  system.usual = usual_of(json.at("usual"));
  return system;
}

}  // namespace newel::cli
