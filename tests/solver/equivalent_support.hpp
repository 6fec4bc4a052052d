// SPDX-License-Identifier: Apache-2.0
/// What reports of systems that are solved through others have to say.
#pragma once

#include <vector>

#include "tests/solver/systems.hpp"

namespace newel::testing {

/// Converged, and the norms are those of the system as it was given.
template <class T>
void check_report(const Rows& a, const std::vector<double>& b, const SolveReport& report, const std::vector<T>& x,
                  double rtol = 1e-8) {
  INFO(report.reason);
  const std::vector<T> given = cast<T>(b);
  const double residual = true_residual(a, given, x);
  CHECK(report.converged());
  CHECK(residual <= rtol * norm(b) * (1 + 1e-6));
  CHECK(report.rhs_norm == Approx(norm(b)).epsilon(1e-6));
  CHECK(report.tolerance == Approx(rtol * norm(b)).epsilon(1e-6));
  CHECK(report.true_residual == Approx(residual).epsilon(1e-3).margin(1e-14 * norm(b)));
  CHECK(report.attempts.back().true_residual == report.true_residual);
}

}  // namespace newel::testing
