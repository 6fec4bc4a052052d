// SPDX-License-Identifier: Apache-2.0
// Ritz values by bisection.
#include "solver/krylov/steps/cg_spectrum.hpp"

#include <algorithm>
#include <cmath>

#include "core/vectors/tridiagonal.hpp"
#include "solver/cost/profiles/forecast_constants.hpp"

namespace newel::detail {
namespace {

// The middle of what remains of [low, high], by ratios, after `halvings`; `above(value)`: it is in the upper half.
template <class Above>
double bisected(double low, double high, int halvings, const Above& above) {
  for (; halvings > 0; --halvings) {
    const double middle = std::sqrt(low * high);
    (above(middle) ? low : high) = middle;
  }
  return std::sqrt(low * high);
}

// From `a`, with share 0, to `b`, with share 1, by ratios.
double between(double a, double b, double share) { return std::pow(a, 1 - share) * std::pow(b, share); }

}  // namespace

int CgSpectrum::used(int steps) {
  int used = few_steps;
  while (used + used / 2 <= std::min(steps, most_coefficients)) used += used / 2;
  return steps < few_steps ? 0 : used;
}

void CgSpectrum::take(const std::vector<CgCoefficients>& steps) {
  constexpr double widest = 1e-16;  // the least eigenvalue that is looked for, over the largest
  constexpr int halvings_of_least = 10, halvings_of_most = 5;
  taken_ = static_cast<int>(steps.size());
  std::vector<TridiagonalRow> rows;
  rows.reserve(steps.size());
  double low = 0, high = 0, smallest = 0;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const auto [alpha, beta] = steps[k];
    if (!(alpha > 0) || !(beta >= 0) || !std::isfinite(1 / alpha) || !std::isfinite(beta)) break;
    const double before = k > 0 ? steps[k - 1].alpha : 1;
    rows.push_back({1 / alpha + beta / before, beta / (before * before)});
    const double next = k + 1 < steps.size() ? std::max(0.0, steps[k + 1].beta) : 0;
    const double beside = std::sqrt(beta) / before + std::sqrt(next) / alpha;
    low = std::max(low, rows.back().diagonal);
    high = std::max(high, rows.back().diagonal + beside);  // Gershgorin's bound
    smallest = k == 0 ? rows.back().diagonal : std::min(smallest, rows.back().diagonal);
  }
  least_ = most_ = growth_ = 0;
  if (rows.size() < few_steps || !std::isfinite(high)) return;
  const auto least = [&](const std::vector<TridiagonalRow>& of) {
    return bisected(widest * most_, smallest, halvings_of_least,
                    [&](double value) { return all_eigenvalues_beyond(of, value, 1); });
  };
  most_ =
      bisected(low, high, halvings_of_most, [&](double value) { return !all_eigenvalues_beyond(rows, value, -1); });
  least_ = least(rows);
  const double steps_now = static_cast<double>(rows.size());
  rows.resize(2 * rows.size() / 3);
  const double more_steps = std::log(steps_now / static_cast<double>(rows.size()));
  growth_ = std::clamp(std::log(least(rows) / least_) / 2 / more_steps, 0.0, 1.0);
}

// The bound sqrt(condition) / 2 ln(2 / reduction) holds for any b and any eigenvalues in between. After 50 to 150
// iterations with Jacobi on meshes of diffusion and elasticity CG takes 0.25 to 0.7 of what it makes expect, where
// the spectrum has settled; then the rate of the residual is known as a rule, and tells more. As long as smaller
// eigenvalues keep coming that rate is the others', and the bound too low: then it counts together with what the size
// makes expect, as a multiple fitted to 24 to 406 iterations on 43 meshes and real matrices, b = 1 and b = A times a
// random x. The rate of the others makes expect more iterations than there were; one by which the end is near is
// believed.
//
// A residual that has stayed up for long, as of smooth right-hand sides, falls ever faster once it falls. On 67
// meshes and real matrices, b = 1, what its rate makes expect was 1.5 times what came, in the mean of logarithms, and
// `late` was off by a factor of 1.3. Before there is a rate, the iterations so far belong to the estimate, and the
// size has a say: on 94 of them the estimate was 0.94 to 1.02 times what came behind 24 to 1,000 iterations, in the
// mean of logarithms, and off by a factor of 1.9. The spectrum alone made expect 1.35 times as many behind 100 to 200
// and 1.6 times behind 200 to 400, and more than three times in one of ten places.
double CgSpectrum::left(double residual, double tolerance, const ResidualTrend& trend, double rows,
                        double of_usual) const {
  using Of = SpectrumConstants;
  if (!(least_ > 0) || !(tolerance > 0)) return 0;
  const double reduction = std::log(2 * std::max(1.0, residual / tolerance));
  const double by_rate = trend.by_rate;
  const double by_bound = std::clamp(Of::share_of_bound * std::sqrt(condition()) / 2 * reduction, 1.0, rows);
  const double by_size = of_usual * Of::of_size * reduction * std::cbrt(rows);
  const double settled = by_rate > 0 ? by_rate : by_bound, growing = Of::unseen * std::sqrt(by_bound * by_size);
  const double unsettled = growth_ * (by_rate > 0 ? std::clamp(by_rate / taken_ - 1, 0.0, 1.0) : 1);
  const double usual = between(settled, growing, unsettled);
  if (!(by_rate > 0)) {
    const double done = trend.iterations, spectral = std::min(usual, rows) - Of::share_gone * done;
    const double sized = std::max(by_size, Of::least_of_size * done);
    return std::min(Of::raised * between(std::max({spectral, Of::least_share * done, 1.0}), sized, Of::share_of_size),
                    rows);
  }
  const double late = Of::of_late * std::cbrt(by_rate * by_rate * by_size);
  const double risen =
      std::clamp((trend.plateau - Of::short_plateau) / (Of::long_plateau - Of::short_plateau), 0.0, 1.0);
  return std::min(std::max(between(usual, late, risen), 1.0), rows);
}

}  // namespace newel::detail
