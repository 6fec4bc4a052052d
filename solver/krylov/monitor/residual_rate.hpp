// SPDX-License-Identifier: Apache-2.0
/// ResidualRate: how many iterations a solve still needs, by the residuals so far. Internal.
#pragma once

#include <vector>

#include "solver/cost/profiles/forecast_constants.hpp"
#include "solver/krylov/steps/cg_spectrum.hpp"

namespace newel::detail {

class ResidualRate {
 public:
  /// The residuals in order, the initial one first.
  void add(double residual);

  /// About the iterations to go until the residual meets `tolerance`; 0: not known yet. By the least residuals: the
  /// mean decrease of their logarithm over the second half of the iterations goes on. Not known until the residual
  /// has fallen to a tenth, nor where that half gained nothing.
  double left(double tolerance) const;

  /// What `left` says, and what qualifies it.
  ResidualTrend trend(double tolerance) const;

  /// Iterations of CG that are sure to come: as long as the residual has not fallen at all, 2.5 times those
  /// that there were, as many in the place of 192 and half as many behind that of 272, or up to `sure_of_solve` in
  /// all; none once it has come 0.15 of the way to `tolerance`, in logarithms. In 95 meshes and real matrices, b = 1,
  /// fewer came in 11 of 1,946 places, and never fewer than 0.7 times that number; of 80 in all in one of 40 solves
  /// behind 16 and 20 iterations, which ended after 44.
  double sure(double tolerance, double sure_of_solve = SureConstants::of_any_solve) const;

  /// The least residual so far; 0: none was added.
  double least() const { return least_.empty() ? 0 : least_.back(); }

  int iterations() const { return static_cast<int>(least_.size()) - 1; }

 private:
  bool fallen() const;  // to a tenth

  std::vector<double> least_;  ///< up to each iteration
};

}  // namespace newel::detail
