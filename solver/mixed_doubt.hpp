// SPDX-License-Identifier: Apache-2.0
/// Whether single precision still serves a system in double. Internal.
#pragma once

#include <purlin/solver/least_gain.hpp>

namespace purlin::detail {

/// Compares what the iteration in single precision said of a correction with the residual that it made in double.
class Doubt {
 public:
  static constexpr const char* reason = "in single precision the residual does not fall any more";

  void note(double before, double recurrence, double now) {
    const bool none = !(now <= (1 - least_gain) * before);
    const bool in_vain = none || (!(now <= 0.5 * before) && !(now <= 2 * recurrence));
    in_vain_ = in_vain ? in_vain_ + 1 : 0;
  }
  /// Twice in a row in vain.
  bool settled() const { return in_vain_ >= 2; }

 private:
  int in_vain_ = 0;
};

}  // namespace purlin::detail
