// SPDX-License-Identifier: Apache-2.0
/// ScaledEstimates: wrong estimates on purpose. Internal.
#pragma once

namespace purlin::detail {

/// While it lives, every estimate in this thread of the iterations to come is multiplied: what `auto` decides by them
/// has to stay close to the best although they are wrong.
class ScaledEstimates {
 public:
  explicit ScaledEstimates(double factor);
  ~ScaledEstimates();
  ScaledEstimates(const ScaledEstimates&) = delete;
  ScaledEstimates& operator=(const ScaledEstimates&) = delete;

  /// 1 where none lives.
  static double factor();

 private:
  double before_;
};

}  // namespace purlin::detail
