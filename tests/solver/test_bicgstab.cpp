// SPDX-License-Identifier: Apache-2.0
// BiCGStab: breakdowns are survived or said, and the best iterate is kept.
#include "tests/catch.hpp"
#include "tests/solver/systems.hpp"

#include <purlin/solver/bicgstab.hpp>

using namespace purlin;
using namespace purlin::testing;

TEST_BOTH("BiCGStab says breakdown on a skew-symmetric matrix, after five restarts", "[solver][bicgstab]") {
  // r.A r = 0 for every r: the method cannot take its first step.
  const Context<S> ctx;
  Rows a(2);
  a.at(0, 1) = 1;
  a.at(1, 0) = -1;
  const Arrays<double, S> arrays(ctx, a);
  const auto A = make_spmv(ctx, arrays.view(), RowOrder<S>{}, SpmvOptions{});
  Bicgstab<double, S> solver(ctx, 2);
  const std::vector<double> b = {1, 2};
  const auto run = run_solver<double, S>(ctx, solver, *A, nullptr, b, {});
  CHECK(run.report.status == Status::breakdown);
  CHECK(run.report.restarts == 5);
  CHECK(run.report.true_residual == Approx(true_residual<double>(a, b, run.x)));
  CHECK(run.report.true_residual <= norm(b) * (1 + 1e-12));
}

TEST_BOTH("BiCGStab solves a convection-dominated system", "[solver][bicgstab]") {
  const Context<S> ctx;
  const Rows a = laplacian(30, 0.9);
  const Arrays<double, S> arrays(ctx, a);
  const auto A = make_spmv(ctx, arrays.view(), RowOrder<S>{}, SpmvOptions{});
  const auto M = make_precond(ctx, arrays.view(), RowOrder<S>{}, PrecondOptions{}, SpmvOptions{});
  Bicgstab<double, S> solver(ctx, a.size());
  const auto x = noise(a.size());
  const auto b = a.rhs_for(x);
  StopCriterion stop;
  stop.rel_tol = 1e-11;
  const auto run = run_solver<double, S>(ctx, solver, *A, M.get(), b, stop);
  CHECK(run.report.converged());
  CHECK(true_residual<double>(a, b, run.x) <= 1e-11 * norm(b) * (1 + 1e-6));
}

TEST_BOTH("BiCGStab returns no worse an iterate than the guess when it runs out of iterations",
          "[solver][bicgstab]") {
  const Context<S> ctx;
  // Strongly indefinite: residuals jump above the start.
  Rows a = laplacian(16, 0.5, -3.7);
  const Arrays<double, S> arrays(ctx, a);
  const auto A = make_spmv(ctx, arrays.view(), RowOrder<S>{}, SpmvOptions{});
  Bicgstab<double, S> solver(ctx, a.size());
  const auto b = a.rhs_for(noise(a.size()));
  for (const int most : {3, 20, 57}) {
    StopCriterion stop;
    stop.max_iterations = most;
    const auto run = run_solver<double, S>(ctx, solver, *A, nullptr, b, stop);
    INFO(most << " " << name_of(run.report.status));
    CHECK(true_residual<double>(a, b, run.x) <= norm(b) * (1 + 1e-12));
    CHECK(run.report.true_residual == Approx(true_residual<double>(a, b, run.x)).epsilon(1e-8));
  }
}
