// SPDX-License-Identifier: Apache-2.0
/// Constants of the cost model of factorisations, and what "auto" allows them. Internal.
#pragma once

namespace newel::detail {

struct FactorConstants {
  /// Sums of squares of columns (see Fill) a second, of one thread. Measured on an EPYC: 1.7e9 for L D L^T of c-62
  /// (1.7e10), 2.8e9 for trilinos_vardof (1.2e9); 1.1e10 for L U of c-62 (5.5e11) and 9e9 for trilinos_vardof
  /// (7.0e9), of which L and U fill about half.
  double ldlt_squares_per_second = 1.5e9, lu_squares_per_second = 8e9;
  /// L has a value and a row for each entry. L and U are arrays that grow by copying; they begin with room for twenty
  /// times the entries of A.
  double ldlt_bytes_per_entry = 12, lu_bytes_per_entry = 36, lu_bytes_per_nonzero = 420;
  /// Of a factorisation after all other solvers have failed.
  double most_seconds_of_last_resort = 60;
  /// And if others have come as close as rounding lets them, so that hardly more than their accuracy can be gained.
  double most_seconds_after_rounding = 1;
  /// A solve is ended for factors that take this share of the seconds that it has taken.
  double share_of_solve = 0.5;
  /// And for those that take this share of what its own forecast says is left, and at most so many times the seconds
  /// that it has taken.
  double share_of_forecast = 0.33, most_of_spent = 1;
  /// Of iterations since operators have changed, before their forecast counts.
  int iterations_of_forecast = 32;
  /// Ordering and counting fill: on an EPYC COLAMD and the count take 0.2 to 0.6 us for an entry. Done after so many
  /// times the seconds of a solve, and again after `ask_again` times those seconds. Sooner by a forecast, if the start
  /// is recovered too: factors of some hundred rows take 1 to 9 ms the first time.
  double start_us = 2000, order_us_per_entry = 0.5, order_us_per_row = 0.25;
  double orders_before_asking = 4, ask_again = 2;

  constexpr double seconds_to_order(double rows, double entries) const {
    return 1e-6 * (order_us_per_row * rows + order_us_per_entry * entries);
  }
};

inline constexpr FactorConstants factor_constants{};

}  // namespace newel::detail
