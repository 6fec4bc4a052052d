// SPDX-License-Identifier: Apache-2.0
/// FactorQuestion: whether factors of A are faster than what is left of a solve. Internal.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "solver/cost/profiles/factor_constants.hpp"

namespace newel::detail {

/// Seconds by the cost model, of a solve that stands somewhere.
class FactorQuestion {
 public:
  double spent = 0;  ///< by all attempts
  /// What the present operators still need, by the residual's way so far; infinity: it has not fallen.
  double left = std::numeric_limits<double>::infinity();

  double share = factor_limits.share_of_solve;  ///< of `spent`, which factors may take

  /// A solve has moved to a preconditioner that it `expected` to need so many seconds. Until it has spent them
  /// `with_these` operators, or residuals tell more, no more than that is left: factors were slower before the move.
  void expect(double with_these, double expected) {
    if (std::isinf(left) && with_these < expected) left = expected;
  }

  /// What factors may take at most: with a share of 1 a solve takes about twice the time of the faster way at most,
  /// whichever that is, with a share of 2 three times. No more than what is left, and nothing if that is less than
  /// what was spent: residuals often fall faster at the end.
  double most_seconds() const { return left < spent ? 0 : std::min(share * spent, left); }

  /// Whether to find an order, by which factors are estimated, if that takes so many seconds: once the solve has
  /// taken as many, and the start of factors. Factors may be refused then, so it has to be little beside what is
  /// left, or beside what was spent.
  bool worth_an_order(double seconds) const {
    const bool is_little =
        seconds <= order_constants.order_of_left * left || seconds <= order_constants.order_of_spent * spent;
    return is_little && spent >= seconds + 1e-6 * order_constants.ask_start_us;
  }
};

}  // namespace newel::detail
