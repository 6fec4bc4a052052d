// SPDX-License-Identifier: Apache-2.0
// What systems of convection begin with: by how much of it there is, and by its ways.
#include "tests/precond/amg_support.hpp"
#include "tests/solver/problem.hpp"
#include <newel/solver/linear_system.hpp>
#include "solver/cost/convection.hpp"

namespace {

struct Wind {
  double x, y;
};

Wind through(double, double) { return {1, 0.5}; }
Wind around(double x, double y) { return {1 - 2 * y, 2 * x - 1}; }

// Upwind differences of -nu laplace u + wind . grad u on a square of n x n points.
HostCsr upwind_matrix(Index n, double diffusion, Wind (*wind)(double, double)) {
  const double h = 1.0 / (n + 1), nu = diffusion / h;
  MapRows rows(static_cast<std::size_t>(n * n));
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      auto& row = rows[static_cast<std::size_t>(j * n + i)];
      const Wind w = wind((i + 1) * h, (j + 1) * h);
      row[j * n + i] = 4 * nu + std::abs(w.x) + std::abs(w.y);
      if (i > 0) row[j * n + i - 1] = -nu - std::max(w.x, 0.0);
      if (i + 1 < n) row[j * n + i + 1] = -nu - std::max(-w.x, 0.0);
      if (j > 0) row[(j - 1) * n + i] = -nu - std::max(w.y, 0.0);
      if (j + 1 < n) row[(j + 1) * n + i] = -nu - std::max(-w.y, 0.0);
    }
  }
  return from_rows(n * n, rows);
}

// A ring of n rows, each downstream from the one before it, with tails into it and out of it.
HostCsr ring(Index n, Index tail, bool closed) {
  constexpr double down = -1, up = -0.1;
  MapRows rows(static_cast<std::size_t>(n + 2 * tail));
  const auto connect = [&](Index from, Index to) {
    rows[static_cast<std::size_t>(to)][from] = down;
    rows[static_cast<std::size_t>(from)][to] = up;
  };
  for (Index i = 0; i < n + 2 * tail; ++i) rows[static_cast<std::size_t>(i)][i] = 2;
  for (Index i = 0; i + 1 < n; ++i) connect(i, i + 1);
  if (closed) connect(n - 1, 0);
  for (Index i = 0; i < tail; ++i) {
    connect(n + i, i + 1 < tail ? n + i + 1 : 0);
    connect(i == 0 ? n / 2 : n + tail + i - 1, n + tail + i);
  }
  return from_rows(n + 2 * tail, rows);
}

detail::ConvectionTraits traits_of(const HostCsr& a) {
  const Context<Space::host> ctx;
  const Uploaded<double, Space::host> there = upload_matrix<double>(ctx, a);
  return detail::convection_traits(there.wide());
}

SolveReport solved(const Problem<Space::host>& problem) {
  LinearSystem<double, Space::host> system(problem.ctx, problem.there.wide());
  Array<double, Space::host> x(problem.ctx, system.rows());
  const SolveReport report = system.solve(problem.b.cspan(), x.span(), {}, InitialGuess::zero);
  CHECK(report.converged());
  CHECK(residual_norm(problem.a, download(problem.ctx, x), problem.b_host) <= 1.01e-8 * norm_oracle(problem.b_host));
  return report;
}

bool begins_with(const SolveReport& report, const std::string& precond, const std::string& iterations) {
  INFO(report.changed);
  return report.changed.find("preconditioner " + precond + " for jacobi at the beginning, with about " +
                             iterations) == 0;
}

}  // namespace

TEST_CASE("A ring circulates, and what flows into it and out of it does not", "[solver][convection]") {
  const double of_pair = std::sqrt(2 * 0.9 * 0.9 / (1 + 0.1 * 0.1)) / 2;
  for (const Index tail : {0, 5}) {
    const detail::ConvectionTraits closed = traits_of(ring(20, tail, true));
    CHECK(closed.antisymmetric == Approx(of_pair).epsilon(1e-14));
    CHECK(closed.circulating == Approx(20.0 / (20 + 2 * tail)).epsilon(1e-14));
    CHECK(closed.prevails());
    const detail::ConvectionTraits open = traits_of(ring(20, tail, false));
    CHECK(open.antisymmetric == Approx(of_pair).epsilon(1e-14));
    CHECK(open.circulating == 0);
    CHECK_FALSE(open.circulates());
  }
  CHECK(traits_of(ring(20, 5, true)).circulates());
  CHECK_FALSE(traits_of(ring(20, 11, true)).circulates());
}

TEST_CASE("Entries without an opposite are antisymmetric by half", "[solver][convection]") {
  // Of entries 3 and 4 without an opposite, below and above the diagonal: |A - A^T| is sqrt(2) |A|.
  const detail::ConvectionTraits traits = traits_of(from_rows(3, {{{0, 1}, {2, 4}}, {{0, 3}, {1, 1}}, {{2, 1}}}));
  CHECK(traits.antisymmetric == Approx(std::sqrt(0.5)).epsilon(1e-14));
  CHECK(traits_of(from_rows(2, {{{0, 2}, {1, -1}}, {{0, -1}, {1, 2}}})).antisymmetric == 0);
  CHECK(traits_of(from_rows(1, {{{0, 2}}})).antisymmetric == 0);
}

// An iteration carries a value two entries far: through a square takes as many as pay for AMG, through a cube does
// not. Where convection prevails AMG needs more, and incomplete factors few; around a vortex Jacobi takes far more.
TEST_CASE("Convection in a plane begins with AMG, or with factors if it prevails, and in space it does not",
          "[exchange][learning][amg]") {
  // 508 steps, and rows of 4.98 entries in the mean, times 0.28.
  const SolveReport diffusive = solved(Problem<Space::host>(upwind_matrix(255, 1e-2, through)));
  CHECK(begins_with(diffusive, "amg", "710 "));
  CHECK(diffusive.iterations < 30);
  const SolveReport prevailing = solved(Problem<Space::host>(upwind_matrix(255, 1e-3, through)));
  CHECK(begins_with(prevailing, "ilut", "710 "));
  CHECK(prevailing.iterations < 10);
  const SolveReport vortex = solved(Problem<Space::host>(upwind_matrix(120, 1e-4, around)));
  CHECK(begins_with(vortex, "ilut", "3,800 "));
  CHECK(vortex.iterations < 20);
  CHECK(solved(Problem<Space::host>("generate:convection:20:50")).changed.empty());
}

TEST_CASE("A resumed system of convection expects the same", "[exchange][learning][amg]") {
  Problem<Space::host> problem(upwind_matrix(120, 1e-4, around));
  LinearSystem<double, Space::host> system(problem.ctx, problem.there.wide());
  const SolveReport first = system.solve(problem.b.cspan(), problem.x.span(), {}, InitialGuess::zero);
  REQUIRE(begins_with(first, "ilut", ""));
  SystemOptions resumed;
  resumed.decision = decision_of(json_of(system.history().decision()));
  LinearSystem<double, Space::host> other(problem.ctx, problem.there.wide(), resumed);
  const SolveReport second = other.solve(problem.b.cspan(), problem.x.span(), {}, InitialGuess::zero);
  CHECK(other.info().preconditioner.name == "ilut");
  CHECK(second.changed.find("preconditioner") == std::string::npos);
  CHECK(second.iterations <= first.iterations + 2);
}
