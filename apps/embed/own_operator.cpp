// SPDX-License-Identifier: Apache-2.0
// A matrix that is nowhere: heat in a cube, seven points a cell, applied by a loop of one's own. docs/own-operator.md
// explains it.
#include <cmath>
#include <cstdio>
#include <vector>

#include <purlin/core/vector_ops.hpp>
#include <purlin/solver/registry.hpp>

using namespace purlin;
constexpr Space host = Space::host;

namespace {

// y = alpha A x + beta y for the second difference on k^3 cells, zero outside. With beta = 0, y is not read.
void apply_cube(Index k, double alpha, const double* x, double beta, double* y) {
  const Index far[3] = {1, k, k * k};
#pragma omp parallel for schedule(static)
  for (Index i = 0; i < k * k * k; ++i) {
    double sum = 6 * x[i];
    for (const Index step : far) {
      const Index place = i / step % k;
      if (place > 0) sum -= x[i - step];
      if (place + 1 < k) sum -= x[i + step];
    }
    y[i] = beta == 0 ? alpha * sum : alpha * sum + beta * y[i];
  }
}

// A class can do more than a lambda: say what its diagonal is, or that it may be captured in a CUDA graph.
class InverseDiagonal final : public LinearOperator<double, host> {
 public:
  InverseDiagonal(const Context<host>& ctx, const std::vector<double>& diagonal)
      : inverse_(make_array(ctx, diagonal)) {
    for (double& entry : inverse_) entry = 1 / entry;
  }
  Index rows() const override { return static_cast<Index>(inverse_.size()); }
  Index cols() const override { return rows(); }
  void apply(const Context<host>& ctx, double alpha, Span<const double, host> x, double beta,
             Span<double, host> y) const override {
    multiply<double, host>(ctx, alpha, inverse_.cspan(), x, beta, y);
  }
  Span<const double, host> diagonal() const override { return inverse_.cspan(); }

 private:
  Array<double, host> inverse_;
};

}  // namespace

int main() {
  const Index k = 40, n = k * k * k;
  const Context<host> ctx;

  const FunctionOperator<double, host> A(n, n, [k](const Context<host>&, double alpha, auto x, double beta, auto y) {
    apply_cube(k, alpha, x.data, beta, y.data);
  });
  const InverseDiagonal M(ctx, std::vector<double>(static_cast<std::size_t>(n), 6.0));

  SolverOptions options;
  options.name = "cg";
  const auto cg = make_solver<double, host>(ctx, n, options);

  const std::vector<double> b(static_cast<std::size_t>(n), 1.0);
  std::vector<double> x(b.size(), 0.0);
  const SolveReport report = cg->solve(ctx, A, &M, {b.data(), n}, {x.data(), n}, StopCriterion{});
  std::printf("%s in %d iterations, |b - A x| / |b| = %.1e\n", name_of(report.status).data(), report.iterations,
              report.relative(report.true_residual));
  return report.converged() ? 0 : 1;
}
