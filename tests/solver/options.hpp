// SPDX-License-Identifier: Apache-2.0
/// Options of a system by the names of its parts, and solves that are judged by a residual of the test's own.
#pragma once

#include "tests/catch.hpp"

#include <newel/solver/linear_system.hpp>

namespace newel::testing {

/// What is left out is chosen automatically.
inline SystemOptions system_options(const std::string& solver, const std::string& precond = "auto",
                                    const std::string& format = "auto", double rel_tol = StopCriterion().rel_tol) {
  SystemOptions options;
  options.solver.name = solver;
  options.precond.name = precond;
  options.spmv.format = format;
  options.stop.rel_tol = rel_tol;
  return options;
}

inline StopCriterion stop_at(double rel_tol) {
  StopCriterion stop;
  stop.rel_tol = rel_tol;
  return stop;
}

/// From zeros. Where the solve converges, so has x by the test's own product.
template <class T, Space S>
SolveReport checked_solve(const Context<S>& ctx, LinearSystem<T, S>& system, const HostCsr& a,
                          const std::vector<T>& b, double rel_tol = 1e-8) {
  const auto at_b = upload(ctx, b);
  auto x = upload(ctx, std::vector<T>(b.size(), T(0)));
  const SolveReport report = system.solve(at_b.cspan(), x.span());
  INFO(report.reason << "; " << report.changed);
  if (report.converged()) CHECK(residual_norm(a, download(ctx, x), b) <= 1.01 * rel_tol * norm_oracle(b));
  return report;
}

}  // namespace newel::testing
