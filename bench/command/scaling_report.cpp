// SPDX-License-Identifier: Apache-2.0
// The report of `newel bench solve --gpus`, and its table.
#include <algorithm>

#include "apps/common/text.hpp"
#include "scaling.hpp"

namespace newel::cli {
namespace {

const char* field_of(Space space) { return space == Space::device ? "gpus" : "ranks"; }

// As older reports have it: "none, csr" for one rank without ranks.
std::string link_words(const ScalingLine& line) { return line.link == "none" ? "none, " + line.linked : line.linked; }

Json phases_json(const std::vector<std::pair<std::string, double>>& phases) {
  Json json = Json::object();
  for (const auto& [phase, seconds] : phases) json[phase] = seconds;
  return json;
}

// The phases that take a hundredth of the setup and more.
std::string phases_text(const ScalingLine& line) {
  const auto of = [&](const std::vector<std::pair<std::string, double>>& phases) {
    std::string words;
    for (const auto& [phase, seconds] : phases) {
      if (seconds < 0.01 * line.setup_seconds) continue;
      words += (words.empty() ? "" : ", ") + phase + text(" %.3g", 1e3 * seconds);
    }
    return words.empty() ? std::string("-") : words;
  };
  return "         setup in ms: " + of(line.system_phases) + "; matrix: " + of(line.matrix_phases) +
         "; preconditioner: " + of(line.precond_phases) + "\n";
}

Json line_json(const ScalingLine& line, Space space, int loop_iterations) {
  Json json = {{field_of(space), line.ranks},
               {"precond", line.precond},
               {"requested_link", line.link},
               {"link", link_words(line)},
               {"refused", or_null(line.refused)}};
  if (!line.measured()) return json;
  json["format"] = line.format;
  json["setup_seconds"] = line.setup_seconds;
  json["setup_phases"] = {{"system", phases_json(line.system_phases)},
                          {"matrix", phases_json(line.matrix_phases)},
                          {"preconditioner", phases_json(line.precond_phases)}};
  json["iterations"] = loop_iterations;
  json["microseconds"] = line.iteration.empty() ? Json() : bench::summary(line.iteration, 1e6);
  json["solve"] = bench::milliseconds(line.solve);
  json["solve_iterations"] = line.iterations;
  json["status"] = line.status;
  json["converged"] = line.converged;
  json["true_relative_residual"] = line.residual;
  json["resident"] = line.resident;
  json["bytes"] = line.bytes;
  return json;
}

Json system_json(const ScalingSystem& system, Space space, int loop_iterations) {
  Json json = {
      {"system", system.name}, {"rows", system.rows}, {"nonzeros", system.nonzeros}, {"runs", Json::array()}};
  for (const ScalingLine& line : system.lines) json["runs"].push_back(line_json(line, space, loop_iterations));
  return json;
}

std::string line_text(const ScalingLine& line, const ScalingSystem& system) {
  const std::string how = line.link == "none" ? link_words(line) : line.linked + ", " + line.format;
  const std::string named = text("  %5d  %-9s %-46s ", line.ranks, line.precond.c_str(), how.c_str());
  if (!line.measured()) return named + "refused: " + line.refused + "\n";
  const std::optional<double> one = iteration_of_one(system, line.precond);
  const std::string ratio =
      one && !line.iteration.empty() ? text("%.2f", bench::median(line.iteration) / *one) : std::string("-");
  return named +
         text("%-30s %6s %9.3g %-28s %6d  %s%s\n",
              line.iteration.empty() ? "-" : bench::spread(line.iteration, 1e6).c_str(), ratio.c_str(),
              line.setup_seconds, bench::spread(line.solve, 1e3).c_str(), line.iterations, line.status.c_str(),
              line.resident ? ", in one kernel" : "") +
         phases_text(line);
}

}  // namespace

std::optional<double> iteration_of_one(const ScalingSystem& system, const std::string& precond) {
  std::optional<double> best;
  for (const ScalingLine& line : system.lines) {
    if (line.ranks != 1 || line.precond != precond || !line.measured() || line.iteration.empty()) continue;
    const double seconds = bench::median(line.iteration);
    best = best ? std::min(*best, seconds) : seconds;
  }
  return best;
}

std::optional<double> weak_efficiency(const WeakScaling& weak, const ScalingLine& line, std::int64_t rows) {
  if (!line.measured() || line.iteration.empty()) return std::nullopt;
  for (const ScalingSystem& of_one : weak.systems) {
    const std::optional<double> one = iteration_of_one(of_one, line.precond);
    if (!one) continue;
    const double for_row = *one / static_cast<double>(of_one.rows);
    return for_row * static_cast<double>(rows) / line.ranks / bench::median(line.iteration);
  }
  return std::nullopt;
}

Json scaling_json(const ScalingResult& result, const BenchSolveOptions& options) {
  Json json = result.head;
  json["rhs"] = "ones";
  json["tolerance"] = options.tolerance;
  json["max_iterations"] = options.max_iterations;
  json["loop_iterations"] = options.loop_iterations;
  json["timing"] = {
      {"microseconds",
       "an iteration of CG: with Jacobi or none the difference of loops of loop_iterations and twice as many over "
       "their number; otherwise a whole solve over its iterations"},
      {"solve", "whole solves from x = 0 to the tolerance, after one that warms up: the longest time of a rank"},
      {"setup_seconds", "once, from the ranks' rows on the host, after a small system of the same kind"}};
  const auto systems = [&](const std::vector<ScalingSystem>& of) {
    Json all = Json::array();
    for (const ScalingSystem& system : of) all.push_back(system_json(system, result.space, options.loop_iterations));
    return all;
  };
  json["systems"] = systems(result.systems);
  json["weak"] = Json::array();
  for (const WeakScaling& weak : result.weak) {
    json["weak"].push_back({{"of_one", weak.of_one}, {"systems", systems(weak.systems)}});
  }
  return json;
}

std::string scaling_text(const ScalingSystem& system, Space space) {
  std::string lines =
      "\n" + system.name + ": " + thousands(system.rows) + " rows, " + thousands(system.nonzeros) + " non-zeros\n" +
      text("  %5s  %-9s %-46s %-30s %6s %9s %-28s %6s  %s\n", space == Space::device ? "GPUs" : "ranks", "precond",
           "link, format", "us/iteration (min .. max)", "/ one", "setup s", "ms/solve (min .. max)", "iter.",
           "status");
  for (const ScalingLine& line : system.lines) lines += line_text(line, system);
  return lines;
}

std::string weak_text(const WeakScaling& weak, Space space) {
  std::string lines = "\nweak scaling from " + weak.of_one + ":\n";
  for (const ScalingSystem& system : weak.systems) {
    for (const ScalingLine& line : system.lines) {
      const std::optional<double> share = weak_efficiency(weak, line, system.rows);
      if (line.ranks == 1 || !share) continue;
      lines += text("  %5d %s  %-9s %-38s %.1f %%\n", line.ranks, space == Space::device ? "GPUs" : "ranks",
                    line.precond.c_str(), line.linked.c_str(), 100 * *share);
    }
  }
  return lines;
}

}  // namespace newel::cli
