// SPDX-License-Identifier: Apache-2.0
/// Solves of sequences that recycle vectors, for the tests of CG and of GMRES.
#pragma once

#include "tests/solver/systems.hpp"

#include <newel/solver/recycle.hpp>

namespace newel::testing {

inline SystemOptions recycling(const std::string& recycle, const std::string& precond = "none",
                               const std::string& format = "csr", const std::string& solver = "cg") {
  SystemOptions options = system_options(solver, precond, format, 1e-8);
  options.solver.of<RecycleOptions>().recycle = recycle;
  return options;
}

inline std::vector<double> values_of(const Rows& rows) {
  std::vector<double> values;
  for (const auto& row : rows.row) {
    for (const auto& [j, value] : row) values.push_back(value);
  }
  return values;
}

/// Solves for right-hand side number `seed`, from zero. The residual is the test's own.
template <class T, Space S>
SolveReport solve_for(const Context<S>& ctx, LinearSystem<T, S>& system, const Rows& a, std::uint64_t seed,
                      std::vector<T>* solution = nullptr) {
  const std::vector<T> b = cast<T>(noise(a.size(), seed));
  const auto bs = make_array(ctx, b);
  auto xs = make_array(ctx, std::vector<T>(b.size(), T(0)));
  const SolveReport report = system.solve(bs.cspan(), xs.span(), {}, InitialGuess::zero);
  INFO(report.reason);
  REQUIRE(report.converged());
  const std::vector<T> x = to_vector(ctx, xs.cspan());
  CHECK(true_residual(a, b, x) <= 1.01 * report.tolerance);
  if (solution != nullptr) *solution = x;
  return report;
}

/// Solves `count` systems, and the same broken off after `broken`, whose state another LinearSystem takes over: the
/// bits are those of the whole.
template <class T, Space S>
void check_resumed(const Context<S>& ctx, const Rows& a, const SystemOptions& options, int count, int broken) {
  SystemOf<T, S> whole(ctx, a, options), first(ctx, a, options), second(ctx, a, options);
  for (int k = 1; k <= count; ++k) {
    const auto seed = static_cast<std::uint64_t>(k);
    std::vector<T> expected, found;
    const SolveReport one = solve_for<T, S>(ctx, whole, a, seed, &expected);
    const SolveReport other = solve_for<T, S>(ctx, k <= broken ? first : second, a, seed, &found);
    CHECK(found == expected);
    CHECK(one.recycle.vectors == other.recycle.vectors);
    if (k == broken) second.history().set_guess_state(first.history().guess_state());
  }
}

}  // namespace newel::testing
