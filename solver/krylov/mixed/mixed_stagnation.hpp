// SPDX-License-Identifier: Apache-2.0
/// The tests by which a solve in single precision for a system in double finds out that it does not suffice.
/// Internal.
#pragma once

#include "solver/krylov/steps/least_gain.hpp"

namespace newel::detail {

/// Compares the recurrence residual in single precision with the true residual in double after a correction.
class StagnationTest {
 public:
  static Failure failure() {
    Failure failure{Cause::no_progress};
    failure.in_single_precision = true;
    return failure;
  }

  void note(double before, double recurrence, double now) {
    const bool none = !(now <= (1 - least_gain) * before);
    const bool no_progress = none || (!(now <= 0.5 * before) && !(now <= 2 * recurrence));
    rounds_without_progress_ = no_progress ? rounds_without_progress_ + 1 : 0;
  }
  /// Two corrections in a row without progress.
  bool stagnated() const { return rounds_without_progress_ >= 2; }

 private:
  int rounds_without_progress_ = 0;
};

/// Whether a correction can do what it is for. Its true residual ends no lower than the recurrence has drifted from
/// it, and long corrections drift: on ex10hs of FIDAP the last digit takes 4,600 iterations in single precision and
/// is not reached, and 1,850 in double. The drift says so after 128 or 256. Looks at it where the correction has
/// become twice as long as at the last look, which costs a few per cent at most.
class DriftWatch {
 public:
  /// A drift of a fifth of what the correction is to leave: of the real matrices of our tests that are solved in
  /// mixed precision, those that go on drift less, and with a tenth four of them would be left that end sooner
  /// without.
  static constexpr double most_drift = 0.2;
  /// How much larger the residual of the x that is left may be than at the last replacement.
  static constexpr double most_growth = 100;

  explicit DriftWatch(int began) : began_(began) {}

  bool due(int iteration) {
    if (iteration - began_ < next_) return false;
    next_ = 2 * (iteration - began_);
    return true;
  }
  /// True: the correction is to be given up.
  bool note(double drift, double target) { return drifted_ = !(drift <= most_drift * target); }
  bool drifted() const { return drifted_; }

 private:
  static constexpr int first_look = 64;
  int began_;
  int next_ = first_look;
  bool drifted_ = false;
};

}  // namespace newel::detail
