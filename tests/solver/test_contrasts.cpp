// SPDX-License-Identifier: Apache-2.0
// Contrasts and penalties inside a matrix: rounding is not called a property of it, and x is right.
#include "tests/solver/reported_systems.hpp"

#include <Eigen/SparseCholesky>

namespace {

// Of a symmetric definite matrix, by an L D L^T of Eigen's.
std::vector<double> direct_solution(const ReportedSystem& s) {
  std::vector<Eigen::Triplet<double>> entries;
  for (Index i = 0; i < s.a.size(); ++i) {
    for (const auto& [j, value] : s.a.row[static_cast<std::size_t>(i)]) entries.emplace_back(i, j, value);
  }
  Eigen::SparseMatrix<double> a(s.a.size(), s.a.size());
  a.setFromTriplets(entries.begin(), entries.end());
  const Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> factors(a);
  const Eigen::VectorXd x = factors.solve(Eigen::Map<const Eigen::VectorXd>(s.b.data(), s.a.size()));
  return {x.data(), x.data() + x.size()};
}

double distance(std::vector<double> x, const std::vector<double>& y) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] -= y[i];
  return norm(x) / norm(y);
}

// What must never be said of a definite matrix.
void check_no_false_word(const SolveReport& report) {
  INFO(name_of(report.status) << ": " << report.reason);
  CHECK(report.status != Status::diverged);
  CHECK(report.status != Status::not_positive_definite);
  CHECK_FALSE(contains(report.reason, "not symmetric"));
  for (const Attempt& attempt : report.attempts) CHECK_FALSE(contains(attempt.reason, "not symmetric"));
}

Solved<double, Space::host> solve(const ReportedSystem& s, const std::string& solver, const std::string& precond,
                                  double rtol = 1e-8) {
  const Context<Space::host> ctx(1);
  SystemOptions options = system_options(solver, precond, "auto", rtol);
  const Arrays<double, Space::host> arrays(ctx, s.a);
  LinearSystem<double, Space::host> system(ctx, arrays.view(), options);
  return run_system(ctx, system, s.b);
}

}  // namespace

TEST_CASE("A chain of springs with a contrast of 1e8 is solved to rounding, and not called unsymmetric",
          "[solver][contrast]") {
  const SpringChain chain(1e8);
  CHECK(norm(chain.x) == Approx(118.148193).epsilon(1e-6));
  for (const std::string precond : {"fsai", "jacobi", "none"}) {
    INFO(precond);
    const auto solved = solve(chain, "cg", precond);
    check_no_false_word(solved.report);
    if (precond == "fsai") CHECK(distance(solved.x, chain.x) < 1e-5);
  }
  const auto by_default = solve(chain, "auto", "auto");
  check_no_false_word(by_default.report);
  CHECK(distance(by_default.x, chain.x) < 1e-5);
}

TEST_CASE("An inclusion with a contrast of 1e10 is solved by CG with AMG to what rounding allows",
          "[solver][contrast]") {
  const ReportedSystem s = inclusion(40, 1e10);
  const auto solved = solve(s, "cg", "amg");
  check_no_false_word(solved.report);
  CHECK(distance(solved.x, direct_solution(s)) < 1e-3);
  CHECK(true_residual<double>(s.a, s.b, solved.x) < 1e-2 * norm(s.b));
}

TEST_CASE("An inclusion with a contrast of 1e8 takes AMG as few iterations as in double", "[solver][contrast]") {
  const ReportedSystem s = inclusion(32, 1e8);
  const auto solved = solve(s, "cg", "amg", 1e-4);
  check_no_false_word(solved.report);
  CHECK(solved.report.converged());
  CHECK(solved.report.iterations <= 20);  // 6 in double
  CHECK(true_residual<double>(s.a, s.b, solved.x) <= 1e-4 * norm(s.b));
}

TEST_CASE("Where rounding keeps a definite system above the tolerance, that is the reason by default",
          "[solver][contrast]") {
  const ReportedSystem s = inclusion(32, 1e8);
  const auto solved = solve(s, "auto", "auto");
  check_no_false_word(solved.report);
  CHECK(solved.report.status == Status::stagnation);
  CHECK(solved.report.failure.cause == Cause::rounding_of_x);
  CHECK(distance(solved.x, direct_solution(s)) < 1e-3);
}

TEST_CASE("A penalty of 1e20 does not hide that the other rows are not symmetric", "[solver][contrast]") {
  const ReportedSystem s = penalty_convection();
  const Context<Space::host> ctx(1);
  const Arrays<double, Space::host> arrays(ctx, s.a);
  LinearSystem<double, Space::host> system(ctx, arrays.view());
  CHECK(system.info().method != "cg");
  const auto solved = run_system(ctx, system, s.b);
  CHECK(solved.report.converged());
  for (const Attempt& attempt : solved.report.attempts) CHECK(attempt.method != "cg");
  CHECK(true_residual<double>(s.a, s.b, solved.x) <= 1e-8 * norm(s.b));
}

TEST_CASE("A tolerance far below the penalty's rows leads to the right values inside", "[solver][contrast]") {
  const ReportedSystem s = penalty_dirichlet();
  const auto solved = solve(s, "auto", "auto", 1e-25);
  double inside = 0;
  for (Index i = 1; i < 16; ++i) {
    for (Index j = 1; j < 16; ++j) inside += std::pow(solved.x[static_cast<std::size_t>(i * 17 + j)], 2);
  }
  CHECK(std::sqrt(inside) == Approx(2.2346).epsilon(1e-4));  // of a direct solver
}
