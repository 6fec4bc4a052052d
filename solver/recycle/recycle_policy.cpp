// SPDX-License-Identifier: Apache-2.0
// Trials, use, probes and rests.
#include "solver/recycle/recycle_policy.hpp"

#include <algorithm>

namespace newel::detail {
namespace {

// Fewer say little about the iterations that a digit takes.
constexpr int least_iterations = 3;
constexpr double least_digits = 1;

}  // namespace

RecyclePolicy::Use RecyclePolicy::next() const {
  switch (phase_) {
    case Phase::trial:
      return {solves_ > 0, harvests_};
    case Phase::use:
      if (solves_ % between_probes == between_probes - 1) return {false, false};
      return {true, harvests_};
    case Phase::rest:
    case Phase::look:
      break;
  }
  return {false, false};
}

void RecyclePolicy::begin(Phase phase) {
  phase_ = phase;
  solves_ = 0;
  harvests_ = phase == Phase::trial;
  at_harvest_ = 0;
  count_anew();
}

void RecyclePolicy::count_anew() {
  counted_ = 0;
  iterations_ = digits_ = products_ = 0;
}

bool RecyclePolicy::worth_it(const RecycleCosts& costs) const {
  const double plain = plain_rate_ * digits_ * costs.iteration;
  const double deflated = iterations_ * (costs.iteration + costs.deflation) + products_ * costs.product;
  return plain - deflated > least_gain * plain;
}

void RecyclePolicy::decide(const std::function<RecycleCosts()>& costs) {
  if (!worth_it(decides_ ? costs() : RecycleCosts{1, 0, 0})) return begin(Phase::rest);
  if (phase_ == Phase::trial) begin(Phase::use);
  count_anew();
  rest_ = first_rest;
}

void RecyclePolicy::solved(const RecycledSolve& solve, bool complete, const std::function<RecycleCosts()>& costs) {
  if (phase_ == Phase::rest) {
    if (++solves_ < rest_) return;
    rest_ = std::min(2 * rest_, longest_rest);
    return begin_trial();
  }
  if (phase_ == Phase::look) return begin(solve.one_kernel ? Phase::rest : Phase::trial);
  const Use use = next();
  if (solve.iterations < least_iterations || solve.digits < least_digits) return;
  const double rate = solve.iterations / solve.digits;
  ++solves_;
  if (use.deflates) {
    ++counted_;
    iterations_ += solve.iterations;
    digits_ += solve.digits;
    products_ += static_cast<double>(solve.products);
    if (!use.harvests && after_harvest_ == 0) after_harvest_ = rate;
  } else {
    plain_rate_ = rate;
  }
  if (use.harvests) {
    const bool settled = solve.refined && at_harvest_ > 0 && rate > refinement * at_harvest_;
    harvests_ = solve.harvested > 0 && !complete && !settled;
    at_harvest_ = rate;
    after_harvest_ = 0;
    count_anew();
    if (solve.harvested == 0 && !use.deflates) return begin(Phase::rest);  // there are no small eigenvalues
  } else if (use.deflates && after_harvest_ > 0 && rate > decay * after_harvest_) {
    harvests_ = true;
  }
  // Vectors that have aged say nothing of those that replace them.
  const bool aged = harvests_ && solves_ < longest_trial;
  const bool tried = phase_ == Phase::trial && counted_ >= counted_in_trial && !aged;
  const bool probed = phase_ == Phase::use && !use.deflates && counted_ > 0;
  if (tried || probed) decide(costs);
}

std::vector<double> RecyclePolicy::counts() const {
  return {static_cast<double>(phase_),
          static_cast<double>(solves_),
          harvests_ ? 1.0 : 0.0,
          plain_rate_,
          at_harvest_,
          after_harvest_,
          static_cast<double>(counted_),
          iterations_,
          digits_,
          products_,
          static_cast<double>(rest_)};
}

void RecyclePolicy::set_counts(const std::vector<double>& counts) {
  phase_ = static_cast<Phase>(std::clamp(counts[0], 0.0, 3.0));
  solves_ = static_cast<int>(counts[1]);
  harvests_ = counts[2] != 0;
  plain_rate_ = counts[3];
  at_harvest_ = counts[4];
  after_harvest_ = counts[5];
  counted_ = static_cast<int>(counts[6]);
  iterations_ = counts[7];
  digits_ = counts[8];
  products_ = counts[9];
  rest_ = static_cast<int>(counts[10]);
}

}  // namespace newel::detail
