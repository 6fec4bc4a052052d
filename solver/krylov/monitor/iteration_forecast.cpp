// SPDX-License-Identifier: Apache-2.0
// How many iterations a solve still takes.
#include "solver/krylov/monitor/iteration_forecast.hpp"

#include <algorithm>

#include "core/vectors/instantiate.hpp"

namespace newel::detail {

template <Space S>
void IterationForecast<S>::note(const std::vector<double>& history, const MonitorState& seen) {
  for (int k = rate_from_ + rate_.iterations() + 1; k <= seen.iteration; ++k) {
    rate_.add(history[static_cast<std::size_t>(k)]);
  }
  gains_.add(seen.iteration, seen.gained);
}

template <Space S>
void IterationForecast<S>::begin_again(const MonitorState& seen) {
  rate_ = {};
  spectrum_ = {};
  gains_ = {};
  gains_.add(seen.iteration, seen.gained);
  rate_from_ = present_from_ = seen.iteration;
  expected_ = 0;
}

template <Space S>
double IterationForecast<S>::left(const Context<S>& ctx, const MonitorState& seen, double rows, double of_usual) {
  const ResidualTrend trend = rate_.trend(seen.tolerance);
  const int steps = CgSpectrum::used(std::min(seen.iteration, static_cast<int>(coefficients_.size)) - rate_from_);
  if (steps > spectrum_.taken()) spectrum_.take(to_vector(ctx, coefficients_.subspan(rate_from_, steps)));
  const double by_both = spectrum_.left(rate_.least(), seen.tolerance, trend, rows, of_usual);
  return by_both > 0 ? by_both : trend.by_rate;
}

#define X(S) template class IterationForecast<S>;
NEWEL_FOR_SPACES(X)
#undef X

}  // namespace newel::detail
