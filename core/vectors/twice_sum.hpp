// SPDX-License-Identifier: Apache-2.0
/// TwiceSum: a sum of products in twice the precision of double, with a bound of its own rounding. Internal.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/vectors/host_device.hpp"

namespace newel::detail {

/// 2^-53: what rounding to the nearest double loses, relative.
inline constexpr double unit_roundoff = 0x1p-53;

/// Below, the low half of a product may underflow; each such product then counts as a loss of `tiny_loss`, far more
/// than the smallest number, also when it is multiplied with the least factor of `error_of`.
inline constexpr double tiny_product = 0x1p-960, tiny_loss = 0x1p-1000;

/// Added to a product inside a fused multiplication, -0 changes nothing but keeps compilers from merging the product
/// with a later sum, which would no longer be the rounded product. They must not know its value.
inline double unknown_minus_zero() {
  static const volatile double minus_zero = -0.0;
  return minus_zero;
}

NEWEL_HD double rounded_product(double a, double b, [[maybe_unused]] double minus_zero) {
#ifdef __CUDA_ARCH__
  return __dmul_rn(a, b);
#else
  return __builtin_fma(a, b, minus_zero);
#endif
}

/// T. Ogita, S. M. Rump and S. Oishi, "Accurate sum and dot product" (SIAM J. Sci. Comput. 26, 2005), algorithm 5.3
/// (Dot2): what rounding takes from the sums and the products is computed without error and added up by itself. In
/// addition to the paper `lost` adds up the absolute values of it, which bound what is still lost, and are 0 if
/// nothing was rounded.
struct TwiceSum {
  double hi = 0;    ///< the rounded sum
  double lo = 0;    ///< what rounding took from it
  double lost = 0;  ///< the sum of |terms of lo|
  double size = 0;  ///< the sum of the |factors a| of `add_product`

  /// Adds a number.
  NEWEL_HD void add(double value) { add_with_error(value, 0); }

  /// Adds a x.
  NEWEL_HD void add_product(double a, double x, double minus_zero) {
    const double product = rounded_product(a, x, minus_zero);
    const double error = fma(a, x, -product);
    const double magnitude = fabs(product);
    if (magnitude < tiny_product && a != 0 && x != 0) lost += tiny_loss;
    add_with_error(product, error);
    size += fabs(a);
  }

  /// Adds another sum.
  NEWEL_HD void merge(const TwiceSum& other) {
    add_with_error(other.hi, 0);
    lo += other.lo;
    lost += other.lost;
    size += other.size;
  }

  /// The sum, rounded once.
  NEWEL_HD double value() const { return hi + lo; }

  /// A bound of |value() - the exact sum| after at most `terms` products and sums.
  NEWEL_HD double error_of(double terms) const {
    const double sum = hi + lo, back = sum - hi;
    const double of_last = fabs((hi - (sum - back)) + (lo - back));  // exact: the last rounding
    const double factor = (4 * terms + 64) * unit_roundoff;          // of at most 2 terms + 8 sums in `lo` and `lost`
    return of_last + factor * lost;
  }

 private:
  NEWEL_HD void add_with_error(double value, double error) {
    const double sum = hi + value, part = sum - hi;
    const double rounding = (hi - (sum - part)) + (value - part);
    hi = sum;
    lo += rounding + error;
    lost += fabs(rounding) + fabs(error);
  }
};

/// Four sums side by side, for the slots of one row: one chain of additions would wait for itself.
struct TwiceLanes {
  static constexpr int lanes = 4;
  double hi[lanes] = {}, lo[lanes] = {}, lost[lanes] = {}, size[lanes] = {};

  /// Lane l adds a[l] x[l]; as TwiceSum::add_product.
  void add_products(const double (&a)[lanes], const double (&x)[lanes], double minus_zero) {
#ifndef __CUDACC__  // which warns of it
#pragma omp simd
#endif
    for (int l = 0; l < lanes; ++l) {
      const double product = __builtin_fma(a[l], x[l], minus_zero);
      const double error = __builtin_fma(a[l], x[l], -product);
      const double sum = hi[l] + product, part = sum - hi[l];
      const double rounding = (hi[l] - (sum - part)) + (product - part);
      const bool tiny = (std::fabs(product) < tiny_product) & (a[l] != 0) & (x[l] != 0);
      hi[l] = sum;
      lo[l] += rounding + error;
      lost[l] += std::fabs(rounding) + std::fabs(error) + (tiny ? tiny_loss : 0.0);
      size[l] += std::fabs(a[l]);
    }
  }

  TwiceSum lane(int l) const { return {hi[l], lo[l], lost[l], size[l]}; }
};

}  // namespace newel::detail
