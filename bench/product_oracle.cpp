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

}  // namespace newel::bench
