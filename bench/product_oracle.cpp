// SPDX-License-Identifier: Apache-2.0
// Row sums in long double.
#include "product_oracle.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <newel/core/parallel.hpp>

namespace newel::bench {

template <class T>
ProductOracle<T>::ProductOracle(const Context<Space::host>& ctx, const CsrView<T, Space::host>& a,
                                const std::vector<T>& x)
    : ctx_(ctx), rows_(static_cast<std::size_t>(a.rows)) {
  parallel_blocks(ctx_, a.rows, 1024, [&](Index i) {
    long double value = 0;
    double magnitude = 0;
    for (Offset k = a.row_begin(i); k < a.row_begin(i + 1); ++k) {
      const long double product = static_cast<long double>(a.val[k]) * x[static_cast<std::size_t>(a.col[k])];
      value += product;
      magnitude += std::fabs(static_cast<double>(product));
    }
    rows_[static_cast<std::size_t>(i)] = {value, magnitude, a.row_begin(i + 1) - a.row_begin(i)};
  });
}

template <class T>
double ProductOracle<T>::worst(const std::vector<T>& y, T alpha, T beta, const std::vector<T>& y0) const {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (y.size() != rows_.size()) return infinity;
  const double eps = std::numeric_limits<T>::epsilon();
  const auto count = static_cast<std::int64_t>(rows_.size());
  return parallel_max(ctx_, count, 0.0, [&](std::int64_t i) {
    const Row& row = rows_[static_cast<std::size_t>(i)];
    long double expected = alpha * row.value;
    double magnitude = std::fabs(static_cast<double>(alpha)) * row.magnitude;
    if (beta != T(0)) {
      const long double before = static_cast<long double>(beta) * y0[static_cast<std::size_t>(i)];
      expected += before;
      magnitude += std::fabs(static_cast<double>(before));
    }
    const auto difference = static_cast<double>(std::fabs(y[static_cast<std::size_t>(i)] - expected));
    if (difference == 0) return 0.0;
    const double error = difference / (static_cast<double>(row.entries + 3) * eps * magnitude);
    return std::isnan(error) ? infinity : error;
  });
}

template class ProductOracle<double>;
template class ProductOracle<float>;

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
