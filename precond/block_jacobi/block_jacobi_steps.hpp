// SPDX-License-Identifier: Apache-2.0
/// The product with the inverted blocks, row by row, for both spaces. Internal.
#pragma once

#include <newel/core/types.hpp>
#include "core/vectors/vector_step.hpp"

namespace newel::detail {

/// y = alpha B x + beta y for a block diagonal B; with `dot` alpha = 1, beta = 0, and *xy = x.y. Rows of a block are
/// adjacent in memory, so that the threads of a warp read adjacent values.
template <class T, bool dot>
struct BlockProduct : PlainStep {
  static constexpr int sums = dot ? 1 : 0;
  static constexpr bool uneven = true;
  static constexpr int weight = 4;
  const Index *block_of, *first;
  const Offset* offset;
  const T *blocks, *x;
  T* y;
  T alpha, beta;
  double* xy;
  BlockProduct(const Index* block_of_, const Index* first_, const Offset* offset_, const T* blocks_, const T* x_,
               T* y_, T alpha_, T beta_, double* xy_)
      : block_of(block_of_),
        first(first_),
        offset(offset_),
        blocks(blocks_),
        x(x_),
        y(y_),
        alpha(alpha_),
        beta(beta_),
        xy(xy_) {}

  template <class Sums>
  NEWEL_HD void element(std::int64_t i, NoCoefficients, Sums& total) const {
    const Index b = block_of[i], begin = first[b], n = first[b + 1] - begin;
    const T* const row = blocks + offset[b] + (i - begin);
    T sum = 0;
    for (Index j = 0; j < n; ++j) sum += row[static_cast<Offset>(j) * n] * x[begin + j];
    y[i] = beta == T(0) ? alpha * sum : alpha * sum + beta * y[i];
    if constexpr (dot) total.add(0, double(x[i]) * double(sum));
  }
  NEWEL_HD void end(const double* totals) const {
    if constexpr (dot) *xy = totals[0];
  }
};

#define NEWEL_BLOCK_JACOBI_STEPS(SWEEP)             \
  SWEEP(newel::detail::BlockProduct<double, false>) \
  SWEEP(newel::detail::BlockProduct<double, true>)  \
  SWEEP(newel::detail::BlockProduct<float, false>)  \
  SWEEP(newel::detail::BlockProduct<float, true>)

#define NEWEL_BLOCK_INVERSES(X) \
  X(double, std::uint32_t)      \
  X(double, newel::Offset)      \
  X(float, std::uint32_t)       \
  X(float, newel::Offset)

}  // namespace newel::detail
