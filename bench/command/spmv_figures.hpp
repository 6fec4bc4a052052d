// SPDX-License-Identifier: Apache-2.0
/// The figures that follow from what was measured: rates, shares, the model, comparisons.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "spmv_result.hpp"

namespace newel::cli {

/// exp of the mean of the logarithms; NaN for none.
double geometric_mean(const std::vector<double>& values);

/// The fastest right one among the competitors, by the median of warm products; null where there is none.
const BenchLine* best_competitor(const BenchSystem& system);
/// The same among those that the break-even is reckoned against.
const BenchLine* break_even_competitor(const BenchSystem& system);

/// In addition to the speeds: the model of EVC-HYB's section 3.2 (beta, code balance B, P_max = b / B with the
/// bandwidth b), with the bytes that each format counts itself in the place of the paper's (1 / beta (8 + 4) + 8
/// alpha) nnz + 16 n, and with 2 nnz operations, those of y = A x, in the place of 2 nnz + 3 n.
struct BenchFigures {
  double seconds = 0;  ///< of a warm product
  double cold_seconds = 0;
  double gflops = 0;
  double bytes_per_second = 0;
  double share_of_copy = 0;      ///< bytes_per_second over the copy's
  double share_of_roofline = 0;  ///< time of csr_product_bytes at the copy's bandwidth, over `seconds`
  double beta = 1;               ///< entries / slots
  double code_balance = 0;       ///< bytes a floating-point operation
  double p_max_gflops = 0;
  double setup_in_products = 0;
  double refresh_seconds = 0;
  double refresh_in_products = 0;
  std::optional<double> speedup;     ///< over the best competitor
  bool comparable = false;           ///< there is a line to break even with, and it is another one
  std::optional<double> break_even;  ///< none: never
};

/// For a line that was measured.
BenchFigures figures_of(const BenchLine& line, const BenchSystem& system, const bench::CopyBandwidth& copy);

/// A contender over all systems of one precision.
struct BenchMean {
  std::string name;
  bool single_precision = false;
  double speedup = 0;  ///< geometric mean of the speed-ups over the best competitor
  int systems = 0;     ///< where it was measured and right
  int of = 0;          ///< where it took part
};

/// Double precision first, then in the order in which the contenders appear.
std::vector<BenchMean> geometric_means(const std::vector<BenchSystem>& systems);

/// Whether a line of any system is wrong.
bool any_wrong(const std::vector<BenchSystem>& systems);

}  // namespace newel::cli
