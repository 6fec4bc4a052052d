// SPDX-License-Identifier: Apache-2.0
// Solves that end because factors of the matrix are expected to be faster.
#include "tests/solver/systems.hpp"

namespace {

// 2 on the diagonal but for a shift, -1 beside it: eigenvalues on both sides of zero, close to each other there.
Rows shifted_chain(Index n, double shift) {
  Rows a(n);
  for (Index i = 0; i < n; ++i) {
    a.at(i, i) = 2 - shift;
    if (i > 0) a.at(i, i - 1) = -1;
    if (i + 1 < n) a.at(i, i + 1) = -1;
  }
  return a;
}

// Flows through the edges of a square grid of pipes, whose resistances differ by nine decades, and heads in its nodes
// but one: symmetric, with zeros on the diagonal.
Rows pipes(Index side) {
  std::vector<std::pair<Index, Index>> edges;
  for (Index i = 0; i < side; ++i) {
    for (Index j = 0; j < side; ++j) {
      const Index node = i * side + j;
      if (j + 1 < side) edges.emplace_back(node, node + 1);
      if (i + 1 < side) edges.emplace_back(node, node + side);
    }
  }
  const auto m = static_cast<Index>(edges.size());
  const auto decades = noise(m, 5);
  Rows a(m + side * side - 1);
  for (Index e = 0; e < m; ++e) {
    a.at(e, e) = std::pow(10.0, -1.5 + 4.5 * decades[static_cast<std::size_t>(e)]);
    const auto couple = [&](Index node, double sign) {
      if (node > 0) a.at(e, m + node - 1) = a.at(m + node - 1, e) = sign;
    };
    couple(edges[static_cast<std::size_t>(e)].first, 1);
    couple(edges[static_cast<std::size_t>(e)].second, -1);
  }
  for (Index row = m; row < a.size(); ++row) a.at(row, row) = 0;
  return a;
}

// A clamped beam by finite differences: the condition number grows with the fourth power of n.
Rows beam(Index n) {
  Rows a(n);
  const double of_distance[] = {6, -4, 1};
  for (Index i = 0; i < n; ++i) {
    for (Index j = std::max(0, i - 2); j < std::min(n, i + 3); ++j) a.at(i, j) = of_distance[std::abs(i - j)];
  }
  return a;
}

bool was_overdue(const SolveReport& report) {
  return std::any_of(report.attempts.begin(), report.attempts.end(),
                     [](const Attempt& tried) { return tried.failure.cause == Cause::slower_than_factors; });
}

}  // namespace

TEST_CASE("A solve that crawls ends when factors take as long as it has, and they solve the system",
          "[direct][auto][watch]") {
  const Context<Space::host> ctx;
  const Index n = 6000;
  const Rows a = shifted_chain(n, 0.7);
  const auto b = noise(n, 2);
  SystemOf<double, Space::host> system(ctx, a, SystemOptions{});
  const auto found = run_system(ctx, system, b);
  INFO(found.report.reason);
  CHECK(found.report.converged());
  CHECK(found.report.solver == "direct");
  CHECK(was_overdue(found.report));
  CHECK(found.report.iterations < n / 2);
  CHECK(true_residual(a, b, found.x) <= 1e-8 * norm(b));
  const Attempt& before = found.report.attempts[found.report.attempts.size() - 2];
  CHECK(before.status == Status::stagnation);
  CHECK(before.reason.find("factors of the matrix") != std::string::npos);
}

// -laplace u - k^2 u on a square: eigenvalues on both sides of zero. MINRES would take thousands of iterations.
TEST_CASE("A wave below its resonances is left to factors early", "[direct][auto][watch]") {
  const Context<Space::host> ctx(1);
  const Index side = 120, n = side * side;
  const double h = 1.0 / (side + 1), k = 30;
  Rows a(n);
  for (Index i = 0; i < side; ++i) {
    for (Index j = 0; j < side; ++j) {
      const Index row = i * side + j;
      a.at(row, row) = 4 - h * h * k * k;
      if (i > 0) a.at(row, row - side) = -1;
      if (i + 1 < side) a.at(row, row + side) = -1;
      if (j > 0) a.at(row, row - 1) = -1;
      if (j + 1 < side) a.at(row, row + 1) = -1;
    }
  }
  const auto b = noise(n, 2);
  SystemOf<double, Space::host> named(ctx, a, system_options("minres", "jacobi", "csr"));
  const int whole = run_system(ctx, named, b).report.iterations;
  SystemOf<double, Space::host> system(ctx, a, SystemOptions{});
  const auto found = run_system(ctx, system, b);
  INFO(found.report.reason << ", of " << whole);
  CHECK(found.report.converged());
  CHECK(found.report.solver == "direct");
  CHECK(was_overdue(found.report));
  CHECK(2 * found.report.iterations < whole);
  CHECK(true_residual(a, b, found.x) <= 1e-8 * norm(b));
}

// The same with damping, in real and imaginary parts. Incomplete factors would follow, and do not help.
TEST_CASE("A damped wave gets factors instead of a preconditioner that takes longer", "[direct][auto][watch]") {
  const Context<Space::host> ctx(1);
  const Index side = 60, n = 2 * side * side;
  const double h = 1.0 / (side + 1), k = 15, damping = 0.05;
  Rows a(n);
  for (Index i = 0; i < side; ++i) {
    for (Index j = 0; j < side; ++j) {
      const Index re = 2 * (i * side + j), im = re + 1;
      a.at(re, re) = a.at(im, im) = 4 - h * h * k * k;
      a.at(re, im) = damping * h * h * k * k;
      a.at(im, re) = -a.at(re, im);
      const auto couple = [&](Index to) {  // with zeros, as the real form of a complex matrix has them
        a.at(re, to) = a.at(im, to + 1) = -1;
        a.at(re, to + 1) = a.at(im, to) = 0;
      };
      if (i > 0) couple(re - 2 * side);
      if (i + 1 < side) couple(re + 2 * side);
      if (j > 0) couple(re - 2);
      if (j + 1 < side) couple(re + 2);
    }
  }
  const auto b = noise(n, 2);
  SystemOf<double, Space::host> system(ctx, a, SystemOptions{});
  const auto found = run_system(ctx, system, b);
  INFO(found.report.reason << " " << found.report.changed);
  CHECK(found.report.converged());
  CHECK(found.report.solver == "direct");
  CHECK(was_overdue(found.report));
  CHECK(found.report.changed.find("ilut") == std::string::npos);
  CHECK(true_residual(a, b, found.x) <= 1e-8 * norm(b));
}

TEST_CASE("Solves that are named are not ended for factors", "[direct][auto][watch]") {
  const Context<Space::host> ctx;
  const Index n = 6000;
  const auto b = noise(n, 2);
  SystemOf<double, Space::host> named(ctx, shifted_chain(n, 0.7), system_options("minres", "auto", "auto"));
  CHECK_FALSE(was_overdue(run_system(ctx, named, b).report));
}

TEST_CASE("CG on few rows gets factors, once it has taken as long as they would", "[direct][auto][watch]") {
  const Context<Space::host> ctx(1);
  const Index n = 3000;
  const Rows a = shifted_chain(n, 0);
  const auto b = noise(n, 2);
  SystemOf<double, Space::host> named(ctx, a, system_options("cg", "jacobi", "csr"));
  const int whole = run_system(ctx, named, b).report.iterations;
  SystemOf<double, Space::host> system(ctx, a, SystemOptions{});
  const auto found = run_system(ctx, system, b);
  INFO(found.report.reason << ", of " << whole);
  CHECK(found.report.attempts.front().solver == "cg");
  CHECK(was_overdue(found.report));
  CHECK(found.report.solver == "direct");
  CHECK(2 * found.report.iterations < whole);
  CHECK(true_residual(a, b, found.x) <= 1e-8 * norm(b));
}

TEST_CASE("CG on many rows is not ended for factors", "[direct][auto][watch]") {
  const Context<Space::host> ctx;
  SystemOf<double, Space::host> definite(ctx, laplacian(80), SystemOptions{});
  const auto found = run_system(ctx, definite, noise(6400, 2));
  CHECK_FALSE(was_overdue(found.report));
  CHECK(found.report.attempts.front().solver == "cg");
}

TEST_CASE("CG on a chain is ended for factors, which hardly fill up, however many rows it has",
          "[direct][auto][watch]") {
  const Context<Space::host> ctx(1);
  const Index n = 20000;
  const Rows a = shifted_chain(n, 0);
  const auto b = noise(n, 2);
  SystemOf<double, Space::host> definite(ctx, a, SystemOptions{});
  const auto found = run_system(ctx, definite, b);
  INFO(found.report.reason);
  CHECK(found.report.attempts.front().solver == "cg");
  CHECK(was_overdue(found.report));
  CHECK(found.report.solver == "direct");
  CHECK(found.report.iterations < 1000);
  CHECK(true_residual(a, b, found.x) <= 1e-8 * norm(b));
}

TEST_CASE("A solve that is about to arrive is not ended for factors", "[direct][auto][watch]") {
  const Context<Space::host> ctx;
  const Index n = 20000;
  Rows a = shifted_chain(n, -0.02);  // definite, and damped, but for one entry that makes it nonsymmetric
  a.at(0, 1) = -0.9;
  const auto b = noise(n, 2);
  SystemOf<double, Space::host> system(ctx, a, SystemOptions{});
  const auto found = run_system(ctx, system, b);
  CHECK(found.report.converged());
  CHECK_FALSE(was_overdue(found.report));
  CHECK(found.report.solver != "direct");
}

TEST_CASE("A singular system that crawls is still solved by iterations if b allows it", "[direct][auto][watch]") {
  const Context<Space::host> ctx(1);
  const Index n = 6000;
  Rows a(n + 2);
  a.row = shifted_chain(n, 0.7).row;
  a.row.resize(static_cast<std::size_t>(n + 2));
  for (const Index i : {n, n + 1}) a.at(i, n) = a.at(i, n + 1) = 1;  // singular
  auto b = noise(n + 2, 2);
  b.back() = b[static_cast<std::size_t>(n)];  // a solution exists
  SystemOf<double, Space::host> system(ctx, a, SystemOptions{});
  const auto found = run_system(ctx, system, b);
  INFO(found.report.reason);
  for (const Attempt& tried : found.report.attempts)
    UNSCOPED_INFO(tried.solver << " " << tried.iterations << ": " << tried.reason << " " << tried.preconditioner);
  REQUIRE(was_overdue(found.report));
  const auto& attempts = found.report.attempts;
  const auto direct =
      std::find_if(attempts.begin(), attempts.end(), [](const Attempt& tried) { return tried.solver == "direct"; });
  REQUIRE(direct != attempts.end());
  CHECK(direct->failure.cause == Cause::singular);
  CHECK(attempts.end() - direct >= 2);
  CHECK(found.report.converged());
  CHECK(found.report.iterations <= StopCriterion{}.max_iterations);
  CHECK(true_residual(a, b, found.x) <= 1e-8 * norm(b));
}

// L D L^T meets a zero pivot at once, and L U takes ten times as long as that is estimated to take.
TEST_CASE("Factors that follow a zero pivot are made as soon as the solve has taken as long as they do",
          "[direct][auto][watch]") {
  const Context<Space::host> ctx(1);
  const Rows a = pipes(30);
  auto b = noise(a.size(), 2);
  SystemOf<double, Space::host> system(ctx, a, SystemOptions{});
  const auto found = run_system(ctx, system, b);
  for (const Attempt& tried : found.report.attempts)
    UNSCOPED_INFO(tried.solver << " " << tried.iterations << ": " << tried.reason << " " << tried.preconditioner);
  CHECK(found.report.converged());
  CHECK(found.report.iterations < StopCriterion{}.max_iterations / 2);
  CHECK(true_residual(a, b, found.x) <= 1e-8 * norm(b));
}

TEST_CASE("CG with the strongest preconditioner is ended for factors that are faster", "[direct][auto][watch]") {
  const Context<Space::host> ctx(1);
  const Index n = 3000;
  const Rows a = beam(n);
  const auto b = noise(n, 2);
  SystemOf<double, Space::host> system(ctx, a, SystemOptions{});
  const auto found = run_system(ctx, system, b);
  for (const Attempt& tried : found.report.attempts)
    UNSCOPED_INFO(tried.solver << " " << tried.iterations << ": " << tried.reason << " " << tried.preconditioner);
  REQUIRE(was_overdue(found.report));
  CHECK(found.report.attempts.front().solver == "cg");
  CHECK(found.report.attempts.back().solver == "direct");
  CHECK(found.report.iterations < n);
  // The residual is that of rounding: what another x could gain is less than the sum of |a_ij| |x_j| in each row
  // says.
  CHECK(found.report.failure.cause == Cause::rounding_of_x);
  for (Index i = 0; i < n; ++i) {
    long double r = b[static_cast<std::size_t>(i)], terms = std::abs(r);
    for (const auto& [j, value] : a.row[static_cast<std::size_t>(i)]) {
      const long double term = static_cast<long double>(value) * found.x[static_cast<std::size_t>(j)];
      r -= term;
      terms += std::abs(term);
    }
    if (!(std::abs(r) <= 1e-13L * terms)) FAIL_CHECK("row " << i);
  }
}
