// SPDX-License-Identifier: Apache-2.0
// The report of a run, for programs and for people.
#include "run_report.hpp"

#include <algorithm>
#include <fstream>

#include <newel/core/error.hpp>

#include "apps/common/precond_report.hpp"
#include "apps/common/report_head.hpp"
#include "apps/common/text.hpp"
#include "apps/common/unused_options.hpp"

namespace newel::transient {
namespace {

using cli::Json;
using cli::labelled;
using cli::text;

double wall_seconds_per_simulated(const RunReport& r) {
  const double simulated = (r.time.end - r.time.start) * r.time.unit.seconds;
  const double stepping = r.shares.total - r.shares.setup;
  return simulated > 0 ? stepping / simulated : 0;
}

double products_per_setup(const RunReport& r) {
  return r.setups > 0 ? static_cast<double>(r.totals.products) / static_cast<double>(r.setups) : 0;
}

Json solves_json(const SolveTotals& t) {
  return {{"solves", t.solves},
          {"resident", t.resident},
          {"iterations", t.iterations},
          {"most_iterations", t.most_iterations},
          {"iterations_per_solve",
           t.solves > 0 ? static_cast<double>(t.iterations) / static_cast<double>(t.solves) : 0.0},
          {"products", t.products},
          {"preconditioner_applications", t.preconditioned},
          {"residual_replacements", t.replacements},
          {"not_converged", t.not_converged},
          {"worst_true_relative_residual", t.worst_relative_residual},
          {"seconds", t.solve_seconds}};
}

// Options that were given and that the system, as it was set up, had no use for.
std::vector<cli::UnusedOption> unused_options_of(const RunReport& r) {
  if (r.options == nullptr) return {};
  const cli::SolveConfiguration asked = cli::requested_sequence(r.options->system, r.options->device);
  return cli::unused_options(r.options->given, cli::setup_configuration(asked, r.system, r.place.space));
}

std::string shares_text(const ShareReport& shares) {
  std::vector<std::pair<std::string, double>> parts = shares.parts();
  std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string line;
  for (const auto& [name, seconds] : parts) {
    const double percent = shares.total > 0 ? 100 * seconds / shares.total : 0;
    std::string words = name;
    std::replace(words.begin(), words.end(), '_', ' ');
    line += (line.empty() ? "" : ", ") + words + text(percent >= 10 ? " %.0f%%" : " %.1f%%", percent);
  }
  return line;
}

}  // namespace

std::uint64_t peak_process_bytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    std::uint64_t kilobytes = 0;
    if (word == "VmHWM:" && status >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

Json run_json(const RunReport& r) {
  Json json = report_head(r.program);
  json["command_line"] = r.command_line;
  json["ending"] = r.ending;
  json["reason"] = r.reason;
  json["device"] = r.place.name();
  json["device_name"] = r.device_name.empty() ? Json() : Json(r.device_name);
  json["threads"] = r.threads;
  json["mesh"] = r.mesh;
  if (r.options != nullptr) json["options"] = options_json(*r.options);
  json["params"] = r.params;
  json["time_unit"] = r.time.unit.name;
  json["start_time"] = r.time.start;
  json["end_time"] = r.time.end;
  json["resumed_from"] = r.beginning.resumed_from.empty() ? Json() : Json(r.beginning.resumed_from);
  json["checkpoints_removed"] = r.beginning.checkpoints_removed;
  json["steps"] = r.steps;
  json["newton_iterations"] = r.newton;
  json["real_time_factor"] = wall_seconds_per_simulated(r);
  json["milliseconds_per_step"] =
      r.steps > 0 ? 1e3 * (r.shares.total - r.shares.setup - r.shares.output) / static_cast<double>(r.steps) : 0.0;
  json["solves"] = solves_json(r.totals);
  json["setups"] = r.setups;
  json["products_per_setup"] = products_per_setup(r);
  json["shares"] = shares_json(r.shares);
  json["unused_options"] = cli::unused_options_json(unused_options_of(r));
  json["solver"] = r.system.solver;
  json["solver_reason"] = r.system.solver_reason;
  json["format"] = r.system.matrix.name;
  json["format_reason"] = r.system.format.reason;
  json["preconditioner"] = r.system.preconditioner.name;
  json["preconditioner_reason"] = r.system.preconditioner_reason.text();
  json["start_phases"] = cli::object_of(r.beginning.phases);
  json["setup_phases"] = cli::object_of(r.system.setup_seconds);
  json["order"] = {{"method", r.system.order.method},
                   {"remark", r.system.order.remark},
                   {"figures", cli::object_of(r.system.order.figures)},
                   {"phases", cli::object_of(r.system.order.seconds)}};
  json["operators"] = {{"matrix", cli::operator_json(r.system.matrix)},
                       {"preconditioner", cli::operator_json(r.system.preconditioner)}};
  json["memory"] = {{"peak_bytes", r.peak.arrays}, {"peak_process_bytes", r.peak.process}};
  if (r.own.is_object()) {
    for (const auto& [name, value] : r.own.items()) json[name] = value;
  }
  return json;
}

std::string start_text(const std::vector<std::pair<std::string, double>>& phases) {
  double total = 0;
  for (const auto& phase : phases) total += phase.second;
  std::vector<std::pair<std::string, double>> longest_first = phases;
  std::stable_sort(longest_first.begin(), longest_first.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  constexpr double least_share = 0.01;  // what is shorter is in the report alone
  std::vector<std::string> parts;
  for (const auto& [name, seconds] : longest_first) {
    if (seconds >= least_share * total) parts.push_back(name + " " + cli::duration(seconds));
  }
  return labelled("start", cli::duration(total) + " before the first step: " + cli::join(parts));
}

std::string run_text(const RunReport& r) {
  const SolveTotals& t = r.totals;
  std::string lines;
  lines +=
      labelled(r.ending, text("%.6g %s in %s steps%s", r.time.end, r.time.unit.name.c_str(),
                              cli::thousands(r.steps).c_str(), r.reason.empty() ? "" : (": " + r.reason).c_str()));
  const std::string pace = pace_text(wall_seconds_per_simulated(r));
  lines += labelled("time", cli::duration(r.shares.total) + " in all" + (pace.empty() ? "" : ", " + pace));
  lines += labelled("shares", shares_text(r.shares));
  const double per_solve = t.solves > 0 ? static_cast<double>(t.iterations) / static_cast<double>(t.solves) : 0;
  lines += labelled(
      "solves", cli::thousands(t.solves) + text(", %.1f iterations each, %lld at most, by %s with %s", per_solve,
                                                static_cast<long long>(t.most_iterations), r.system.solver.c_str(),
                                                r.system.preconditioner.name.c_str()));
  if (r.newton > 0) {
    lines += labelled("newton",
                      text("%.2f iterations per step",
                           static_cast<double>(r.newton) / static_cast<double>(std::max<std::int64_t>(r.steps, 1))));
  }
  lines += labelled("setup", cli::duration(r.shares.setup) + ", one setup for " +
                                 cli::thousands(static_cast<std::int64_t>(products_per_setup(r))) + " products as " +
                                 r.system.matrix.name);
  lines += labelled("memory", human_bytes(r.peak.arrays) + " of arrays" +
                                  (r.peak.process > 0 ? ", process " + human_bytes(r.peak.process) : ""));
  for (const cli::UnusedOption& unused : unused_options_of(r))
    lines += labelled("remark", unused_option_text(unused));
  return lines;
}

}  // namespace newel::transient
