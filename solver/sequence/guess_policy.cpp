// SPDX-License-Identifier: Apache-2.0
// Trials, probes and rests.
#include "solver/sequence/guess_policy.hpp"

#include <algorithm>

namespace newel::detail {

GuessPolicy::Use GuessPolicy::next() const {
  if (!decides_) return Use::guess;
  switch (phase_) {
    case Phase::trial:
      return solves_ < first_guess || solves_ == probe_in_trial ? Use::keep : Use::guess;
    case Phase::use:
      return solves_ % between_probes == between_probes - 1 ? Use::keep : Use::guess;
    case Phase::rest:
      break;
  }
  return Use::nothing;
}

bool GuessPolicy::weighs() const {
  return phase_ == Phase::trial ? solves_ + 1 == trial : phase_ == Phase::use && next() == Use::keep;
}

void GuessPolicy::begin(Phase phase) {
  phase_ = phase;
  solves_ = 0;
  count_anew();
}

void GuessPolicy::count_anew() {
  guesses_ = 0;
  iterations_ = 0;
  products_ = 0;
}

bool GuessPolicy::worth_it(const GuessCosts& costs) const {
  if (guesses_ == 0) return true;
  const double guesses = guesses_;
  const double saved = as_given_ - static_cast<double>(iterations_) / guesses;
  const double cost = costs.vectors + static_cast<double>(products_) / guesses * costs.product;
  return saved * costs.iteration - cost > least_gain * as_given_ * costs.iteration;
}

void GuessPolicy::decide(const GuessCosts& costs) {
  if (!worth_it(costs)) return begin(Phase::rest);
  if (phase_ == Phase::trial) begin(Phase::use);
  count_anew();
  rest_ = first_rest;
}

void GuessPolicy::solved(int iterations, std::int64_t products, const GuessCosts& costs) {
  if (!decides_) return;
  const Use use = next();
  if (use == Use::keep) as_given_ = iterations;
  if (use == Use::guess && (phase_ == Phase::use || solves_ >= trial - counted_in_trial)) {
    ++guesses_;
    iterations_ += iterations;
    products_ += products;
  }
  ++solves_;
  if (phase_ == Phase::trial && solves_ == trial) return decide(costs);
  if (phase_ == Phase::use && use == Use::keep) return decide(costs);
  if (phase_ == Phase::rest && solves_ >= rest_) {
    rest_ = std::min(2 * rest_, longest_rest);
    begin(Phase::trial);
  }
}

std::vector<std::int64_t> GuessPolicy::counts() const {
  return {static_cast<std::int64_t>(phase_), solves_, as_given_, guesses_, iterations_, products_, rest_};
}

void GuessPolicy::set_counts(const std::vector<std::int64_t>& counts) {
  phase_ = static_cast<Phase>(std::clamp<std::int64_t>(counts[0], 0, 2));
  solves_ = static_cast<int>(counts[1]);
  as_given_ = static_cast<int>(counts[2]);
  guesses_ = static_cast<int>(counts[3]);
  iterations_ = counts[4];
  products_ = counts[5];
  rest_ = static_cast<int>(counts[6]);
}

}  // namespace newel::detail
