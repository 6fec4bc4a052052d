// SPDX-License-Identifier: Apache-2.0
/// CgSpectrum: the extreme eigenvalues that CG has seen, and the iterations that they make expect. Internal.
#pragma once

#include <vector>

#include "core/vectors/host_device.hpp"

namespace newel::detail {

/// The coefficients of a step of CG: x += alpha p, where p = z + beta p; beta is 0 where a recurrence begins.
struct CgCoefficients {
  double alpha, beta;
};

/// Coefficients of the first iterations of a solve, in the place of each: later ones tell little that is new.
inline constexpr int most_coefficients = 512;
/// The first that are looked at.
inline constexpr int few_steps = 16;

/// Where `of` is null nobody asks for them.
NEWEL_HD void note_coefficients(CgCoefficients* of, int iteration, double alpha, double beta) {
  if (of != nullptr && iteration < most_coefficients) of[iteration] = {alpha, beta};
}

/// How the residuals of a solve have fallen so far.
struct ResidualTrend {
  double by_rate = 0;  ///< iterations that they make expect, 0: nothing
  double plateau = 0;  ///< the share of the iterations in which the residual had not fallen to a half
  int iterations = 0;  ///< so far
};

/// The Lanczos matrix that belongs to steps of CG (Saad, Iterative Methods for Sparse Linear Systems, 2nd edition,
/// 6.7.3), whose extreme eigenvalues approach those of M A from inside.
class CgSpectrum {
 public:
  /// Of so many steps with one M those that the estimate is made from, 16, 24, 36 and so on: it depends on nothing
  /// else, such as how often it was asked for. 0: too few.
  static int used(int steps);
  int taken() const { return taken_; }
  /// The first steps with one M, `used` of them. Those behind one that is not positive are left out.
  void take(const std::vector<CgCoefficients>& steps);

  /// The largest eigenvalue over the smallest, a little too small; 0: not known.
  double condition() const { return least_ > 0 ? most_ / least_ : 0; }
  /// 0: the last third of the steps has shown no smaller eigenvalue. 1: the square root of the condition has grown
  /// with the steps, so that the smallest eigenvalues are yet to be seen.
  double growth() const { return growth_; }
  /// About the iterations until the residual has fallen from `residual` to `tolerance`; 0: not known. No more than
  /// `rows`, the unknowns. `of_usual`: what is expected of matrices of this kind and size, over what is expected of
  /// any of that size.
  double left(double residual, double tolerance, const ResidualTrend& trend, double rows, double of_usual = 1) const;

 private:
  int taken_ = 0;
  double least_ = 0, most_ = 0, growth_ = 0;
};

}  // namespace newel::detail
