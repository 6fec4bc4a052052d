// SPDX-License-Identifier: Apache-2.0
/// Powers of two that multiply the rows and columns of a matrix: how they are found, and what they are applied to.
/// Internal.
#pragma once

#include <cmath>
#include <cstdint>

#include <newel/core/csr.hpp>
#include "core/vectors/host_device.hpp"

namespace newel::detail {

/// a_ij becomes 2^(row[i] + column[j]) a_ij. The sums of both, of the sizes of values, stay far below 2^20.
template <Space S>
struct ScalePowers {
  Array<std::int32_t, S> row, column;
};

/// How rows and columns are scaled.
enum class Equilibration {
  rows,       ///< the rows alone, by their largest entries
  largest,    ///< rows, then columns, by their largest entries
  means,      ///< columns by means of logarithms, and then as `largest`
  symmetric,  ///< both alike, so that a symmetric matrix remains one
};

/// Adds to `powers` so that the largest entry of every row and column is near 1: below 2, and in each column with
/// entries at least 1; of a symmetric one between 1/4 and 4 (D. Ruiz, RAL-TR-2001-034, on the exponents).
///
/// `largest` keeps what differs between the units of columns, as far as rows hide it. `means` minimises the sum of
/// (log2 |a_ij| + row[i] + column[j])^2 over the entries (A. Curtis and J. Reid, "On the automatic scaling of
/// matrices for Gaussian elimination", J. Inst. Maths Applics 10 (1972)), so other units of rows and columns hardly
/// change the scaled matrix.
///
/// What is 0, infinite or NaN is ignored. The same powers in both spaces, whatever the number of threads. Up to two
/// passes over the values, `ruiz_steps`, or `mean_steps` more. Nothing is waited for on a device.
template <class T>
void equilibrate(const Context<Space::host>& ctx, const CsrView<T, Space::host>& a, Equilibration how,
                 ScalePowers<Space::host>& powers);
template <class T>
void equilibrate(const Context<Space::device>& ctx, const CsrView<T, Space::device>& a, Equilibration how,
                 ScalePowers<Space::device>& powers);

/// powers += more.
void add_powers(const Context<Space::host>& ctx, const ScalePowers<Space::host>& more,
                ScalePowers<Space::host>& powers);
void add_powers(const Context<Space::device>& ctx, const ScalePowers<Space::device>& more,
                ScalePowers<Space::device>& powers);

/// scaled[k] = 2^(row[i] + column[j]) a_ij, exact unless it falls below the range; `scaled` may be the values of `a`.
template <class T>
void scale_values(const Context<Space::host>& ctx, const CsrView<T, Space::host>& a,
                  const ScalePowers<Space::host>& powers, Span<T, Space::host> scaled);
template <class T>
void scale_values(const Context<Space::device>& ctx, const CsrView<T, Space::device>& a,
                  const ScalePowers<Space::device>& powers, Span<T, Space::device> scaled);

/// y_i = 2^(sign powers[i] + shift) x_i; y may be x.
template <class T>
void scale_vector(const Context<Space::host>& ctx, Span<const std::int32_t, Space::host> powers, int sign, int shift,
                  Span<const T, Space::host> x, Span<T, Space::host> y);
template <class T>
void scale_vector(const Context<Space::device>& ctx, Span<const std::int32_t, Space::device> powers, int sign,
                  int shift, Span<const T, Space::device> x, Span<T, Space::device> y);

/// The greatest exponent of 2^powers[i] x_i; `no_exponent` if all are 0, infinite or NaN. Waits for the stream.
template <class T>
int greatest_exponent(const Context<Space::host>& ctx, Span<const std::int32_t, Space::host> powers,
                      Span<const T, Space::host> x);
template <class T>
int greatest_exponent(const Context<Space::device>& ctx, Span<const std::int32_t, Space::device> powers,
                      Span<const T, Space::device> x);

/// The rows of the square matrix whose diagonal entry is below 2^-`bits` of the largest of the row, or missing. Rows
/// without entries do not count. Waits for the stream.
template <class T>
Index rows_with_tiny_diagonal(const Context<Space::host>& ctx, const CsrView<T, Space::host>& a, int bits);
template <class T>
Index rows_with_tiny_diagonal(const Context<Space::device>& ctx, const CsrView<T, Space::device>& a, int bits);

inline constexpr std::int32_t no_exponent = INT32_MIN / 2;

/// Passes of Ruiz's method: each halves the distance of the largest entries from 1, in bits.
inline constexpr int ruiz_steps = 14;
/// Parts of a bit that they count with.
inline constexpr int parts_of_bit = 256;

/// Passes that find means. They leave 0.3 % of what differs, but for parts of the matrix in other units that hardly
/// have entries in common.
inline constexpr int mean_steps = 32;

/// One pass of Chebyshev's semi-iteration (G. Golub and R. Varga, Numer. Math. 3 (1961)) on c -> G c, where G takes
/// each row's mean and then each column's. Its eigenvalues lie in [0, 1]; those up to 0.99 are damped together. In
/// whole numbers, so that it gives the same everywhere.
class MeanStep {
 public:
  /// The first pass.
  MeanStep() = default;
  MeanStep next() const {
    MeanStep step;
    step.weight_ = 1 / (1 - ratio * ratio * weight_ / (is_first_ ? 2 : 4));
    step.is_first_ = false;
    step.scaled_weight_ = static_cast<std::int64_t>(step.weight_ * one);
    return step;
  }
  /// The next c, from G c, c and the one before.
  NEWEL_HD std::int64_t operator()(std::int64_t mean, std::int64_t now, std::int64_t before) const {
    const std::int64_t relaxed = now + (mean - now) * relaxation / one;
    return before + (relaxed - before) * scaled_weight_ / one;
  }

 private:
  static constexpr std::int64_t one = 1 << 16;
  static constexpr double damped = 0.99, ratio = damped / (2 - damped);
  static constexpr std::int64_t relaxation = static_cast<std::int64_t>(2 / (2 - damped) * one);
  double weight_ = 1;
  std::int64_t scaled_weight_ = one;
  bool is_first_ = true;
};

/// The exponent of the power of two below |value|; for 0, infinity and NaN `no_exponent`.
NEWEL_HD std::int32_t exponent_of(double value) {
  const bool is_finite = value - value == 0;
  return value != 0 && is_finite ? ilogb(value) : no_exponent;
}

/// `power` rounded to the next whole bit.
NEWEL_HD std::int32_t whole_bits(std::int32_t power) {
  const std::int32_t up = power + parts_of_bit / 2;
  return up >= 0 ? up / parts_of_bit : -((-up + parts_of_bit - 1) / parts_of_bit);
}

}  // namespace newel::detail
