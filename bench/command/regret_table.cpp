// SPDX-License-Identifier: Apache-2.0
// A table of fixed columns.
#include "regret.hpp"

#include <algorithm>

#include "apps/common/text.hpp"

namespace newel::cli {
namespace {

std::string number(const std::optional<double>& value) { return value ? text("%.4g", *value) : "-"; }

std::string end_text(const RegretEnd& end) {
  if (!end.refused.empty()) return "refused: " + end.refused;
  if (end.wrong) return text("WRONG: reported converged, residual %.2e", end.residual);
  return end.status + (end.reason.empty() ? "" : ": " + end.reason);
}

std::string use_text(const RegretAuto& line, const RegretSystem& system) {
  const RegretFigures f = figures_of(system, line);
  const std::string own = line.choice.solver.empty() ? "-" : line.choice.words();
  std::string lines = text("  %-12s %10s %10s %7s  %-30s %s\n", words_of(line.use).c_str(),
                           number(f.auto_seconds).c_str(), number(f.best_seconds).c_str(), number(f.regret).c_str(),
                           own.c_str(), f.best == nullptr ? "-" : f.best->choice.words().c_str());
  if (!line.end.converged()) lines += text("    auto failed in solve %d: ", line.solves) + end_text(line.end) + "\n";
  for (const RegretChange& change : line.changed) lines += text("    solve %d: ", change.solve) + change.what + "\n";
  return lines;
}

std::string usual_text(const RegretUsual& usual) {
  if (usual.by.empty()) return "";
  const std::string head = "  usual loop, " + usual.by + ' ' + usual.solver + ' ' + usual.precond + ": ";
  if (!usual.end.refused.empty()) return head + end_text(usual.end) + "\n";
  return head +
         text("%.4g s, of which setup %.4g s; ", usual.setup_seconds + usual.solve_seconds, usual.setup_seconds) +
         count_of(usual.end.iterations, "iteration", "iterations") + ", " + end_text(usual.end) + "\n";
}

std::string others_text(const RegretSystem& system) {
  std::string lines;
  for (const RegretCombination& line : system.combinations) {
    if (line.end.converged()) continue;
    if (lines.empty()) lines = "  no candidates:\n";
    lines += text("    %-30s ", line.choice.words().c_str()) + end_text(line.end) + "\n";
  }
  return lines;
}

}  // namespace

std::string bench_table_text(const RegretSystem& system) {
  if (!system.refused.empty()) return refused_text(system);
  const auto converged = std::count_if(system.combinations.begin(), system.combinations.end(),
                                       [](const RegretCombination& line) { return line.end.converged(); });
  std::string lines = "  auto begins with " + system.first_solver + "; " + std::to_string(converged) + " of " +
                      count_of(static_cast<std::int64_t>(system.combinations.size()), "combination", "combinations") +
                      " converged\n";
  lines += text("  %-12s %10s %10s %7s  %-30s %s\n", "use", "auto s", "best s", "regret", "auto", "best");
  for (const RegretAuto& use : system.automatic) lines += use_text(use, system);
  return lines + usual_text(system.usual) + others_text(system);
}

std::string bench_means_text(const Json& systems) {
  std::string lines;
  for (const RegretMean& mean : means_of(systems)) {
    lines += "\nregret, " + words_of(mean.use) + ": ";
    lines += !mean.geometric_mean
                 ? "no system was solved by auto and by a combination"
                 : "geometric mean " + number(mean.geometric_mean) + ", maximum " + number(mean.most) + " (" +
                       mean.worst + "), " + count_of(mean.systems, "system", "systems");
    if (!mean.failures.empty()) lines += "; not solved by auto: " + join(mean.failures);
  }
  for (const Json& system : systems) {
    const Json& uses = system.at("uses");
    const auto nothing = [](const Json& use) {
      return use.at("outcome") == name_of(RegretOutcome::nothing_converged);
    };
    if (uses.empty() || !std::all_of(uses.begin(), uses.end(), nothing)) continue;
    lines += "\nnothing converged on " + system.at("system").get<std::string>() + ": left out of the means";
  }
  return lines.empty() ? lines : lines + "\n";
}

}  // namespace newel::cli
