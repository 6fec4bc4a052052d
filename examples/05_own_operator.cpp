// SPDX-License-Identifier: Apache-2.0
// 05  A matrix that is stored nowhere: heat in a cube that loses some to its surroundings, more the higher,
//
//         -u_xx - u_yy - u_zz + c u = f   in the unit cube, c = 1e5 z,      u = 0 on its surface
//
// Finite differences on k x k x k interior points, h = 1 / (k + 1), multiplied by h^2: 6 + h^2 c at the point itself,
// -1 at its six neighbours. f is that of u = x (1 - x) y (1 - y) z (1 - z), for which the differences are exact: the
// program compares with it.
//
// Shows: LinearSystem with an operator in the place of a matrix, once as a lambda, and once as a class that also
// knows its diagonal, so that Jacobi works. docs/own-operator.md explains it.
// An argument names a file for the residuals of both solves, a line each, for a plot.
// Compile: as 01; here the target 05_own_operator.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <vector>

#include <newel/newel.hpp>

using namespace newel;
constexpr Space host = Space::host;
constexpr Index k = 40, n = k * k * k;
constexpr double h = 1.0 / (k + 1);

double loss(Index i) { return 1e5 * h * (1 + i / (k * k)); }

// y = alpha A x + beta y. With beta = 0, y is not read. The loop may run on threads of your own.
void apply_cube(double alpha, const double* x, double beta, double* y) {
  for (Index i = 0; i < n; ++i) {
    double sum = (6 + h * h * loss(i)) * x[i];
    for (const Index step : {1, k, k * k}) {
      const Index place = i / step % k;
      if (place > 0) sum -= x[i - step];
      if (place + 1 < k) sum -= x[i + step];
    }
    y[i] = beta == 0 ? alpha * sum : alpha * sum + beta * y[i];
  }
}

// A class can do more than a lambda: tell the diagonal of its matrix, or that it may be captured in a CUDA graph.
class Cube final : public LinearOperator<double, host> {
 public:
  Index rows() const override { return n; }
  Index cols() const override { return n; }
  void apply(const Context<host>&, double alpha, Span<const double, host> x, double beta,
             Span<double, host> y) const override {
    apply_cube(alpha, x.data, beta, y.data);
  }
  bool matrix_diagonal(const Context<host>&, Span<double, host> d) const override {
    for (Index i = 0; i < n; ++i) d[i] = 6 + h * h * loss(i);
    return true;
  }
};

// Solves from zero; returns the iterations, or -1 where the result is wrong.
int solve(LinearSystem<double, host>& system, const std::vector<double>& b, const std::vector<double>& exact,
          std::ofstream& residuals) {
  std::vector<double> u(b.size(), 0.0);
  const SolveReport report = system.solve(b, u);
  double error = 0;
  for (std::size_t i = 0; i < u.size(); ++i) error = std::max(error, std::fabs(u[i] - exact[i]));
  std::printf("%s with preconditioner %s: %s after %d iterations, error %.1e\n", report.solver.c_str(),
              system.info().preconditioner.name.c_str(), name_of(report.status).data(), report.iterations, error);
  for (const double residual : report.history) residuals << residual << ' ';
  residuals << '\n';
  // At most |r| over the smallest eigenvalue, which is more than 29 h^2; |b| is less than 253 h^2 max f, f < 1600.
  return report.converged() && error < 1e-10 * 253 * 1600 / 29 ? report.iterations : -1;
}

int main(int argc, char** argv) {
  std::vector<double> b, exact;
  const auto arch = [](Index i) { return h * (i + 1) * (1 - h * (i + 1)); };  // x (1 - x)
  for (Index i = 0; i < n; ++i) {
    const double x = arch(i % k), y = arch(i / k % k), z = arch(i / (k * k));
    exact.push_back(x * y * z);
    b.push_back(h * h * (2 * (y * z + x * z + x * y) + loss(i) * x * y * z));
  }
  std::ofstream residuals;
  if (argc > 1) residuals.open(argv[1]);
  const Context<host> ctx;
  SystemOptions options;
  options.precond.name = "auto";  // Jacobi where the operator tells its diagonal, else none
  options.stop.rel_tol = 1e-10;

  const auto lambda = std::make_shared<FunctionOperator<double, host>>(
      n, n, [](const Context<host>&, double alpha, auto x, double beta, auto y) {
        apply_cube(alpha, x.data, beta, y.data);
      });
  LinearSystem<double, host> plain(ctx, lambda, options);
  const int without = solve(plain, b, exact, residuals);

  const Cube cube;
  LinearSystem<double, host> system(ctx, borrowed<LinearOperator<double, host>>(cube), options);
  const int with_jacobi = solve(system, b, exact, residuals);
  return without > 0 && with_jacobi > 0 && with_jacobi < without ? 0 : 1;
}
