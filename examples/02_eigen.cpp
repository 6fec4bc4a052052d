// SPDX-License-Identifier: Apache-2.0
// 02  Eigen's matrices: a substance that diffuses and is carried along by a wind w,
//
//         -u_xx - u_yy + w u_x = f   on the unit square,      u = 0 on its edge
//
// Finite differences on n x n interior points, h = 1 / (n + 1), the wind term taken from upwind, multiplied by h^2:
//
//         (4 + w h) u_ij - (1 + w h) u_(i-1)j - u_(i+1)j - u_i(j-1) - u_i(j+1) = h^2 f_ij
//
// The matrix is not symmetric. f is computed from a u that the program chooses, so that the solution is known.
//
// Shows: an Eigen::SparseMatrix, stored by columns as Eigen does by default, and Eigen vectors handed over as they
// are; refresh with the values of a second matrix of the same pattern. Eigen itself checks both results.
// Compile: as 01, and target_link_libraries(program PRIVATE Eigen3::Eigen); here the target 02_eigen.
#include <cstdio>
#include <vector>

#include <Eigen/SparseCore>

#include <newel/adapt/eigen.hpp>
#include <newel/newel.hpp>

using namespace newel;

Eigen::SparseMatrix<double> convection(int n, double wind) {
  const double wh = wind / (n + 1);
  std::vector<Eigen::Triplet<double>> entries;
  for (int row = 0; row < n * n; ++row) {
    const int i = row % n, j = row / n;
    entries.emplace_back(row, row, 4 + wh);
    if (i > 0) entries.emplace_back(row, row - 1, -1 - wh);
    if (i < n - 1) entries.emplace_back(row, row + 1, -1);
    if (j > 0) entries.emplace_back(row, row - n, -1);
    if (j < n - 1) entries.emplace_back(row, row + n, -1);
  }
  Eigen::SparseMatrix<double> A(n * n, n * n);
  A.setFromTriplets(entries.begin(), entries.end());
  return A;
}

int main() {
  const int n = 80;
  const double rel_tol = 1e-10;
  const Context<Space::host> ctx;
  SystemOptions options;
  options.stop.rel_tol = rel_tol;

  Eigen::SparseMatrix<double> A = convection(n, 20);
  LinearSystem<double, Space::host> system(ctx, view_of(A), options);  // reads A; keeps no reference to it
  bool good = true;
  for (const double wind : {20.0, 200.0}) {
    A = convection(n, wind);
    system.refresh(values_of(A));  // the same pattern: nothing is analysed again

    const Eigen::VectorXd exact = Eigen::VectorXd::LinSpaced(n * n, 0, 30).array().sin();
    const Eigen::VectorXd b = A * exact;
    Eigen::VectorXd u = Eigen::VectorXd::Zero(n * n);
    const SolveReport report = system.solve(span_of(b), span_of(u));

    const double residual = (b - A * u).norm() / b.norm();
    const double error = (u - exact).norm() / exact.norm();
    std::printf("wind %g: %s, %s after %d iterations, |b - A u| / |b| = %.1e, error %.1e\n", wind,
                report.solver.c_str(), name_of(report.status).data(), report.iterations, residual, error);
    good = good && report.converged() && residual < 2 * rel_tol && error < 1e-7;
  }
  return good ? 0 : 1;
}
