// SPDX-License-Identifier: Apache-2.0
/// StepControl: the step of time is halved where it does not succeed, and grows again when it has for a while.
#pragma once

#include <algorithm>
#include <vector>

#include "apps/transient/time_grid.hpp"

namespace newel::heart {

class StepControl {
 public:
  static constexpr std::int64_t state_size = 6;

  StepControl(double dt0, int most_halvings) : grid_(dt0, most_halvings) {}
  /// From `state()`. Throws InputError for one that cannot be.
  StepControl(double dt0, int most_halvings, const std::vector<std::int64_t>& state)
      : grid_(dt0, most_halvings, {state[0], state[1], state[2]}),
        successes_(state[3]),
        patience_(state[4]),
        grew_(state[5] != 0) {}

  const transient::TimeGrid& grid() const { return grid_; }

  /// Halves the step; false where it cannot be halved any more. Each time it grew without success, twice as many
  /// steps have to succeed before it grows again.
  bool refuse() {
    if (successes_ == 0 && grew_) patience_ = std::min<std::int64_t>(2 * patience_, most_patience);
    successes_ = 0;
    grew_ = false;
    return grid_.halve();
  }

  /// Time moves on. A step that took many Newton iterations does not count as easy.
  void accept(int newton) {
    grid_.accept();
    successes_ = newton <= easy_newton ? successes_ + 1 : 0;
    grew_ = false;
    if (successes_ < patience_ || !grid_.grow()) return;
    successes_ = 0;
    grew_ = true;
    if (grid_.halvings() == 0) patience_ = least_patience;
  }

  std::vector<std::int64_t> state() const {
    const transient::TimeGrid::State& s = grid_.state();
    return {s.ticks, s.steps, s.halvings, successes_, patience_, grew_ ? 1 : 0};
  }

 private:
  static constexpr std::int64_t least_patience = 4;
  static constexpr std::int64_t most_patience = 256;
  static constexpr int easy_newton = 5;

  transient::TimeGrid grid_;
  std::int64_t successes_ = 0;
  std::int64_t patience_ = least_patience;
  bool grew_ = false;
};

}  // namespace newel::heart
