// SPDX-License-Identifier: Apache-2.0
// When to buy a faster format.
#include <purlin/solver/system_learning.hpp>

#include <algorithm>
#include <limits>

namespace purlin::detail {

namespace {

const FormatTrial* present(const FormatChoice& choice) {
  const auto is_present = [&](const FormatTrial& trial) { return trial.format == choice.format; };
  const auto found = std::find_if(choice.trials.begin(), choice.trials.end(), is_present);
  return found == choice.trials.end() ? nullptr : &*found;
}

}  // namespace

bool is_worth(double price, double missed, double ahead, bool measured, double margin) {
  if (!(missed >= least_missed * price)) return false;
  return missed * ahead >= price * price || (measured && ahead >= margin * price);
}

double SystemLearning::later(double of_solve) const {
  constexpr double few_solves = 8;
  if (!(iterations_ > 0)) return 0;
  return std::max(iterations_, few_solves * of_solve);
}

double SystemLearning::earliest(const FormatChoice& choice) const {
  double least = std::numeric_limits<double>::infinity();
  const FormatTrial* const now = present(choice);
  if (now == nullptr) return least;
  for (const FormatTrial& trial : choice.trials) {
    const double gain = now->step_seconds() - trial.step_seconds();
    if (!trial.failure.empty() || !(gain > 0)) continue;
    least = std::min(least, least_missed * trial.setup_seconds / gain - iterations_);
  }
  return least;
}

const FormatTrial* SystemLearning::better_for(const FormatChoice& choice, double done, double to_come,
                                              bool measured) const {
  const FormatTrial* const now = present(choice);
  if (now == nullptr) return nullptr;
  const FormatTrial* best = nullptr;
  for (const FormatTrial& trial : choice.trials) {
    const double gain = now->step_seconds() - trial.step_seconds();
    if (!trial.failure.empty() || !(gain > 0)) continue;
    if (!is_worth(trial.setup_seconds, (iterations_ + done) * gain, to_come * gain, measured)) continue;
    if (best == nullptr || trial.seconds_of(to_come) < best->seconds_of(to_come)) best = &trial;
  }
  return best;
}

}  // namespace purlin::detail
