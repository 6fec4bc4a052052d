// SPDX-License-Identifier: Apache-2.0
/// The stagnation test of single precision for a system in double. Internal.
#pragma once

#include <purlin/solver/least_gain.hpp>

namespace purlin::detail {

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

}  // namespace purlin::detail
