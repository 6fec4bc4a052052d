// SPDX-License-Identifier: Apache-2.0
/// A preconditioner's products of several vectors beside those of one.
#pragma once

#include <cmath>
#include <vector>

#include "tests/catch.hpp"
#include "tests/precond/applied.hpp"

namespace newel::testing {

using Columns = std::vector<std::vector<double>>;

/// alpha M x + beta y0 for all columns together.
template <Space S>
Columns together(const Context<S>& ctx, const LinearOperator<double, S>& m, const Columns& x, double alpha,
                 double beta, const Columns& y0, std::vector<double>* dots = nullptr) {
  const auto k = static_cast<int>(x.size());
  const std::size_t n = x[0].size();
  std::vector<double> in(n * x.size()), out(in.size(), std::nan(""));
  for (std::size_t c = 0; c < x.size(); ++c) {
    for (std::size_t i = 0; i < n; ++i) {
      in[i * x.size() + c] = x[c][i];
      if (beta != 0) out[i * x.size() + c] = y0[c][i];
    }
  }
  const auto there = upload(ctx, in);
  auto y = upload(ctx, out);
  auto work = poisoned<char>(ctx, static_cast<std::int64_t>(m.column_work_bytes(k)));
  auto xy = poisoned<double>(ctx, k);
  if (dots == nullptr) {
    m.apply_columns(ctx, k, alpha, there.cspan(), beta, y.span(), work.span());
  } else {
    m.apply_dot_columns(ctx, k, there.cspan(), y.span(), xy.data(), work.span());
    *dots = download(ctx, xy);
  }
  out = download(ctx, y);
  Columns result(x.size(), std::vector<double>(n));
  for (std::size_t c = 0; c < x.size(); ++c) {
    for (std::size_t i = 0; i < n; ++i) result[c][i] = out[i * x.size() + c];
  }
  return result;
}

inline double distance(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> difference = a;
  for (std::size_t i = 0; i < a.size(); ++i) difference[i] -= b[i];
  return norm_oracle(difference) / norm_oracle(b);
}

/// M of several vectors is M of each, up to `tolerance`.
template <Space S>
void check_columns(const Context<S>& ctx, const LinearOperator<double, S>& m, double tolerance) {
  for (const std::size_t k : {1, 2, 4, 8}) {
    INFO(k << " columns");
    Columns x, y0, alone;
    for (std::size_t c = 0; c < k; ++c) {
      x.push_back(random_vector<double>(m.rows(), 5 + c));
      y0.push_back(random_vector<double>(m.rows(), 50 + c));
      alone.push_back(applied(ctx, m, x.back()));
    }
    std::vector<double> dots;
    const Columns plain = together(ctx, m, x, 1, 0, y0), added = together(ctx, m, x, 0.5, -2, y0);
    const Columns dotted = together(ctx, m, x, 1, 0, y0, &dots);
    for (std::size_t c = 0; c < k; ++c) {
      CHECK(distance(plain[c], alone[c]) <= tolerance);
      CHECK(dotted[c] == plain[c]);
      double dot = 0, magnitude = 0;
      std::vector<double> sum = alone[c];
      for (std::size_t i = 0; i < sum.size(); ++i) {
        dot += x[c][i] * plain[c][i];
        magnitude += std::fabs(x[c][i] * plain[c][i]);
        sum[i] = 0.5 * alone[c][i] - 2 * y0[c][i];
      }
      CHECK(std::fabs(dots[c] - dot) <= 1e-12 * magnitude);
      CHECK(distance(added[c], sum) <= tolerance);
    }
  }
}

}  // namespace newel::testing
