// SPDX-License-Identifier: Apache-2.0
// 01  A first solve: the deflection of a square membrane under a load,
//
//         -u_xx - u_yy = f   on the unit square,      u = 0 on its edge
//
// Finite differences on n x n interior points, h = 1 / (n + 1), multiplied by h^2:
//
//         4 u_ij - u_(i-1)j - u_(i+1)j - u_i(j-1) - u_i(j+1) = h^2 f_ij
//
// With f = 2 (x (1 - x) + y (1 - y)) the solution is u = x (1 - x) y (1 - y). The differences are exact for it, so
// the computed u may differ from it by no more than the solver leaves: what the program checks, beside the residual.
//
// Shows: CSR arrays, Context, LinearSystem, the report. Format and solver are chosen automatically; the
// preconditioner is the default, Jacobi.
// Compile: in your CMakeLists.txt find_package(newel), target_link_libraries(program PRIVATE newel::newel); here
// the target 01_first_solve.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include <newel/newel.hpp>

using namespace newel;

int main() {
  // The matrix, row by row, columns ascending; the load; the known solution.
  const Index n = 100;
  const double h = 1.0 / (n + 1);
  std::vector<Index> row_ptr{0}, col;
  std::vector<double> val, b, exact;
  const auto entry = [&](Index column, double value) {
    col.push_back(column);
    val.push_back(value);
  };
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      const Index row = j * n + i;
      if (j > 0) entry(row - n, -1);
      if (i > 0) entry(row - 1, -1);
      entry(row, 4);
      if (i < n - 1) entry(row + 1, -1);
      if (j < n - 1) entry(row + n, -1);
      row_ptr.push_back(static_cast<Index>(col.size()));
      const double x = (i + 1) * h, y = (j + 1) * h;
      b.push_back(h * h * 2 * (x * (1 - x) + y * (1 - y)));
      exact.push_back(x * (1 - x) * y * (1 - y));
    }
  }

  // Set up once, solve from the guess in u.
  const Context<Space::host> ctx;  // as many threads as the machine has processors
  SystemOptions options;
  options.stop.rel_tol = 1e-10;
  LinearSystem<double, Space::host> system(ctx, {n * n, n * n, row_ptr, col, val}, options);
  std::vector<double> u(b.size(), 0.0);
  const SolveReport report = system.solve(b, u);

  // The program's own judgement of u.
  double squares = 0, squares_b = 0, error = 0;
  for (Index i = 0; i < n * n; ++i) {
    double r = b[i];
    for (Index k = row_ptr[i]; k < row_ptr[i + 1]; ++k) r -= val[k] * u[col[k]];
    squares += r * r;
    squares_b += b[i] * b[i];
    error = std::max(error, std::fabs(u[i] - exact[i]));
  }
  const double residual = std::sqrt(squares / squares_b);
  const SystemInfo info = system.info();
  std::printf("matrix as %s, preconditioner %s, solver %s\n", info.matrix.name.c_str(),
              info.preconditioner.name.c_str(), info.solver.c_str());
  std::printf("%s after %d iterations, |b - A u| / |b| = %.1e, error %.1e\n", name_of(report.status).data(),
              report.iterations, residual, error);
  // The error is at most |r| over the smallest eigenvalue, which is more than 19 h^2, and |b| less than n h^2.
  return report.converged() && residual < 2e-10 && error < 2e-10 * n / 19 ? 0 : 1;
}
