// SPDX-License-Identifier: Apache-2.0
// Arithmetic on medians.
#include "regret.hpp"

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

std::vector<RegretMean> means_of(const Json& systems) {
  std::vector<RegretMean> means;
  std::vector<double> logs;  // sums, one for each mean
  for (const Json& system : systems) {
    for (const Json& use : system.at("uses")) {
      const RegretUse of{use.at("use"), use.at("solves")};
      auto mean = std::find_if(means.begin(), means.end(), [&](const auto& m) { return m.use.name == of.name; });
      if (mean == means.end()) {
        mean = means.insert(means.end(), RegretMean{of, 0, {}, {}, {}, {}});
        logs.push_back(0);
      }
      if (use.at("outcome") == name_of(RegretOutcome::auto_failed)) mean->failures.push_back(system.at("system"));
      if (use.at("regret").is_null()) continue;
      const double regret = use.at("regret");
      double& log = logs[static_cast<std::size_t>(mean - means.begin())];
      log += std::log(regret);
      mean->geometric_mean = std::exp(log / ++mean->systems);
      if (mean->most && !(regret > *mean->most)) continue;
      mean->most = regret;
      mean->worst = system.at("system");
    }
  }
  return means;
}

bool any_of_ours(const Json& systems, const char* field) {
  const auto is_true = [&](const Json& line) { return line.value(field, false); };
  return std::any_of(systems.begin(), systems.end(), [&](const Json& system) {
    const Json &lines = system.at("combinations"), &uses = system.at("uses");
    return std::any_of(lines.begin(), lines.end(), is_true) ||
           std::any_of(uses.begin(), uses.end(), [&](const Json& use) { return is_true(use.at("auto")); });
  });
}

}  // namespace newel::cli
