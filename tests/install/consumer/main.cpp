// SPDX-License-Identifier: Apache-2.0
/// A user's program: solves -u'' = 1 on 100 points with a LinearSystem and forms the residual itself.
#include <cmath>
#include <cstdio>
#include <vector>

#include <newel/solver/linear_system.hpp>

using newel::Space;

int main() {
  const int n = 100;
  std::vector<std::int32_t> row_ptr{0};
  std::vector<newel::Index> col;
  std::vector<double> val;
  for (int i = 0; i < n; ++i) {
    for (int j = i - 1; j <= i + 1; ++j) {
      if (j < 0 || j >= n) continue;
      col.push_back(j);
      val.push_back(i == j ? 2.0 : -1.0);
    }
    row_ptr.push_back(static_cast<std::int32_t>(col.size()));
  }
  const auto nnz = static_cast<std::int64_t>(col.size());
  const newel::CsrView<double, Space::host> a(n, n,
                                              newel::Span<const std::int32_t, Space::host>(row_ptr.data(), n + 1),
                                              newel::Span<const newel::Index, Space::host>(col.data(), nnz),
                                              newel::Span<const double, Space::host>(val.data(), nnz));

  const newel::Context<Space::host> ctx(1);
  newel::LinearSystem<double, Space::host> system(ctx, a);
  const std::vector<double> b(n, 1.0);
  std::vector<double> x(n, 0.0);
  const auto report = system.solve(newel::Span<const double, Space::host>(b.data(), n),
                                   newel::Span<double, Space::host>(x.data(), n));

  double squares = 0;
  for (int i = 0; i < n; ++i) {
    double r = b[i];
    for (int k = row_ptr[i]; k < row_ptr[i + 1]; ++k) r -= val[k] * x[col[k]];
    squares += r * r;
  }
  const double relative = std::sqrt(squares / n);
  std::printf("%s: %d iterations, relative residual %.2e\n", report.solver.c_str(), report.iterations, relative);
  return report.converged() && relative <= 1e-8 ? 0 : 1;
}
