// SPDX-License-Identifier: Apache-2.0
// Systems that have no solution, from public reports: what a solve says of them, against their least residual.
#include "tests/solver/systems.hpp"

namespace {

struct Unsolvable {
  std::string name;
  Rows a;
  std::vector<double> b;
  double least;           // of |b - A x| / |b| over all x
  std::vector<double> x;  // the shortest with that residual; empty: not asked for
};

Rows dense(const std::vector<std::vector<double>>& rows) {
  Rows a(static_cast<Index>(rows.size()));
  for (Index i = 0; i < a.size(); ++i) {
    for (Index j = 0; j < a.size(); ++j) {
      a.at(i, j) = rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
    }
  }
  return a;
}

// The first two are Laplacians, whose range is what sums to zero: least = |sum b| / (sqrt(n) |b|).
std::vector<Unsolvable> unsolvable() {
  Rows stored_zero(4);
  for (Index i = 0; i < 4; ++i) stored_zero.at(i, i) = i < 3 ? i + 1 : 0;
  Rows arrow(5);  // row and column 4 are 3/4 of row and column 5
  arrow.at(0, 0) = arrow.at(1, 1) = 4;
  arrow.at(2, 2) = 8;
  arrow.at(2, 3) = arrow.at(3, 2) = -3;
  arrow.at(2, 4) = arrow.at(4, 2) = -4;
  return {{"laplacian3", dense({{5, -3, -2}, {-3, 4, -1}, {-2, -1, 3}}), {1, 1, 1}, 1, {}},
          {"laplacian4",
           dense({{3, -1, -1, -1}, {-1, 3, -1, -1}, {-1, -1, 3, -1}, {-1, -1, -1, 3}}),
           {1, 0, 0, 0},
           0.5,
           {0.1875, -0.0625, -0.0625, -0.0625}},
          {"a row of zeros", stored_zero, {1, 1, 1, 1}, 0.5, {}},
          // |(-7, -11).(4, -3)| / (5 |b|), and 3 x4 + 4 x5 = 8 x3
          {"5x5", arrow, {0, 0, 0, -7, -11}, 1 / std::sqrt(170.0), {0, 0, 2.6, 2.496, 3.328}}};
}

}  // namespace

TEST_BOTH("No choice of parts and precision calls a system converged that has no solution", "[solver][unsolvable]") {
  for (const Unsolvable& s : unsolvable()) {
    const Arrays<double, S> arrays(ctx, s.a);
    for (const std::string solver : {"auto", "cg", "bicgstab", "gmres"}) {
      for (const std::string precond : {"auto", "none", "jacobi"}) {
        for (const bool mixed : {false, true}) {
          SystemOptions options = system_options(solver, precond);
          options.mixed = mixed;
          INFO(s.name << ", " << solver << ", " << precond << (mixed ? ", mixed" : ""));
          std::optional<LinearSystem<double, S>> system;
          try {
            system.emplace(ctx, arrays.view(), options);
          } catch (const InputError&) {  // Jacobi needs a diagonal without zeros
            CHECK(precond == "jacobi");
            continue;
          }
          const auto solved = run_system(ctx, *system, s.b);
          INFO(solved.report.reason << ", reported " << solved.report.true_residual / norm(s.b));
          CHECK_FALSE(solved.report.converged());
          // Rounding of x leaves the range of A no more than the products of x's digits do.
          CHECK(true_residual<double>(s.a, s.b, solved.x) >= s.least * norm(s.b) * 0.9);
          CHECK(solved.report.true_residual >= s.least * norm(s.b) * 0.9);
        }
      }
    }
  }
}

TEST_CASE("By default a system without a solution ends so after few iterations, with the least residual",
          "[solver][unsolvable]") {
  const Context<Space::host> ctx(1);
  for (const Unsolvable& s : unsolvable()) {
    const Arrays<double, Space::host> arrays(ctx, s.a);
    LinearSystem<double, Space::host> system(ctx, arrays.view());
    const auto solved = run_system(ctx, system, s.b);
    INFO(s.name << ": " << name_of(solved.report.status) << ", " << solved.report.reason);
    const bool by_factors = solved.report.failure.cause == Cause::singular && solved.report.failure.level > 0;
    CHECK(solved.report.status == (by_factors ? Status::breakdown : Status::stagnation));
    CHECK(solved.report.failure.cause != Cause::rounding);
    CHECK(solved.report.iterations <= 100);
    CHECK(solved.report.true_residual == Approx(true_residual<double>(s.a, s.b, solved.x)).epsilon(1e-9));
    CHECK(solved.report.true_residual >= s.least * norm(s.b) * (1 - 1e-9));
    // A least-squares x where the last method was GMRES, or factors showed that there is no solution.
    const bool by_gmres = solved.report.method == "gmres" && solved.report.failure.cause != Cause::zero_row;
    if (by_gmres || by_factors) {
      CHECK(solved.report.true_residual == Approx(s.least * norm(s.b)).epsilon(1e-6));
    }
  }
}

TEST_BOTH("x of a system without a solution is the shortest of its least-squares solutions, if A is symmetric",
          "[solver][unsolvable]") {
  for (const Unsolvable& s : unsolvable()) {
    if (s.x.empty()) continue;
    const Arrays<double, S> arrays(ctx, s.a);
    LinearSystem<double, S> system(ctx, arrays.view());
    const auto solved = run_system(ctx, system, s.b);
    INFO(s.name << ": " << solved.report.reason);
    CHECK(solved.report.true_residual == Approx(s.least * norm(s.b)).epsilon(1e-9));
    for (std::size_t i = 0; i < s.x.size(); ++i) CHECK(solved.x[i] == Approx(s.x[i]).margin(1e-8 * norm(s.x)));
  }
}
