// SPDX-License-Identifier: Apache-2.0
// Iterations to go.
#include <purlin/solver/residual_rate.hpp>

#include <algorithm>
#include <cmath>

namespace purlin::detail {

void ResidualRate::add(double residual) {
  least_.push_back(least_.empty() ? residual : std::min(least_.back(), residual));
}

double ResidualRate::left(double tolerance) const {
  constexpr double known_from = 0.1;
  const std::size_t k = least_.size() - 1;
  if (least_.size() < 3 || !(least_.back() <= known_from * least_.front()) || !(tolerance > 0)) return 0;
  const double gained = std::log(least_[k / 2] / least_[k]);
  if (!(gained > 0)) return 0;
  const double rate = gained / static_cast<double>(k - k / 2);
  return std::max(1.0, std::log(least_[k] / tolerance) / rate);
}

}  // namespace purlin::detail
