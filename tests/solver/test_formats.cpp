// SPDX-License-Identifier: Apache-2.0
// Every format under the solvers: it converges where csr does, in as many iterations.
#include "tests/spmv/spmv_support.hpp"
#include "tests/solver/options.hpp"

#include <newel/solver/gmres.hpp>
#include <newel/solver/linear_system.hpp>

namespace {

template <Space S>
SolveReport solve_in(const Context<S>& ctx, const HostCsr& a, const std::string& format, const std::string& solver) {
  SystemOptions options = system_options(solver, "auto", format);
  options.solver.of<GmresOptions>().restart = 50;
  options.stop.max_iterations = 3000;
  options.precond.name = "jacobi";  // "auto" may take another beside another format
  const auto there = upload_matrix<double>(ctx, a);
  LinearSystem<double, S> system(ctx, there.wide(), options);
  const SolveReport report = checked_solve(ctx, system, a, product_oracle(a, random_vector<double>(a.rows, 5)));
  CHECK(report.converged());
  return report;
}

// Other formats add in another order; that may move the last iteration, or 2 % of them.
template <Space S>
void check_formats(const HostCsr& a, const std::string& solver) {
  const auto ctx = make_context<S>();
  const int expected = solve_in(ctx, a, "csr", solver).iterations;
  for (const std::string& format : format_names<double, S>()) {
    INFO(format << " with " << solver);
    const int found = solve_in(ctx, a, format, solver).iterations;
    CHECK(std::abs(found - expected) <= std::max(2.0, 0.02 * expected));
  }
}

}  // namespace

TEST_BOTH("In every format CG takes as many iterations as in csr", "[solver][formats]") {
  check_formats<S>(fem_matrix("generate:diffusion:11"), "cg");
  check_formats<S>(fem_matrix("generate:elasticity:6"), "cg");
  check_formats<S>(arrow_matrix(1200), "cg");
}

TEST_BOTH("In every format GMRES takes as many iterations as in csr", "[solver][formats]") {
  check_formats<S>(dominant_matrix(1500), "gmres");
  check_formats<S>(fem_matrix("generate:diffusion:11"), "gmres");
}

TEST_BOTH("In every format BiCGStab converges", "[solver][formats]") {
  for (const std::string& format : format_names<double, S>()) {
    INFO(format);
    solve_in(ctx, dominant_matrix(1500), format, "bicgstab");
  }
}

TEST_BOTH("In every format eight right-hand sides at once take as many iterations as one alone",
          "[solver][formats][columns]") {
  const HostCsr a = fem_matrix("generate:elasticity:6");
  const auto there = upload_matrix<double>(ctx, a);
  const std::int64_t n = a.rows;
  std::vector<double> b;
  for (std::uint64_t c = 0; c < 8; ++c) {
    const auto column = product_oracle(a, random_vector<double>(n, c + 1));
    b.insert(b.end(), column.begin(), column.end());
  }
  const auto bs = upload(ctx, b);
  for (const std::string& format : format_names<double, S>()) {
    INFO(format);
    SystemOptions options = system_options("cg", "auto", format);
    LinearSystem<double, S> system(ctx, there.wide(), options);
    auto xs = upload(ctx, std::vector<double>(b.size(), 0.0));
    const auto reports = system.solve_columns(bs.cspan(), xs.span(), 8);
    const auto x = download(ctx, xs);
    for (std::int64_t c = 0; c < 8; ++c) {
      const std::vector<double> x_c(x.begin() + c * n, x.begin() + (c + 1) * n);
      const std::vector<double> b_c(b.begin() + c * n, b.begin() + (c + 1) * n);
      CHECK(reports[c].converged());
      CHECK(residual_norm(a, x_c, b_c) <= 1.01 * options.stop.rel_tol * norm_oracle(b_c));
      auto x_alone = upload(ctx, std::vector<double>(static_cast<std::size_t>(n), 0.0));
      const int alone = system.solve(bs.cspan().subspan(c * n, n), x_alone.span()).iterations;
      CHECK(std::abs(reports[c].iterations - alone) <= (S == Space::host ? 0 : std::max(2.0, 0.02 * alone)));
    }
  }
}
