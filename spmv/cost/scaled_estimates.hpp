// SPDX-License-Identifier: Apache-2.0
/// ScaledEstimates: wrong estimates on purpose. Internal.
#pragma once

namespace newel::detail {

/// While it lives, every estimate in this thread of the iterations to come is multiplied: what `auto` decides by them
/// has to stay close to the best although they are wrong. So are the seconds of iterations in single precision.
class ScaledEstimates {
 public:
  explicit ScaledEstimates(double factor, double single_seconds = 1);
  ~ScaledEstimates();
  ScaledEstimates(const ScaledEstimates&) = delete;
  ScaledEstimates& operator=(const ScaledEstimates&) = delete;

  /// 1 where none lives.
  static double factor();
  /// Of the seconds in single precision; 1 where none lives.
  static double single_seconds();

 private:
  double before_, single_before_;
};

}  // namespace newel::detail
