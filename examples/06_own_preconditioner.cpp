// SPDX-License-Identifier: Apache-2.0
// 06  A preconditioner of one's own: heat in a square of a layered material that conducts well along its layers only,
//
//         -u_xx - e u_yy = f   on the unit square, e = 0.001,      u = 0 on its edge
//
// Finite differences on n x n interior points, h = 1 / (n + 1), multiplied by h^2:
//
//         (2 + 2 e) u_ij - u_(i-1)j - u_(i+1)j - e u_i(j-1) - e u_i(j+1) = h^2 f_ij
//
// Almost all of A is its coupling along the lines j = constant, a tridiagonal matrix T of each line:
// (-1, 2 + 2 e, -1). M takes the inverse of T in every line, by the elimination T = L D L^T:
//
//         d_0 = 2 + 2 e,   d_i = 2 + 2 e - 1 / d_(i-1);      then forward, divide by d, and backward
//
// T is symmetric positive definite, and so is M: CG may use it. f is that of u = x (1 - x) y (1 - y), for which the
// differences are exact.
//
// Shows: SystemParts::preconditioner, a LinearOperator close to the inverse of A, in the caller's numbering. The
// program compares it with the library's Jacobi. (SystemParts::make_preconditioner takes a factory instead, which
// gets the matrix in the order of a format that renumbers.)
// Compile: as 01; here the target 06_own_preconditioner.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include <newel/newel.hpp>

using namespace newel;
constexpr Space host = Space::host;
constexpr Index n = 200;
constexpr double e = 1e-3, rel_tol = 1e-10, h = 1.0 / (n + 1);

class LineSolver final : public LinearOperator<double, host> {
 public:
  LineSolver() : d_(n, 2 + 2 * e), line_(n) {
    for (std::size_t i = 1; i < n; ++i) d_[i] -= 1 / d_[i - 1];
  }
  Index rows() const override { return n * n; }
  Index cols() const override { return n * n; }
  // y = alpha M x + beta y. With beta = 0, y is not read: it may hold anything.
  void apply(const Context<host>&, double alpha, Span<const double, host> x, double beta,
             Span<double, host> y) const override {
    for (Index begin = 0; begin < n * n; begin += n) {
      for (Index i = 0; i < n; ++i) line_[i] = x[begin + i] + (i > 0 ? line_[i - 1] / d_[i - 1] : 0);
      for (Index i = n - 1; i >= 0; --i) line_[i] = (line_[i] + (i < n - 1 ? line_[i + 1] : 0)) / d_[i];
      for (Index i = 0; i < n; ++i) y[begin + i] = alpha * line_[i] + (beta == 0 ? 0 : beta * y[begin + i]);
    }
  }

 private:
  std::vector<double> d_;
  mutable std::vector<double> line_;  // an apply allocates nothing; one thread at a time uses a system
};

int main() {
  std::vector<Index> row_ptr{0}, col;
  std::vector<double> val, b, exact;
  const auto entry = [&](Index column, double value) {
    col.push_back(column);
    val.push_back(value);
  };
  for (Index row = 0; row < n * n; ++row) {
    const Index i = row % n, j = row / n;
    if (j > 0) entry(row - n, -e);
    if (i > 0) entry(row - 1, -1);
    entry(row, 2 + 2 * e);
    if (i < n - 1) entry(row + 1, -1);
    if (j < n - 1) entry(row + n, -e);
    row_ptr.push_back(static_cast<Index>(col.size()));
    const double x = (i + 1) * h, y = (j + 1) * h;
    b.push_back(h * h * 2 * (y * (1 - y) + e * x * (1 - x)));
    exact.push_back(x * (1 - x) * y * (1 - y));
  }

  const Context<host> ctx;
  SystemOptions options;
  options.solver.name = "cg";
  options.precond.name = "jacobi";  // not used where the caller brings M
  options.stop.rel_tol = rel_tol;
  SystemParts<double, host> own;
  own.preconditioner = std::make_shared<LineSolver>();

  int iterations[2] = {};
  for (const bool lines : {false, true}) {
    LinearSystem<double, host> system(ctx, {n * n, n * n, row_ptr, col, val}, options,
                                      lines ? own : SystemParts<double, host>{});
    std::vector<double> u(b.size(), 0.0);
    const SolveReport report = system.solve(b, u);
    double error = 0;
    for (Index i = 0; i < n * n; ++i) error = std::max(error, std::fabs(u[i] - exact[i]));
    std::printf("%s: %s after %d iterations, error %.1e\n", lines ? "lines" : "Jacobi", name_of(report.status).data(),
                report.iterations, error);
    if (!report.converged() || error > 1e-8) return 1;
    iterations[lines] = report.iterations;
  }
  return iterations[true] < iterations[false] ? 0 : 1;
}
