// SPDX-License-Identifier: Apache-2.0
// A symmetric matrix with a negative diagonal is solved with its signs changed, as the positive one would be.
#include "tests/solver/systems.hpp"

namespace {

Rows negative(Rows a) {
  for (auto& row : a.row) {
    for (auto& [j, value] : row) value = -value;
  }
  return a;
}

std::vector<double> negative(std::vector<double> v) {
  for (double& value : v) value = -value;
  return v;
}

}  // namespace

TEST_BOTH("A negative definite matrix has the bits of the positive one, and its reports", "[negated][auto]") {
  const Rows a = laplacian(30);
  const auto b = noise(a.size(), 3), guess = noise(a.size(), 4);
  SystemOf<double, S> positive(ctx, a), system(ctx, negative(a));
  CHECK(system.info().solver == "cg");
  CHECK(contains(system.info().solver_reason, "-A x = -b"));
  CHECK_FALSE(contains(positive.info().solver_reason, "-b"));
  for (const auto& from : {std::vector<double>{}, guess}) {
    const auto expected = run_system(ctx, positive, b, from);
    const auto found = run_system(ctx, system, negative(b), from);
    CHECK(found.report.converged());
    CHECK(found.report.iterations == expected.report.iterations);
    CHECK((found.x == expected.x));
    CHECK(found.report.rhs_norm == Approx(norm(b)));
    CHECK(found.report.true_residual == Approx(true_residual(a, b, found.x)).epsilon(1e-6));
    CHECK(found.report.true_residual <= 1.001e-8 * norm(b));
  }
}

TEST_BOTH("New values and columns of a negative definite matrix are those of the caller", "[negated][auto]") {
  const Rows a = negative(laplacian(20)), other = negative(laplacian(20, 0, 0.5));
  SystemOf<double, S> system(ctx, a);
  refresh(ctx, system, other);
  const Index columns = 2;
  const auto b = noise(columns * a.size(), 5);
  const auto bs = make_array(ctx, b);
  auto xs = make_array(ctx, std::vector<double>(b.size(), 0.0));
  const auto reports = system.solve_columns(bs.cspan(), xs.span(), columns);
  const auto x = to_vector(ctx, xs.cspan());
  for (Index c = 0; c < columns; ++c) {
    const auto of = [&](const std::vector<double>& v) {
      return std::vector<double>(v.begin() + c * a.size(), v.begin() + (c + 1) * a.size());
    };
    CHECK(reports[static_cast<std::size_t>(c)].converged());
    CHECK(true_residual(other, of(b), of(x)) <= 1.001e-8 * norm(of(b)));
  }
}

TEST_CASE("A negative definite matrix gets what positive ones get, and its decision is kept", "[negated][auto]") {
  const Context<Space::host> ctx;
  const Rows a = negative(laplacian(100));
  const auto b = noise(a.size(), 6);
  SystemOf<double, Space::host> system(ctx, a, system_options("auto", "amg", "auto"));
  const auto found = run_system(ctx, system, b);
  CHECK(found.report.converged());
  CHECK(found.report.iterations < 40);
  SystemOptions resumed = system_options("auto", "amg", "auto");
  resumed.decision = decision_of(json_of(system.history().decision()));
  SystemOf<double, Space::host> again(ctx, a, resumed);
  CHECK((run_system(ctx, again, b).x == found.x));
}

TEST_CASE("Only a symmetric matrix without a positive diagonal entry changes its signs", "[negated][auto]") {
  const Context<Space::host> ctx;
  const auto solver = [&](const Rows& a, const char* name = "auto") {
    return SystemOf<double, Space::host>(ctx, a, system_options(name, "auto", "auto")).info().solver;
  };
  Rows mixed = negative(laplacian(10));
  mixed.at(50, 50) = 1;
  CHECK(solver(mixed) == "minres");
  CHECK(solver(negative(laplacian(10)), "minres") == "minres");
  CHECK(solver(negative(laplacian(10, 0.5))) == "bicgstab");
  CHECK(solver(negative(laplacian(10))) == "cg");
  // Indefinite all the same: CG fails, and others follow.
  const Rows indefinite = negative(laplacian(10, 0, -2.5));
  const auto b = noise(indefinite.size(), 7);
  SystemOf<double, Space::host> system(ctx, indefinite);
  const auto found = run_system(ctx, system, b);
  CHECK(found.report.converged());
  CHECK(found.report.attempts.size() > 1);
  CHECK(true_residual(indefinite, b, found.x) <= 1.001e-8 * norm(b));
}
