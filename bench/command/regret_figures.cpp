// SPDX-License-Identifier: Apache-2.0
// Arithmetic on medians.
#include "regret_figures.hpp"

#include <algorithm>
#include <cmath>

#include "apps/common/text.hpp"

namespace newel::cli {

std::vector<RegretUse> regret_uses(int loop) { return {{"one", 1}, {"ten", 10}, {"loop", loop}}; }

std::string words_of(const RegretUse& use) { return count_of(use.solves, "solve", "solves"); }

double use_seconds(const RegretCombination& c, int solves) {
  const double first = bench::median(c.setup) + bench::median(c.first_solve);
  return solves == 1 ? first : first + (solves - 1) * (bench::median(c.refresh) + bench::median(c.solve));
}

const char* name_of(RegretOutcome outcome) {
  switch (outcome) {
    case RegretOutcome::measured:
      return "measured";
    case RegretOutcome::auto_failed:
      return "auto_failed";
    case RegretOutcome::only_auto:
      return "only_auto";
    case RegretOutcome::nothing_converged:
      break;
  }
  return "nothing_converged";
}

RegretFigures figures_of(const RegretSystem& system, const RegretAuto& use) {
  RegretFigures f;
  for (const RegretCombination& c : system.combinations) {
    if (!c.end.converged()) continue;
    const double seconds = use_seconds(c, use.use.solves);
    if (f.best != nullptr && !(seconds < *f.best_seconds)) continue;
    f.best = &c;
    f.best_seconds = seconds;
  }
  const bool solved = use.end.converged();
  if (solved) f.auto_seconds = bench::median(use.seconds);
  if (solved && f.best != nullptr) f.regret = *f.auto_seconds / *f.best_seconds;
  f.outcome = f.best == nullptr ? (solved ? RegretOutcome::only_auto : RegretOutcome::nothing_converged)
                                : (solved ? RegretOutcome::measured : RegretOutcome::auto_failed);
  return f;
}

std::vector<RegretMean> means_of(const std::vector<RegretSystem>& systems) {
  std::vector<RegretMean> means;
  std::vector<double> logs;  // sums, one for each mean
  for (const RegretSystem& system : systems) {
    for (const RegretAuto& use : system.automatic) {
      auto mean = std::find_if(means.begin(), means.end(), [&](const auto& m) { return m.use.name == use.use.name; });
      if (mean == means.end()) {
        mean = means.insert(means.end(), RegretMean{use.use, 0, {}, {}, {}, {}});
        logs.push_back(0);
      }
      const RegretFigures f = figures_of(system, use);
      if (f.outcome == RegretOutcome::auto_failed) mean->failures.push_back(system.name);
      if (!f.regret) continue;
      double& log = logs[static_cast<std::size_t>(mean - means.begin())];
      log += std::log(*f.regret);
      mean->geometric_mean = std::exp(log / ++mean->systems);
      if (mean->most && !(*f.regret > *mean->most)) continue;
      mean->most = f.regret;
      mean->worst = system.name;
    }
  }
  return means;
}

bool any_wrong(const std::vector<RegretSystem>& systems) {
  const auto wrong = [](const auto& line) { return line.end.wrong; };
  return std::any_of(systems.begin(), systems.end(), [&](const RegretSystem& s) {
    return std::any_of(s.combinations.begin(), s.combinations.end(), wrong) ||
           std::any_of(s.automatic.begin(), s.automatic.end(), wrong);
  });
}

bool any_converged(const std::vector<RegretSystem>& systems) {
  const auto converged = [](const auto& line) { return line.end.converged(); };
  return std::any_of(systems.begin(), systems.end(), [&](const RegretSystem& s) {
    return std::any_of(s.combinations.begin(), s.combinations.end(), converged) ||
           std::any_of(s.automatic.begin(), s.automatic.end(), converged);
  });
}

}  // namespace newel::cli
