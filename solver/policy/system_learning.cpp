// SPDX-License-Identifier: Apache-2.0
// When to buy a faster format.
#include "solver/policy/system_learning.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "solver/krylov/monitor/residual_rate.hpp"

namespace newel::detail {

namespace {

const FormatTrial* present(const FormatChoice& choice) {
  const auto is_present = [&](const FormatTrial& trial) { return trial.format == choice.format; };
  const auto found = std::find_if(choice.trials.begin(), choice.trials.end(), is_present);
  return found == choice.trials.end() ? nullptr : &*found;
}

// f(trial, seconds that a step of it saves) for the formats that are faster than the present one.
template <class F>
void for_faster(const FormatChoice& choice, F&& f) {
  const FormatTrial* const now = present(choice);
  if (now == nullptr) return;
  for (const FormatTrial& trial : choice.trials) {
    const double gain = now->step_seconds() - trial.step_seconds();
    if (trial.failure.empty() && gain > 0) f(trial, gain);
  }
}

}  // namespace

bool is_worth(double price, const SetupSavings& savings, bool measured, double margin) {
  if (!(savings.missed + savings.sure >= least_savings(price, savings))) return false;
  if (measured && savings.ahead >= margin * price) return true;
  return savings.missed * savings.ahead >= margin / usual_margin * price * price;
}

double SystemLearning::later(double of_solve) const {
  if (!(iterations_ > 0)) return 0;
  return std::max(iterations_, WorthConstants::few_solves * of_solve);
}

double earliest_iteration(double price, double before, double sure_of_solve) {
  const double of_solve = least_missed * price - before;
  if (of_solve <= 0) return of_solve;
  return of_solve <= sure_of_solve ? std::min<double>(of_solve, few_steps)
                                   : of_solve / (1 + SureConstants::most_times);
}

int iteration_when_due(double price, const SetupSavings& savings, int iterations) {
  constexpr double most = 1e8;
  const double now = savings.missed + savings.sure;
  if (!(now > 0)) return 0;
  return static_cast<int>(
      std::min(std::ceil(WorthConstants::a_little_more * iterations * least_savings(price, savings) / now), most));
}

double SystemLearning::earliest(const FormatChoice& choice, double sure_of_solve) const {
  double least = std::numeric_limits<double>::infinity();
  for_faster(choice, [&](const FormatTrial& trial, double gain) {
    least = std::min(least, earliest_iteration(trial.setup_seconds / gain, iterations_, sure_of_solve));
  });
  return least;
}

double SystemLearning::most_saved(const FormatChoice& choice, double to_come) {
  double most = 0;
  for_faster(choice, [&](const FormatTrial& trial, double gain) {
    most = std::max(most, to_come * gain / trial.setup_seconds);
  });
  return most;
}

const FormatTrial* SystemLearning::better_for(const FormatChoice& choice, double done, double sure, double to_come,
                                              bool measured) const {
  const FormatTrial* best = nullptr;
  for_faster(choice, [&](const FormatTrial& trial, double gain) {
    const SetupSavings savings{(iterations_ + done) * gain, sure * gain, to_come * gain};
    if (!is_worth(trial.setup_seconds, savings, measured)) return;
    if (best == nullptr || trial.seconds_of(to_come) < best->seconds_of(to_come)) best = &trial;
  });
  return best;
}

}  // namespace newel::detail
