// SPDX-License-Identifier: Apache-2.0
// 07  Several right-hand sides: a square membrane, pressed down at one of m points at a time,
//
//         -u_xx - u_yy = delta(p_c)   on the unit square,      u = 0 on its edge,      c = 0 .. m - 1
//
// Finite differences on n x n interior points (those of 01): b_c is the unit vector of the point p_c. The deflection
// at p_a under a load at p_c is that at p_c under a load at p_a (Maxwell's reciprocity, A being symmetric): what the
// program checks, beside the residual of every column. None of the columns knows of the others.
//
// Shows: solve_columns, which iterates up to eight columns side by side on one read of the matrix, and returns a
// report for each; SystemOptions::columns, by which the setup knows of them.
// Compile: as 01; here the target 07_right_hand_sides.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include <newel/newel.hpp>

using namespace newel;

int main() {
  const Index n = 100, rows = n * n, m = 12;
  const double rel_tol = 1e-10;
  std::vector<Index> row_ptr{0}, col;
  std::vector<double> val;
  const auto entry = [&](Index column, double value) {
    col.push_back(column);
    val.push_back(value);
  };
  for (Index row = 0; row < rows; ++row) {
    const Index i = row % n, j = row / n;
    if (j > 0) entry(row - n, -1);
    if (i > 0) entry(row - 1, -1);
    entry(row, 4);
    if (i < n - 1) entry(row + 1, -1);
    if (j < n - 1) entry(row + n, -1);
    row_ptr.push_back(static_cast<Index>(col.size()));
  }

  // Column c of b and of u begins at c rows.
  std::vector<Index> point;
  for (Index c = 0; c < m; ++c) point.push_back((13 + 7 * c) * n + (11 + 29 * c) % n);
  std::vector<double> b(static_cast<std::size_t>(rows) * m, 0.0), u(b.size(), 0.0);
  for (Index c = 0; c < m; ++c) b[c * rows + point[c]] = 1;

  const Context<Space::host> ctx;
  SystemOptions options;
  options.columns = m;
  options.stop.rel_tol = rel_tol;
  LinearSystem<double, Space::host> system(ctx, {rows, rows, row_ptr, col, val}, options);
  const std::vector<SolveReport> reports = system.solve_columns(b, u, m);

  bool converged = true;
  int most = 0;
  double residual = 0, asymmetry = 0, largest = 0;
  for (Index c = 0; c < m; ++c) {
    converged = converged && reports[c].converged();
    most = std::max(most, reports[c].iterations);
    const double* const x = u.data() + c * rows;
    double squares = 0;
    for (Index i = 0; i < rows; ++i) {
      double r = b[c * rows + i];
      for (Index k = row_ptr[i]; k < row_ptr[i + 1]; ++k) r -= val[k] * x[col[k]];
      squares += r * r;
    }
    residual = std::max(residual, std::sqrt(squares));  // |b_c| = 1
    for (Index a = 0; a < m; ++a) {
      asymmetry = std::max(asymmetry, std::fabs(x[point[a]] - u[a * rows + point[c]]));
      largest = std::max(largest, std::fabs(x[point[a]]));
    }
  }
  std::printf("%d columns, at most %d iterations, |b - A u| / |b| <= %.1e, reciprocal but for %.1e of %.2f\n",
              static_cast<int>(m), most, residual, asymmetry, largest);
  // An error in u is at most |r| over the smallest eigenvalue of A, which is more than 19 h^2.
  const double bound = 2 * rel_tol * (n + 1) * (n + 1) / 19;
  return converged && residual < 2 * rel_tol && asymmetry < 2 * bound && largest > 0.1 ? 0 : 1;
}
