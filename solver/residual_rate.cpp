// SPDX-License-Identifier: Apache-2.0
// Iterations to go.
#include <purlin/solver/residual_rate.hpp>

#include <algorithm>
#include <cmath>

namespace purlin::detail {

void ResidualRate::add(double residual) {
  least_.push_back(least_.empty() ? residual : std::min(least_.back(), residual));
}

bool ResidualRate::fallen() const { return !least_.empty() && least_.back() <= 0.1 * least_.front(); }

double ResidualRate::left(double tolerance) const {
  if (least_.size() < 3 || !fallen() || !(tolerance > 0)) return 0;
  const std::size_t k = least_.size() - 1;
  const double gained = std::log(least_[k / 2] / least_[k]);
  if (!(gained > 0)) return 0;
  const double rate = gained / static_cast<double>(k - k / 2);
  return std::max(1.0, std::log(least_[k] / tolerance) / rate);
}

}  // namespace purlin::detail
