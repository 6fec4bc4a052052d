// SPDX-License-Identifier: Apache-2.0
/// x of a dense system, by which tests judge solvers.
#pragma once

#include "tests/solver/systems.hpp"

#include <Eigen/Dense>

namespace newel::testing {

/// By elimination with complete pivoting in long double, rows divided by their largest entries first. Every row has
/// an entry other than 0.
inline std::vector<double> dense_solution(const Rows& a, const std::vector<double>& b) {
  using Dense = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
  const Index n = a.size();
  Dense dense = Dense::Zero(n, n), rhs(n, 1);
  for (Index i = 0; i < n; ++i) {
    long double most = 0;
    for (const auto& [j, value] : a.row[static_cast<std::size_t>(i)]) {
      most = std::max(most, std::fabs(static_cast<long double>(value)));
    }
    for (const auto& [j, value] : a.row[static_cast<std::size_t>(i)]) dense(i, j) = value / most;
    rhs(i, 0) = b[static_cast<std::size_t>(i)] / most;
  }
  const Dense x = dense.fullPivLu().solve(rhs);
  std::vector<double> result;
  for (Index i = 0; i < n; ++i) result.push_back(static_cast<double>(x(i, 0)));
  return result;
}

}  // namespace newel::testing
