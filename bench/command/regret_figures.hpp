// SPDX-License-Identifier: Apache-2.0
/// The figures that follow from measured combinations: uses, regrets, means.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "regret_result.hpp"

namespace newel::cli {

/// One solve, ten, and a time loop of `loop`.
std::vector<RegretUse> regret_uses(int loop);

/// "1 solve", "200 solves".
std::string words_of(const RegretUse& use);

/// Setup, the first solve, and a refresh and a solve for each other one, of medians. For a combination that
/// converged.
double use_seconds(const RegretCombination& combination, int solves);

/// How a use ended for `auto` on one side and all combinations on the other.
enum class RegretOutcome { measured, auto_failed, only_auto, nothing_converged };

/// "measured", "auto_failed", "only_auto", "nothing_converged".
const char* name_of(RegretOutcome outcome);

struct RegretFigures {
  RegretOutcome outcome = RegretOutcome::nothing_converged;
  const RegretCombination* best = nullptr;  ///< of those that converged; null: none did
  std::optional<double> auto_seconds, best_seconds, regret;
};

/// One use on one system; `use` is one of `system.automatic`.
RegretFigures figures_of(const RegretSystem& system, const RegretAuto& use);

/// One use on all systems.
struct RegretMean {
  RegretUse use;
  int systems = 0;  ///< that have a regret
  std::optional<double> geometric_mean, most;
  std::string worst;                  ///< the system with the most
  std::vector<std::string> failures;  ///< systems that a combination solves and `auto` does not
};

/// In the order of the uses.
std::vector<RegretMean> means_of(const std::vector<RegretSystem>& systems);

/// Whether anything on any system called converged what is not.
bool any_wrong(const std::vector<RegretSystem>& systems);

/// Whether on any system anything of ours converged.
bool any_converged(const std::vector<RegretSystem>& systems);

}  // namespace newel::cli
