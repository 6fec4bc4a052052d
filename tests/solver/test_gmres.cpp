// SPDX-License-Identifier: Apache-2.0
// GMRES: minimal residuals, restarts, both sides, happy breakdown, stagnation.
#include "tests/catch.hpp"
#include "tests/solver/systems.hpp"

#include <purlin/solver/gmres.hpp>

using namespace purlin;
using namespace purlin::testing;

namespace {

template <Space S>
Solved<double, S> run_gmres(const Rows& a, const std::vector<double>& b, int restart, bool left, bool precondition,
                            StopCriterion stop = {}) {
  const Context<S> ctx;
  const Arrays<double, S> arrays(ctx, a);
  const auto A = make_spmv(ctx, arrays.view(), RowOrder<S>{}, SpmvOptions{});
  const auto M =
      precondition ? make_precond(ctx, arrays.view(), RowOrder<S>{}, PrecondOptions{}, SpmvOptions{}) : nullptr;
  Gmres<double, S> solver(ctx, a.size(), restart, left);
  return run_solver<double, S>(ctx, solver, *A, M.get(), b, stop);
}

}  // namespace

TEST_BOTH("full GMRES ends within n iterations and its residuals never grow", "[solver][gmres]") {
  const Rows a = laplacian(6, 0.7);
  const auto b = a.rhs_for(noise(36));
  StopCriterion stop;
  stop.rel_tol = 1e-12;
  const auto run = run_gmres<S>(a, b, 50, false, false, stop);
  CHECK(run.report.converged());
  CHECK(run.report.iterations <= 36);
  CHECK(run.report.restarts == 0);
  for (std::size_t k = 1; k < run.report.history.size(); ++k) {
    CHECK(run.report.history[k] <= run.report.history[k - 1] * (1 + 1e-12));
  }
}

TEST_BOTH("GMRES needs one iteration for the identity and two for two eigenvalues", "[solver][gmres]") {
  Rows a(40);
  for (Index i = 0; i < 40; ++i) a.at(i, i) = 3;
  CHECK(run_gmres<S>(a, noise(40), 30, false, false).report.iterations == 1);
  for (Index i = 0; i < 20; ++i) a.at(i, i) = 5;
  const auto run = run_gmres<S>(a, noise(40), 30, false, false);
  CHECK(run.report.converged());
  CHECK(run.report.iterations == 2);
}

TEST_BOTH("restarted GMRES from the left and from the right reach the same solution", "[solver][gmres]") {
  Rows a = laplacian(15, 0.5);
  for (Index i = 0; i < a.size(); ++i) {  // badly scaled rows: |M r| and |r| differ by orders of magnitude
    const double scale = std::pow(10.0, i % 5 - 2);
    for (auto& [j, value] : a.row[static_cast<std::size_t>(i)]) value *= scale;
  }
  const auto b = a.rhs_for(noise(a.size()));
  StopCriterion stop;
  stop.rel_tol = 1e-10;
  for (const bool left : {false, true}) {
    const auto run = run_gmres<S>(a, b, 12, left, true, stop);
    INFO("left " << left << " " << run.report.reason);
    CHECK(run.report.status == Status::converged);
    CHECK(run.report.restarts > 0);
    CHECK(true_residual<double>(a, b, run.x) <= 1e-10 * norm(b) * (1 + 1e-6));
  }
}

TEST_BOTH("GMRES says stagnation after two cycles without gain", "[solver][gmres]") {
  // A cyclic shift: the residual does not fall before step n.
  constexpr Index n = 24;
  Rows a(n);
  for (Index i = 0; i < n; ++i) a.at(i, (i + 1) % n) = 1;
  std::vector<double> b(n, 0.0);
  b[0] = 1;
  const auto stuck = run_gmres<S>(a, b, 8, false, false);
  CHECK(stuck.report.status == Status::stagnation);
  CHECK(stuck.report.iterations == 16);
  CHECK(stuck.report.true_residual == Approx(1.0));
  const auto whole = run_gmres<S>(a, b, n, false, false);
  CHECK(whole.report.converged());
  CHECK(whole.report.iterations == n);
}

TEST_BOTH("GMRES solves a consistent singular system and says breakdown of an inconsistent one", "[solver][gmres]") {
  Rows a(6);
  for (Index i = 0; i < 5; ++i) a.at(i, i) = 1 + i;
  a.at(5, 5) = 0;
  const auto consistent = run_gmres<S>(a, {1, 2, 3, 4, 5, 0}, 10, false, false);
  CHECK(consistent.report.converged());
  const auto inconsistent = run_gmres<S>(a, {1, 2, 3, 4, 5, 6}, 10, false, false);
  CHECK_FALSE(inconsistent.report.converged());
  CHECK((inconsistent.report.status == Status::breakdown || inconsistent.report.status == Status::stagnation));
  CHECK(inconsistent.report.true_residual == Approx(6).epsilon(1e-8));
}

TEST_BOTH("Gram-Schmidt runs again where the first pass loses digits, and counts it", "[solver][gmres]") {
  // Nearly parallel Krylov vectors: A = I + small.
  Rows a = laplacian(8, 0.2);
  for (Index i = 0; i < a.size(); ++i) {
    for (auto& [j, value] : a.row[static_cast<std::size_t>(i)]) value = 1e-3 * value + (j == i ? 1 : 0);
  }
  StopCriterion stop;
  stop.rel_tol = 1e-14;
  const auto b = a.rhs_for(noise(64));
  const auto run = run_gmres<S>(a, b, 30, false, false, stop);
  CHECK(run.report.converged());
  CHECK(run.report.second_passes > 0);
  CHECK(true_residual<double>(a, b, run.x) <= 2e-14 * norm(b));
}
