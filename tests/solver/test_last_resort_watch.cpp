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

bool was_overdue(const SolveReport& report) {
  return std::any_of(report.attempts.begin(), report.attempts.end(),
                     [](const Attempt& tried) { return tried.failure.cause == Cause::slower_than_factors; });
}

}  // namespace

TEST_CASE("A solve that crawls ends when factors take half of its time, and they solve the system",
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

TEST_CASE("Solves that are named, or that CG gets done, are not ended for factors", "[direct][auto][watch]") {
  const Context<Space::host> ctx;
  const Index n = 6000;
  const auto b = noise(n, 2);
  SystemOf<double, Space::host> named(ctx, shifted_chain(n, 0.7), system_options("minres", "auto", "auto"));
  CHECK_FALSE(was_overdue(run_system(ctx, named, b).report));
  SystemOf<double, Space::host> definite(ctx, shifted_chain(n, 0), SystemOptions{});
  const auto found = run_system(ctx, definite, b);
  CHECK_FALSE(was_overdue(found.report));
  CHECK(found.report.attempts.front().solver == "cg");
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
  const Context<Space::host> ctx;
  const Index n = 3000;
  Rows a = shifted_chain(n, 0.7);  // eigenvalues on both sides of zero; and a row of its own that depends on another
  for (const Index j : {n - 2, n - 1}) a.at(n - 1, j) = a.at(n - 2, j);
  a.row[static_cast<std::size_t>(n - 2)] = a.row[static_cast<std::size_t>(n - 1)];
  const auto x = noise(n, 3);
  const auto b = a.rhs_for(x);
  SystemOf<double, Space::host> system(ctx, a, SystemOptions{});
  const auto found = run_system(ctx, system, b);
  INFO(found.report.reason);
  for (const Attempt& tried : found.report.attempts) INFO(tried.solver << ": " << tried.reason);
  if (was_overdue(found.report)) {
    // Either it is solved after the factors have failed, or they give the reason in the end.
    CHECK((found.report.converged() || found.report.failure.cause == Cause::singular));
    CHECK(found.report.attempts.size() >= 3);
  }
  CHECK(found.report.iterations <= StopCriterion{}.max_iterations);
  if (found.report.converged()) CHECK(true_residual(a, b, found.x) <= 1e-8 * norm(b));
}
