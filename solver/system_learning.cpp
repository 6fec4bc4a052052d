// SPDX-License-Identifier: Apache-2.0
// When to buy a faster format.
#include <purlin/solver/system_learning.hpp>

#include <algorithm>

namespace purlin::detail {

const FormatTrial* SystemLearning::better_than(const FormatChoice& choice) const {
  const auto is_present = [&](const FormatTrial& trial) { return trial.format == choice.format; };
  const auto present = std::find_if(choice.trials.begin(), choice.trials.end(), is_present);
  if (pinned_ || present == choice.trials.end()) return nullptr;
  const FormatTrial* best = nullptr;
  for (const FormatTrial& trial : choice.trials) {
    const double saved = iterations_ * (present->step_seconds() - trial.step_seconds());
    const bool paid = trial.failure.empty() && saved > 0 && saved >= trial.setup_seconds;
    if (paid && (best == nullptr || trial.step_seconds() < best->step_seconds())) best = &trial;
  }
  return best;
}

}  // namespace purlin::detail
