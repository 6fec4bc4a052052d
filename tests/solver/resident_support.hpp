// SPDX-License-Identifier: Apache-2.0
/// Systems for the solves in one kernel, and how those compare with separate kernels.
#pragma once

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/solver/systems.hpp"

namespace purlin::testing {

constexpr Space device = Space::device;

// -div grad u on k^3 points with `block` coupled unknowns each: node blocks, symmetric positive definite.
inline Rows blocks_on_a_grid(Index k, int block) {
  Rows a(k * k * k * block);
  const auto couple = [&](Index p, Index q, double value) {
    for (int d = 0; d < block; ++d) {
      for (int e = 0; e < block; ++e) a.at(p * block + d, q * block + e) += d == e ? value : 0.1 * value / block;
    }
  };
  for (Index p = 0; p < k * k * k; ++p) {
    couple(p, p, 6.5);
    const Index x = p % k, y = p / k % k, z = p / (k * k);
    if (x > 0) couple(p, p - 1, -1), couple(p - 1, p, -1);
    if (y > 0) couple(p, p - k, -1), couple(p - k, p, -1);
    if (z > 0) couple(p, p - k * k, -1), couple(p - k * k, p, -1);
  }
  return a;
}

inline SystemOptions options_of(const std::string& format, const std::string& precond, bool resident,
                                const std::string& solver = "cg") {
  SystemOptions options;
  options.spmv.format = format;
  options.precond.name = precond;
  options.solver.name = solver;
  options.solver.resident = resident;
  return options;
}

template <class T>
struct System {
  System(const Rows& a, const SystemOptions& options)
      : arrays(ctx, a), system(ctx, arrays.view(), options), x(ctx, a.size()) {}

  SolveReport solve(const std::vector<double>& b, const std::vector<double>& guess = {},
                    const ProgressFn& progress = {}) {
    const auto there = make_array(ctx, cast<T>(b));
    x = make_array(ctx, guess.empty() ? std::vector<T>(b.size(), T(0)) : cast<T>(guess));
    return system.solve(there.cspan(), x.span(), progress);
  }
  std::vector<T> solution() const { return to_vector(ctx, x.cspan()); }

  Context<device> ctx;
  Arrays<T, device> arrays;
  LinearSystem<T, device> system;
  Array<T, device> x;
};

}  // namespace purlin::testing
