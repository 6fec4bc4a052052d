// SPDX-License-Identifier: Apache-2.0
/// FactorQuestion: whether factors of A are faster than what is left of a solve. Internal.
#pragma once

#include <limits>

#include "solver/cost/profiles/factor_constants.hpp"

namespace newel::detail {

/// Seconds by the cost model, of a solve that stands somewhere.
class FactorQuestion {
 public:
  double spent = 0;  ///< by all attempts
  /// What the present operators still need, by the residual's way so far; infinity: it has not fallen.
  double left = std::numeric_limits<double>::infinity();

  /// What factors may take at most: as much as was spent, so that a solve takes about twice the time of the faster
  /// way at most, whichever that is. Nothing if less than that is left.
  double most_seconds() const {
    const double most = factor_constants.share_of_solve * spent;
    return left < most ? 0 : most;
  }

  /// Whether to find an order, by which factors are estimated, if that takes so many seconds: once the solve has
  /// taken as many, and the start of factors. Factors may be refused then, so it has to be little beside what is
  /// left, or beside what was spent. Those of a symmetric matrix load no library.
  bool worth_an_order(double seconds, bool symmetric) const {
    const bool is_little =
        seconds <= factor_constants.order_of_left * left || seconds <= factor_constants.order_of_spent * spent;
    const double start_us = symmetric ? factor_constants.symmetric_start_us : factor_constants.start_us;
    return is_little && spent >= seconds + 1e-6 * start_us;
  }
};

}  // namespace newel::detail
