// SPDX-License-Identifier: Apache-2.0
// Sums of squares in long double.
#include "residual_oracle.hpp"

#include <cmath>
#include <limits>

#include <newel/core/parallel.hpp>

namespace newel::bench {

template <class T>
TrueResidual true_residual(const Context<Space::host>& ctx, const CsrView<T, Space::host>& a, const std::vector<T>& b,
                           const std::vector<T>& x) {
  const long double eps = std::numeric_limits<T>::epsilon();
  struct Sums {
    long double residual, rounding, rhs;
  };
  const auto add_row = [&](Index i, Sums& sums) {
    const long double bi = b[static_cast<std::size_t>(i)];
    long double rest = bi, magnitude = std::fabs(bi);
    for (Offset k = a.row_begin(i); k < a.row_begin(i + 1); ++k) {
      const long double product = static_cast<long double>(a.val[k]) * x[static_cast<std::size_t>(a.col[k])];
      rest -= product;
      magnitude += std::fabs(product);
    }
    const long double bound = static_cast<long double>(a.row_begin(i + 1) - a.row_begin(i) + 3) * eps * magnitude;
    sums.residual += rest * rest;
    sums.rounding += bound * bound;
    sums.rhs += bi * bi;
  };
  const auto join = [](Sums& all, const Sums& sums) {
    all = {all.residual + sums.residual, all.rounding + sums.rounding, all.rhs + sums.rhs};
  };
  const auto [residual, rounding, rhs] = parallel_reduce(ctx, a.rows, Sums{0, 0, 0}, add_row, join);
  const long double scale = rhs > 0 ? std::sqrt(rhs) : 1;
  return {static_cast<double>(std::sqrt(residual) / scale), static_cast<double>(std::sqrt(rounding) / scale)};
}

template TrueResidual true_residual(const Context<Space::host>&, const CsrView<double, Space::host>&,
                                    const std::vector<double>&, const std::vector<double>&);
template TrueResidual true_residual(const Context<Space::host>&, const CsrView<float, Space::host>&,
                                    const std::vector<float>&, const std::vector<float>&);

}  // namespace newel::bench
