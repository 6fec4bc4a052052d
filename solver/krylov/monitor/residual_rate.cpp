// SPDX-License-Identifier: Apache-2.0
// Iterations to go.
#include "solver/krylov/monitor/residual_rate.hpp"

#include <algorithm>
#include <cmath>

namespace newel::detail {

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

ResidualTrend ResidualRate::trend(double tolerance) const {
  ResidualTrend trend;
  trend.by_rate = left(tolerance);
  trend.iterations = std::max(iterations(), 0);
  if (trend.iterations == 0) return trend;
  const double half = least_.front() / 2;
  const auto halved = std::partition_point(least_.begin(), least_.end(), [half](double r) { return r > half; });
  trend.plateau = static_cast<double>(halved - least_.begin()) / trend.iterations;
  return trend;
}

double ResidualRate::sure(double tolerance, double sure_of_solve) const {
  using Of = SureConstants;
  if (least_.empty() || !(tolerance > 0) || !(least_.back() > tolerance)) return 0;
  const double gone = std::log(least_.front() / least_.back()) / std::log(least_.front() / tolerance);
  const double times =
      std::clamp(1 - std::log2(std::max(1, iterations()) / Of::once_at), Of::least_times, Of::most_times);
  return std::max(times * iterations(), sure_of_solve - iterations()) * std::max(0.0, 1 - gone / Of::way);
}

}  // namespace newel::detail
