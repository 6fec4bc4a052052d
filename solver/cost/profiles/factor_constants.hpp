// SPDX-License-Identifier: Apache-2.0
/// Constants of the cost model of factorisations, and what "auto" allows them. Internal.
#pragma once

namespace newel::detail {

/// What factorisations take.
struct FactorConstants {
  /// Sums of squares of columns (see Fill) a second, of one thread. Measured on an EPYC: 1.7e9 for L D L^T of c-62
  /// (1.7e10), 2.8e9 for trilinos_vardof (1.2e9), 4.5e9 for bcsstk13 (5e7); 1.1e10 for L U of c-62 (5.5e11) and 9e9
  /// for trilinos_vardof (7.0e9), of which L and U fill about half. L D L^T takes some time for each entry of L
  /// besides, which is most of it where there is little fill: 0.02 to 0.05 us for nos1, 1138_bus and ex10hs, analysis
  /// included.
  double ldlt_squares_per_second = 3e9, ldlt_seconds_per_entry = 1.5e-8, lu_squares_per_second = 8e9;
  /// L has a value and a row for each entry. L and U are arrays that grow by copying; they begin with room for twenty
  /// times the entries of A.
  double ldlt_bytes_per_entry = 12, lu_bytes_per_entry = 36, lu_bytes_per_nonzero = 420;
  /// KLU: operations of its estimate, and what it takes for an entry of L and U. On an EPYC it took 4.7 ms for
  /// basker_matrix1 (1.5e6 operations, 3.8e5 entries), 15.8 ms for dw4096 (4.2e7, 4.4e5), 10.8 ms for bayer10 (3.8e7,
  /// 6.3e5) and 41 ms for teko_nsjac (1.1e8, 1.6e6). If diagonal entries are no pivots, the estimate is exceeded.
  double klu_operations_per_second = 3.5e9, klu_seconds_per_entry = 1.3e-8, klu_bytes_per_entry = 16;
  /// CHOLMOD's supernodes with OpenBLAS, one thread: 0.87 s for a grid of 32^3 rows (8.5e9 squares), for which L D
  /// L^T by Eigen took 7.4 s; 0.23 s for shallow_water1 (6e8 squares, 2.2e6 entries; Eigen 0.30 s).
  double cholmod_squares_per_second = 1e10, cholmod_seconds_per_entry = 6e-8, cholmod_bytes_per_entry = 16;
  /// What cuDSS takes for its order, on the host: 2.0 s for a 5-point grid of 1.0 million rows, 1.1 s for a 7-point
  /// grid of 0.26 million.
  double cudss_seconds_per_row = 4e-6;
};
inline constexpr FactorConstants factor_constants{};

/// What finding an order of elimination takes, and when it may.
struct OrderConstants {
  /// Ordering and counting fill: KLU's analysis takes 0.7 ms for add20 (2,395 rows, 17,000 entries), 1.4 ms for
  /// bips98_606 (7,135, 35,000) and 2.5 ms for gemat12 (4,929, 33,000) on an EPYC (newel_bench_direct under perf, one
  /// thread). Before that KLU is loaded: with that it takes 0.5 ms, which is all that factors of 131 rows take.
  double start_us = 500, order_us_per_entry = 0.06, order_us_per_row = 0.05;
  /// If CG solves them, of symmetric matrices: minimum degree and the count take 0.01 to 0.06 us an entry for 52 of
  /// 56 symmetric ones of docs/matrices.md, and 0.07 to 0.1 us for four with dense rows or much fill (EPYC, one
  /// thread).
  double definite_order_us_per_entry = 0.03, definite_order_us_per_row = 0.03;
  /// A solve takes this long before an order is sought.
  double ask_start_us = 200;
  /// An order is sought if it takes this share of what is left of a solve, or of what it has taken. With neither,
  /// flows and waves that MINRES solves took 1.2 to 1.7 times as long, for factors that were refused.
  double order_of_left = 0.1, order_of_spent = 0.25;

  /// Nested dissection by METIS takes 0.11 s for 5-point grids of 40,000 rows and for edge elements of 17,500 rows
  /// and 270,000 entries, 0.8 s for 250,000 rows, and 0.4 s for c-62 (42,000; 560,000). Sums of squares of L are then
  /// 0.26 to 0.56 of those by minimum degree for six systems in space and c-62, and 0.7 to 0.97 for ten others
  /// (EPYC, one thread).
  double dissect_us_per_row = 2, dissect_us_per_entry = 0.25;
  /// It is sought if factors take so many times its time, and could then come within what they may take.
  double dissections_of_factors = 5, least_share_by_dissection = 0.25;

  constexpr double seconds_to_dissect(double rows, double entries) const {
    return 1e-6 * (dissect_us_per_row * rows + dissect_us_per_entry * entries);
  }
  constexpr double seconds_to_order(double rows, double entries) const {
    return 1e-6 * (order_us_per_row * rows + order_us_per_entry * entries);
  }
  constexpr double seconds_to_order_definite(double rows, double entries) const {
    return 1e-6 * (definite_order_us_per_row * rows + definite_order_us_per_entry * entries);
  }
};
inline constexpr OrderConstants order_constants{};

/// What "auto" allows factors to take.
struct FactorLimits {
  /// What a factorisation has to be estimated to take for an entry of A before the next of the table is looked at:
  /// twenty times what its order and fill take.
  double seconds_to_look_on_an_entry = 2e-6;
  /// Of a factorisation after all other solvers have failed.
  double most_seconds_of_last_resort = 60;
  /// And if others have come as close as rounding lets them, so that hardly more than their accuracy can be gained.
  double most_seconds_after_rounding = 1;
  /// A solve is ended for factors that take this share of the seconds that it has taken. With 1 instead of 0.5, and
  /// the order sought as early, 18 of the 135 systems of the survey and of flows change: 0.68 of the time, measured
  /// in turn on a shared host.
  double share_of_solve = 1;
  /// On a host if A is not symmetric: residuals of BiCGStab say less of what is left. With 2 instead of 1, and
  /// `ask_start_us` of 200 instead of 500, 8 of the 120 matrices of docs/matrices.md change: 0.77 of the time, none
  /// longer; with 3 no more is gained (EPYC, one thread). Of 50 systems made by other rules, 7 change: 0.83.
  double unsymmetric_share_of_solve = 2;
  /// Factors are weighed before a stronger preconditioner that would take so many times the seconds of their order.
  double orders_before_move = 2;
  /// If the count of fill was stopped at the allowed seconds, it is made again with so many times as many.
  double ask_again = 2;
  /// With more rows methods for definite matrices are ended for factors only once they have the strongest
  /// preconditioner: an order takes as long as a tenth of the solve. With fewer, six of the 120 matrices of
  /// docs/matrices.md take 0.2 to 0.9 of the time on an EPYC.
  double most_rows_of_definite = 4096;
  /// Or if rows have at most so many entries on average: chains, trees and networks, whose factors hardly fill up.
  double entries_of_sparse_row = 4;
  /// Of factors that come before everything else, where "auto" would begin with a matching and ILUT. Such solves took
  /// 0.8 to 3.2 us an entry on an EPYC, for 12 real matrices with zeros on the diagonal.
  double first_us_per_entry = 3;
  /// The same for a saddle point that looks like one of fourth order: as many times an expected solve without
  /// factors. Plates and problems of control are, and such solves take at least 4 times as long. Flows with bubbles
  /// look like it, and take 0.8 to 1.6 times. In the plane factors take less in both cases; for flows with bubbles in
  /// space, of 37,000 rows, they take 9 times as long as iterations.
  double times_without_factors = 6;
  /// The same before a trial for saddle points. KLU is estimated at 0.02 to 0.06 us an entry for four matrices of
  /// networks and a small one of a flow, and at 0.45 us for a flow of 20,000 rows, where it takes twice the time of
  /// the preconditioner. No order is sought unless it takes so little, or rows are as short as in networks.
  double saddle_us_per_entry = 0.2, saddle_order_us = 400, entries_of_network_row = 6;

  constexpr double seconds_at_first(double entries) const {
    return 1e-6 * (order_constants.start_us + first_us_per_entry * entries);
  }
  constexpr double seconds_before_saddle(double entries) const {
    return 1e-6 * (order_constants.start_us + saddle_us_per_entry * entries);
  }
  constexpr bool ordered_before_saddle(double rows, double entries) const {
    return entries <= entries_of_network_row * rows ||
           order_constants.seconds_to_order(rows, entries) <= 1e-6 * saddle_order_us;
  }
  constexpr bool is_small_definite(double rows, double entries) const {
    return rows <= most_rows_of_definite || entries <= entries_of_sparse_row * rows;
  }
};
inline constexpr FactorLimits factor_limits{};

}  // namespace newel::detail
