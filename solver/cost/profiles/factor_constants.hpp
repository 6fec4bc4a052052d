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
  /// KLU: operations of its estimate, and what it takes for an entry of L and U. On an EPYC it took 0.019 s for
  /// basker_matrix1 (1.5e6 operations, 3.8e5 entries), 0.042 s for ani5_crop (6.7e7, 8.2e5) and 2.2 s for a grid of
  /// 25^3 rows (2.9e9, 4.8e6). If diagonal entries are no pivots, the estimate is exceeded.
  double klu_operations_per_second = 1.5e9, klu_seconds_per_entry = 3e-8, klu_bytes_per_entry = 16;
  /// CHOLMOD's supernodes with OpenBLAS, one thread: 0.87 s for a grid of 32^3 rows (8.5e9 squares), for which L D
  /// L^T by Eigen took 7.4 s; 0.23 s for shallow_water1 (6e8 squares, 2.2e6 entries; Eigen 0.30 s).
  double cholmod_squares_per_second = 1e10, cholmod_seconds_per_entry = 6e-8, cholmod_bytes_per_entry = 16;
  /// What cuDSS takes for its order, on the host: 2.0 s for a 5-point grid of 1.0 million rows, 1.1 s for a 7-point
  /// grid of 0.26 million.
  double cudss_seconds_per_row = 4e-6;
  /// The least that another factorisation has to be estimated to save before it is looked at, for its order.
  double seconds_to_order_an_entry = 5e-7;
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
  /// Factors are weighed before a stronger preconditioner that would take so many times the seconds of their order.
  double orders_before_move = 2;
  /// Ordering and counting fill: on an EPYC COLAMD and the count take 0.2 to 0.6 us for an entry. Done after so many
  /// times the seconds of a solve, and again after `ask_again` times those seconds. Sooner by a forecast, if the
  /// start is recovered too: factors of some hundred rows take 1 to 9 ms the first time.
  double start_us = 2000, order_us_per_entry = 0.5, order_us_per_row = 0.25;
  double orders_before_asking = 4, ask_again = 2;

  /// Of factors that come before everything else, where "auto" would begin with a matching and ILUT. Such solves took
  /// 0.8 to 3.2 us an entry on an EPYC, for 12 real matrices with zeros on the diagonal.
  double first_us_per_entry = 3;

  constexpr double seconds_at_first(double entries) const { return 1e-6 * (start_us + first_us_per_entry * entries); }
  constexpr double seconds_to_order(double rows, double entries) const {
    return 1e-6 * (order_us_per_row * rows + order_us_per_entry * entries);
  }
};

inline constexpr FactorConstants factor_constants{};

}  // namespace newel::detail
