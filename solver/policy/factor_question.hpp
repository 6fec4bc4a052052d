// SPDX-License-Identifier: Apache-2.0
/// FactorQuestion: whether factors of A are faster than what is left of a solve. Internal.
#pragma once

#include <algorithm>
#include <limits>

#include "solver/cost/profiles/factor_constants.hpp"

namespace newel::detail {

/// Seconds by the cost model, of a solve that stands somewhere.
class FactorQuestion {
 public:
  double spent = 0;  ///< by all attempts
  /// What the present operators still need, by the residual's way so far; infinity: it has not fallen.
  double left = std::numeric_limits<double>::infinity();
  /// What the best other move still needs, with its setup; infinity: there is none.
  double by_others = std::numeric_limits<double>::infinity();
  /// `left` may be too large: operators have just changed.
  bool unsettled = false;

  /// What factors may take at most. No forecast is certain, so there are two limits. By a forecast: a share of what is
  /// left, no more than others take, and no more than was spent. Without one: half of what was spent, if no less is
  /// left.
  double most_seconds() const {
    const double by_time = factor_constants.share_of_solve * spent;
    if (left < by_time) return 0;
    return std::max(by_time, unsettled ? 0 : std::min(by_forecast(), factor_constants.most_of_spent * spent));
  }

  /// Whether to find an order, by which factors are estimated, if that takes so many seconds. Early it has to recover
  /// the start of factors too.
  bool worth_an_order(double seconds) const {
    const double early = seconds + 1e-6 * factor_constants.start_us;
    const bool by_what_is_left = !unsettled && spent >= early && by_forecast() >= early;
    return by_what_is_left || spent >= factor_constants.orders_before_asking * seconds;
  }

 private:
  double by_forecast() const { return std::min(factor_constants.share_of_forecast * left, by_others); }
};

}  // namespace newel::detail
