// SPDX-License-Identifier: Apache-2.0
// Libraries of factorisations that are loaded at run time: their factors, and that none of them is believed.
#include "tests/skipped_library.hpp"
#include "tests/solver/dense_solution.hpp"
#include "tests/solver/systems.hpp"

#include "solver/direct/direct_solver.hpp"
#include "solver/direct/factor_rows.hpp"
#include "solver/direct/klu_factors.hpp"

namespace {

using detail::ColumnPattern;
using detail::HostFactorisation;

std::string missing_library(const char* title) {
  for (const Factorisation& row : factorisations()) {
    if (row.title.find(title) != std::string::npos) return row.missing;
  }
  return std::string(title) + " is not in this build";
}

// A library whose factors are the identity times a number: of any other matrix its answers are wrong.
class WrongFactors final : public detail::Factors {
 public:
  WrongFactors(bool makes_factors, double answer) : makes_factors_(makes_factors), answer_(answer) {}
  const std::vector<Index>& order() const override { return order_; }
  detail::FactorCost cost() const override { return {1, 0}; }
  void analyse(const ColumnPattern&) override {}
  bool factorise(const std::vector<double>&) override { return makes_factors_; }
  void solve(std::vector<double>& v) override {
    for (double& value : v) value *= answer_;
  }
  void solve_transposed(std::vector<double>& v) override { solve(v); }

 private:
  bool makes_factors_;
  double answer_;
  std::vector<Index> order_;
};

HostFactorisation wrong_row(std::unique_ptr<detail::Factors> (*make)(const detail::FactorTask&)) {
  static const std::string nothing;
  HostFactorisation row;
  row.about = {"L U by a wrong library", Space::host, "none", "none", ""};
  row.missing = []() -> const std::string& { return nothing; };
  row.make = make;
  return row;
}

HostFactorisation wrong_answers() {
  return wrong_row(+[](const detail::FactorTask&) -> std::unique_ptr<detail::Factors> {
    return std::make_unique<WrongFactors>(true, 0.125);
  });
}

HostFactorisation answers_nan() {
  return wrong_row(+[](const detail::FactorTask&) -> std::unique_ptr<detail::Factors> {
    return std::make_unique<WrongFactors>(true, std::numeric_limits<double>::quiet_NaN());
  });
}

HostFactorisation no_factors() {
  return wrong_row(+[](const detail::FactorTask&) -> std::unique_ptr<detail::Factors> {
    return std::make_unique<WrongFactors>(false, 1);
  });
}

template <Space S>
SolveReport solve_by(const Context<S>& ctx, const std::vector<HostFactorisation>& table, const Rows& a,
                     const std::vector<double>& b, std::vector<double>& x) {
  const Arrays<double, S> arrays(ctx, a);
  const RowOrder<S> natural;
  const SolverMatrix<double, S> matrix{arrays.view(), natural};
  detail::DirectSolver<double, S> solver(ctx, matrix,
                                         std::make_unique<detail::HostFactors<double, S>>(ctx, table, matrix));
  const auto A = make_spmv<double, S>(ctx, arrays.view(), natural, SpmvOptions{"csr"});
  const auto on_device = make_array(ctx, Span<const double, Space::host>(b));
  Array<double, S> found(ctx, a.size());
  fill<double, S>(ctx, 0.0, found.span());
  const StopCriterion stop;
  SolveReport report = solver.solve(ctx, *A, nullptr, on_device.cspan(), found.span(), stop);
  x = to_vector(ctx, found.cspan());
  return report;
}

// Resistors between random nodes, and sources: unsymmetric, and its factors hardly fill up.
Rows network(Index nodes) {
  Rows a(nodes);
  const auto ends = noise(2 * nodes, 41), sizes = noise(nodes, 42);
  for (Index k = 0; k < nodes; ++k) {
    a.at(k, k) += 1;
    const auto i = static_cast<Index>((ends[static_cast<std::size_t>(2 * k)] + 1) / 2 * nodes) % nodes;
    const Index j = (k + 1) % nodes;
    const double g = 0.5 + std::fabs(sizes[static_cast<std::size_t>(k)]);
    a.at(i, i) += g;
    a.at(j, j) += g;
    if (i == j) continue;
    a.at(i, j) -= g;
    a.at(j, i) -= g / 2;
  }
  return a;
}

void require_near(const std::vector<double>& x, const std::vector<double>& expected) {
  REQUIRE(x.size() == expected.size());
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) worst = std::max(worst, std::fabs(x[i] - expected[i]));
  CHECK(worst <= 1e-11 * norm(expected));
}

}  // namespace

TEST_BOTH("Wrong answers of a library are seen, and others replace its factors", "[direct]") {
  const Rows a = laplacian(7, 0.6);
  const auto b = noise(a.size(), 3);
  const auto expected = dense_solution(a, b);
  std::vector<double> x;
  for (const HostFactorisation& wrong : {wrong_answers(), answers_nan(), no_factors()}) {
    const SolveReport report = solve_by(ctx, {wrong, detail::eigen_lu()}, a, b, x);
    CAPTURE(report.changed);
    CHECK(report.converged());
    CHECK(report.twice_precision);
    CHECK_THAT(report.changed, Catch::Contains("factors L U by Eigen for L U by a wrong library"));
    require_near(x, expected);
  }
  const SolveReport none = solve_by(ctx, {no_factors(), detail::eigen_lu()}, a, b, x);
  CHECK_THAT(none.changed, Catch::Contains("which met a zero pivot"));
}

TEST_BOTH("A library that is alone and wrong leaves a solve that has not converged", "[direct]") {
  const Rows a = laplacian(7, 0.6);
  const auto b = noise(a.size(), 3);
  std::vector<double> x;
  const SolveReport report = solve_by(ctx, {wrong_answers()}, a, b, x);
  CHECK_FALSE(report.converged());
  CHECK(report.changed.empty());
  CHECK(std::fabs(true_residual(a, b, x) - report.true_residual) <= 1e-12 * norm(b));
}

TEST_CASE("A table without a library that is there is refused with the packages that bring one", "[direct]") {
  HostFactorisation absent = wrong_answers();
  static const std::string why = "libabsent.so is not there";
  absent.about.package = "libabsent-dev";
  absent.missing = []() -> const std::string& { return why; };
  std::vector<double> x;
  const Rows a = laplacian(5);
  CHECK_THROWS_WITH(solve_by(Context<Space::host>(), {absent}, a, noise(a.size(), 1), x),
                    Catch::Contains("libabsent-dev"));
}

TEST_CASE("A library that takes long to load is left alone if a matrix has few entries", "[direct]") {
  const Rows a = laplacian(7, 0.6);
  const auto b = noise(a.size(), 3);
  std::vector<double> x;
  HostFactorisation slow = wrong_answers();
  static int asked = 0;
  slow.missing = []() -> const std::string& {
    static const std::string nothing;
    ++asked;
    return nothing;
  };
  slow.fewest_entries = 1000;
  const SolveReport report = solve_by(Context<Space::host>(), {slow, detail::eigen_lu()}, a, b, x);
  CHECK(report.converged());
  CHECK(report.changed.empty());  // nothing wrong was met
  CHECK(asked == 0);
  CHECK_FALSE(solve_by(Context<Space::host>(), {slow}, a, b, x).converged());  // taken all the same, and wrong
  slow.fewest_entries = 10;
  const SolveReport other = solve_by(Context<Space::host>(), {slow, detail::eigen_lu()}, a, b, x);
  CHECK_THAT(other.changed, Catch::Contains("factors L U by Eigen for L U by a wrong library"));
}

TEST_CASE("Each factorisation has a license and a package, and says what is missing", "[direct]") {
  std::size_t here = 0;
  for (const Factorisation& row : factorisations()) {
    CAPTURE(row.title);
    CHECK_FALSE(row.license.empty());
    CHECK_FALSE(row.package.empty());
    here += row.missing.empty() && row.space == Space::host ? 1 : 0;
  }
  CHECK(here >= 2);  // Eigen's
}

TEST_CASE("KLU solves networks, with the pivots of earlier values too", "[direct][klu]") {
  if (skipped_without_library(missing_library("KLU"))) return;
  const Context<Space::host> ctx;
  const Rows a = network(300);
  const auto b = noise(a.size(), 5);
  std::vector<double> x;
  const SolveReport report = solve_by(ctx, {detail::klu_lu()}, a, b, x);
  CHECK(report.converged());
  require_near(x, dense_solution(a, b));

  // Pivots that are zero with other values: chosen anew.
  Rows pair(2);
  pair.at(0, 0) = 2, pair.at(0, 1) = 1, pair.at(1, 0) = 1, pair.at(1, 1) = 3;
  ColumnPattern full{2, {0, 2, 4}, {0, 1, 0, 1}};
  detail::KluFactors factors(*detail::klu(), full);
  factors.analyse(full);
  CHECK(factors.factorise({2, 1, 1, 3}));
  CHECK_FALSE(factors.choose_pivots_anew());
  CHECK(factors.factorise({0, 1, 1, 0}));
  std::vector<double> v = {3, 5};
  factors.solve(v);
  CHECK(v == std::vector<double>{5, 3});
  // A pivot of the earlier values that is small but not zero leaves no digit, until pivots are chosen anew.
  CHECK(factors.factorise({2, 1, 1, 3}));
  const std::vector<double> small_pivot = {1e-18, 1, 1, 1};
  CHECK(factors.factorise(small_pivot));
  CHECK(factors.choose_pivots_anew());
  v = {1, 2};
  factors.solve(v);
  CHECK(std::fabs(v[0] - 1) <= 1e-14);
  CHECK(std::fabs(v[1] - 1) <= 1e-14);
  CHECK_FALSE(factors.factorise({1, 1, 1, 1}));
  // By columns: 1 and 2, then 3 and 5; its transpose takes x = (1, 1) to (3, 8).
  CHECK(factors.factorise({1, 2, 3, 5}));
  v = {3, 8};
  factors.solve_transposed(v);
  CHECK(std::fabs(v[0] - 1) <= 1e-13);
  CHECK(std::fabs(v[1] - 1) <= 1e-13);
}

TEST_CASE("Networks get KLU, and grids in three dimensions do not", "[direct][klu]") {
  if (skipped_without_library(missing_library("KLU"))) return;
  const Context<Space::host> ctx;
  const auto taken = [&](const Rows& a) {
    const Arrays<double, Space::host> arrays(ctx, a);
    const RowOrder<Space::host> natural;
    const SolverMatrix<double, Space::host> matrix{arrays.view(), natural};
    return detail::HostFactors<double, Space::host>(ctx, detail::host_factorisations(), matrix).title();
  };
  CHECK(taken(network(2000)) == "L U by KLU");
  CHECK(taken(laplacian(9)) != "L U by KLU");
}

TEST_CASE("A network that KLU has factorised takes new values and several columns", "[direct][klu]") {
  if (skipped_without_library(missing_library("KLU"))) return;
  const Context<Space::host> ctx;
  const Rows a = network(500);
  Rows other = a;
  for (Index i = 0; i < a.size(); ++i) other.at(i, i) *= 1.5 + 0.1 * (i % 7);
  const Arrays<double, Space::host> values(ctx, other);
  const auto b = noise(a.size(), 6);
  SystemOf<double, Space::host> system(ctx, a, system_options("direct"));
  CHECK(run_system(ctx, system, b).report.converged());
  system.refresh(values.val.cspan());
  const auto found = run_system(ctx, system, b);
  CHECK(found.report.converged());
  CHECK(true_residual(other, b, found.x) <= 1e-12 * norm(b));
}

#if NEWEL_HAS_CHOLMOD
TEST_CASE("CHOLMOD solves positive definite matrices, and leaves others to Eigen", "[direct][cholmod]") {
  if (skipped_without_library(missing_library("CHOLMOD"))) return;
  const Context<Space::host> ctx;
  const Rows a = laplacian(14);
  const auto b = noise(a.size(), 5);
  std::vector<double> x;
  CHECK(solve_by(ctx, {detail::cholmod_llt()}, a, b, x).converged());
  require_near(x, dense_solution(a, b));
  const Rows indefinite = laplacian(8, 0, -3.1);
  const auto c = noise(indefinite.size(), 6);
  const SolveReport report = solve_by(ctx, {detail::cholmod_llt(), detail::eigen_ldlt()}, indefinite, c, x);
  CHECK(report.converged());
  require_near(x, dense_solution(indefinite, c));
}
#endif
