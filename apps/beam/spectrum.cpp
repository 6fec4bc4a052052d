// SPDX-License-Identifier: Apache-2.0
// A Fourier transform of a windowed record, and its peaks.
#include "spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <complex>

namespace newel::beam {
namespace {

using Complex = std::complex<double>;
constexpr double pi = 3.14159265358979323846;

// In place, for a power of two: bits of the index turned round, then butterflies of twice the length each time.
void transform(std::vector<Complex>& x) {
  const std::size_t n = x.size();
  for (std::size_t i = 1, j = 0; i < n; ++i) {
    std::size_t bit = n / 2;
    for (; (j & bit) != 0; bit /= 2) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(x[i], x[j]);
  }
  for (std::size_t length = 2; length <= n; length *= 2) {
    for (std::size_t k = 0; k < length / 2; ++k) {
      const Complex turn = std::polar(1.0, -2 * pi * static_cast<double>(k) / static_cast<double>(length));
      for (std::size_t i = k; i < n; i += length) {
        const Complex other = turn * x[i + length / 2];
        x[i + length / 2] = x[i] - other;
        x[i] += other;
      }
    }
  }
}

// The magnitudes of the windowed record, of points that are 1 / (padded step) Hz apart.
std::vector<double> magnitudes_of(const std::vector<double>& values) {
  const std::size_t n = values.size();
  double mean = 0;
  for (const double v : values) mean += v / static_cast<double>(n);
  std::size_t padded = 1;
  while (padded < 4 * n) padded *= 2;
  std::vector<Complex> x(padded);
  for (std::size_t i = 0; i < n; ++i) {
    const double window = 1 - std::cos(2 * pi * (static_cast<double>(i) + 0.5) / static_cast<double>(n));
    x[i] = window * (values[i] - mean);
  }
  transform(x);
  std::vector<double> magnitude(padded / 2);
  for (std::size_t k = 0; k < magnitude.size(); ++k) magnitude[k] = std::abs(x[k]) * 2 / static_cast<double>(n);
  return magnitude;
}

}  // namespace

std::vector<Tone> tones_of(const std::vector<double>& values, double step, int most) {
  constexpr std::size_t fewest = 16;
  constexpr double weakest = 1e-3;
  if (values.size() < fewest) return {};
  const std::vector<double> m = magnitudes_of(values);
  const double per_point = 1 / (step * 2 * static_cast<double>(m.size()));
  // The window's main lobe is two periods of the record wide on either side: a peak is the highest point of that.
  const std::size_t lobe = 2 * (2 * m.size()) / values.size();
  const double highest = *std::max_element(m.begin() + static_cast<std::ptrdiff_t>(lobe / 2), m.end());
  std::vector<Tone> tones;
  for (std::size_t k = lobe / 2 + 1; k + 1 < m.size(); ++k) {
    if (!(m[k] > weakest * highest) || m[k] < m[k - 1] || m[k] < m[k + 1]) continue;
    const auto first = m.begin() + static_cast<std::ptrdiff_t>(k - std::min(k, lobe));
    const auto last = m.begin() + static_cast<std::ptrdiff_t>(std::min(k + lobe + 1, m.size()));
    if (*std::max_element(first, last) > m[k]) continue;
    const double left = std::log(m[k - 1]), middle = std::log(m[k]), right = std::log(m[k + 1]);
    const double curvature = left - 2 * middle + right;
    const double shift = curvature < 0 ? 0.5 * (left - right) / curvature : 0.0;
    tones.push_back({(static_cast<double>(k) + shift) * per_point, std::exp(middle - 0.25 * (left - right) * shift)});
  }
  std::stable_sort(tones.begin(), tones.end(),
                   [](const Tone& a, const Tone& b) { return a.amplitude > b.amplitude; });
  tones.resize(std::min(tones.size(), static_cast<std::size_t>(most)));
  return tones;
}

double without_step(double frequency, double step) { return std::tan(pi * frequency * step) / (pi * step); }

}  // namespace newel::beam
