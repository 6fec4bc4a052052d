// SPDX-License-Identifier: Apache-2.0
// When to buy a faster format.
#include <purlin/solver/system_learning.hpp>

#include <algorithm>

namespace purlin::detail {

namespace {

const FormatTrial* present(const FormatChoice& choice) {
  const auto is_present = [&](const FormatTrial& trial) { return trial.format == choice.format; };
  const auto found = std::find_if(choice.trials.begin(), choice.trials.end(), is_present);
  return found == choice.trials.end() ? nullptr : &*found;
}

}  // namespace

const FormatTrial* SystemLearning::better_than(const FormatChoice& choice) const {
  const FormatTrial* const now = present(choice);
  if (now == nullptr) return nullptr;
  const FormatTrial* best = nullptr;
  for (const FormatTrial& trial : choice.trials) {
    const double saved = iterations_ * (now->step_seconds() - trial.step_seconds());
    const bool paid = trial.failure.empty() && saved > 0 && saved >= trial.setup_seconds;
    if (paid && (best == nullptr || trial.step_seconds() < best->step_seconds())) best = &trial;
  }
  return best;
}

const FormatTrial* SystemLearning::better_for(const FormatChoice& choice, double done, double left) const {
  const FormatTrial* const now = present(choice);
  if (now == nullptr) return nullptr;
  const FormatTrial* best = nullptr;
  for (const FormatTrial& trial : choice.trials) {
    const double gain = now->step_seconds() - trial.step_seconds();
    if (!trial.failure.empty() || !(gain > 0)) continue;
    const double missed = (iterations_ + done) * gain, ahead = left * gain, price = trial.setup_seconds;
    if (!(missed * ahead >= price * price)) continue;
    if (best == nullptr || trial.seconds_of(left) < best->seconds_of(left)) best = &trial;
  }
  return best;
}

}  // namespace purlin::detail
