// SPDX-License-Identifier: Apache-2.0
/// How the tests of several right-hand sides solve them together, alone, and compare.
#pragma once

#include "tests/solver/systems.hpp"

namespace newel::testing {

using Columns = std::vector<std::vector<double>>;

inline SystemOptions cg_options(const std::string& precond) {
  SystemOptions options = system_options("cg", precond, "csr");
  return options;
}

/// Right-hand sides of solutions without structure.
inline Columns noise_columns(const Rows& a, Index k) {
  Columns b;
  for (Index c = 0; c < k; ++c) b.push_back(a.rhs_for(noise(a.size(), static_cast<std::uint64_t>(c) + 1)));
  return b;
}

inline Columns zeros_like(const Columns& b) {
  Columns zeros = b;
  for (auto& column : zeros) std::fill(column.begin(), column.end(), 0.0);
  return zeros;
}

/// One column after the other.
template <class T>
std::vector<T> joined(const Columns& columns) {
  std::vector<T> all;
  for (const auto& column : columns) all.insert(all.end(), column.begin(), column.end());
  return all;
}

template <class T>
struct Batch {
  std::vector<SolveReport> report;
  std::vector<std::vector<T>> x;
};

template <class T, Space S>
Batch<T> solve_together(const Context<S>& ctx, LinearSystem<T, S>& system, const Columns& b, const Columns& guess,
                        const ProgressFn& progress = {}) {
  const auto bs = make_array(ctx, joined<T>(b));
  auto xs = make_array(ctx, joined<T>(guess));
  Batch<T> result;
  result.report = system.solve_columns(bs.cspan(), xs.span(), static_cast<Index>(b.size()), progress);
  const std::vector<T> x = to_vector(ctx, xs.cspan());
  const auto n = static_cast<std::ptrdiff_t>(system.rows());
  for (std::size_t c = 0; c < b.size(); ++c) {
    const auto first = x.begin() + static_cast<std::ptrdiff_t>(c) * n;
    result.x.emplace_back(first, first + n);
  }
  return result;
}

template <class T, Space S>
Batch<T> solve_alone(const Context<S>& ctx, LinearSystem<T, S>& system, const Columns& b, const Columns& guess) {
  Batch<T> result;
  for (std::size_t c = 0; c < b.size(); ++c) {
    auto [report, x] = run_system(ctx, system, b[c], guess[c]);
    result.report.push_back(std::move(report));
    result.x.push_back(std::move(x));
  }
  return result;
}

/// Solves together and alone. On the host counts must be equal; a device adds in other orders, which may move the
/// last iteration. A solution that converged has the residual that it claims and that was requested, up to the
/// rounding of this residual, 40 eps |b|, and of the oracle's T entries.
template <class T, Space S>
Batch<T> check_against_alone(const Context<S>& ctx, const Rows& a, const SystemOptions& options, const Columns& b,
                             Columns guess = {}) {
  if (guess.empty()) guess = zeros_like(b);
  LinearSystem<T, S> system(ctx, Arrays<T, S>(ctx, a).view(), options);
  const Batch<T> found = solve_together<T, S>(ctx, system, b, guess);
  const Batch<T> alone = solve_alone<T, S>(ctx, system, b, guess);
  REQUIRE(found.report.size() == b.size());
  for (std::size_t c = 0; c < b.size(); ++c) {
    const SolveReport &mine = found.report[c], &other = alone.report[c];
    INFO("column " << c << " of " << b.size() << ": " << mine.reason << " after " << mine.iterations);
    CHECK(mine.status == other.status);
    CHECK(mine.solver == other.solver);
    if (S == Space::host) {
      CHECK(mine.iterations == other.iterations);
      CHECK(mine.rhs_norm == other.rhs_norm);
    } else {
      // Alone, a small system is solved in the resident kernel, which adds in an order of its own.
      CHECK(mine.rhs_norm == Approx(other.rhs_norm).epsilon(40 * std::numeric_limits<T>::epsilon()));
      CHECK(std::abs(mine.iterations - other.iterations) <= std::max(2.0, 0.02 * other.iterations));
    }
    CHECK(mine.history.size() == static_cast<std::size_t>(mine.iterations) + mine.attempts.size());
    CHECK(mine.initial_residual ==
          Approx(other.initial_residual).margin(40 * std::numeric_limits<T>::epsilon() * norm(b[c])));
    const double residual = true_residual<T>(a, cast<T>(b[c]), found.x[c]);
    const double rounding = 40 * std::numeric_limits<T>::epsilon() * norm(b[c]);
    CHECK(mine.true_residual == Approx(residual).epsilon(0.01).margin(rounding));
    if (mine.converged()) CHECK(residual <= mine.tolerance + rounding);
  }
  return found;
}

}  // namespace newel::testing
