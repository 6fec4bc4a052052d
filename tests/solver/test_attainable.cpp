// SPDX-License-Identifier: Apache-2.0
// What a solve calls attainable, against what a direct solver attains.
#include "tests/solver/systems.hpp"

#include <newel/io/matrix_market.hpp>
#include <newel/precond/spai/spai_options.hpp>

#include <Eigen/Dense>

namespace {

Eigen::MatrixXd dense(const Rows& a) {
  Eigen::MatrixXd result = Eigen::MatrixXd::Zero(a.size(), a.size());
  for (Index i = 0; i < a.size(); ++i) {
    for (const auto& [j, value] : a.row[static_cast<std::size_t>(i)]) result(i, j) = value;
  }
  return result;
}

// |b - A x| of Gaussian elimination with full pivoting, in the test's own arithmetic.
double direct_residual(const Rows& a, const std::vector<double>& b) {
  const Eigen::VectorXd rhs = Eigen::Map<const Eigen::VectorXd>(b.data(), static_cast<Eigen::Index>(b.size()));
  const Eigen::VectorXd x = dense(a).fullPivLu().solve(rhs);
  return true_residual<double>(a, b, std::vector<double>(x.data(), x.data() + x.size()));
}

// eps (|A||x| + |b|), the norm over all rows: what forming b - A x may round.
double rounding_of(const Rows& a, const std::vector<double>& b, const std::vector<double>& x) {
  double sum = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    double row = std::fabs(b[i]);
    for (const auto& [j, value] : a.row[i]) row += std::fabs(value * x[static_cast<std::size_t>(j)]);
    sum += row * row;
  }
  return std::numeric_limits<double>::epsilon() * std::sqrt(sum);
}

// A dense orthogonal matrix times diagonal times its transpose: |smallest| is the last eigenvalue, the others 1 to 2.
Rows with_smallest(Index n, double smallest) {
  const auto values = noise(n * n, 9);
  const Eigen::MatrixXd random = Eigen::Map<const Eigen::MatrixXd>(values.data(), n, n);
  const Eigen::MatrixXd q = Eigen::HouseholderQR<Eigen::MatrixXd>(random).householderQ();
  Eigen::VectorXd d(n);
  for (Index i = 0; i < n; ++i) d(i) = i + 1 < n ? 1 + i / double(n) : smallest;
  const Eigen::MatrixXd product = q * d.asDiagonal() * q.transpose();
  Rows a(n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) a.at(i, j) = 0.5 * (product(i, j) + product(j, i));
  }
  return a;
}

}  // namespace

TEST_BOTH("What is called attainable was attained, and a direct solver does not attain much less",
          "[solver][attainable]") {
  Rows penalty = laplacian(12);
  penalty.at(40, 40) = 1e8;
  for (const Rows& a :
       {laplacian(12), laplacian(12, 0.4), penalty, with_smallest(40, 1e-3), with_smallest(40, 1e-7)}) {
    auto exact = noise(a.size());
    if (a.size() > 40) exact[40] = 0;
    const auto b = a.rhs_for(exact);
    const double direct = direct_residual(a, b);
    for (const std::string solver : {"auto", "cg", "gmres", "bicgstab"}) {
      SystemOptions options = system_options(solver, "auto", "auto", 1e-30);
      options.stop.max_iterations = 3000;
      SystemOf<double, S> system(ctx, a, options);
      const auto bs = make_array(ctx, b);
      auto xs = make_array(ctx, std::vector<double>(b.size(), 0.0));
      const SolveReport report = system.solve(bs.cspan(), xs.span());
      const auto x = to_vector(ctx, xs.cspan());
      CAPTURE(solver, a.size(), report.reason, direct);
      CHECK_FALSE(report.converged());
      if (report.attainable_residual == 0) {
        CHECK_FALSE(contains(report.reason, "attainable"));
        continue;
      }
      CHECK(report.status == Status::stagnation);
      CHECK(report.attainable_residual == report.true_residual);
      CHECK(std::fabs(report.attainable_residual - true_residual<double>(a, b, x)) <= 10 * rounding_of(a, b, x));
      CHECK(report.attainable_residual <= 1000 * std::max(direct, rounding_of(a, b, exact)));
      CHECK(contains(report.reason, "attainable"));
    }
  }
}

TEST_BOTH("On easy systems a tolerance below rounding is called so", "[solver][attainable]") {
  for (const std::string solver : {"cg", "gmres", "bicgstab"}) {
    SystemOptions options = system_options(solver, "auto", "auto", 1e-18);
    const Rows a = laplacian(12);
    SystemOf<double, S> system(ctx, a, options);
    const auto bs = make_array(ctx, a.rhs_for(noise(a.size())));
    auto xs = make_array(ctx, std::vector<double>(static_cast<std::size_t>(a.size()), 0.0));
    const SolveReport report = system.solve(bs.cspan(), xs.span());
    INFO(solver << ": " << report.reason);
    CHECK(report.attainable_residual > 0);
  }
}

TEST_BOTH("An x that a preconditioner has led far away is no ground to call anything attainable",
          "[solver][attainable]") {
  // A is singular to rounding, and b = A 1 is solved to rounding by GMRES alone. M is large along A's null vector:
  // the x that it makes are so large there that b - A x is nothing but their rounding, and within eps |A| |x|.
  const Context<S> ctx;
  constexpr Index n = 40;
  const Rows a = with_smallest(n, 1e-17);
  const auto values = noise(n * n, 9);
  const Eigen::MatrixXd random = Eigen::Map<const Eigen::MatrixXd>(values.data(), n, n);
  const Eigen::MatrixXd q = Eigen::HouseholderQR<Eigen::MatrixXd>(random).householderQ();
  const auto b = a.rhs_for(std::vector<double>(static_cast<std::size_t>(n), 1.0));
  CHECK(direct_residual(a, b) <= 1e-12 * norm(b));
  const Arrays<double, S> arrays(ctx, a);
  const auto A = make_spmv(ctx, arrays.view(), RowOrder<S>{}, SpmvOptions{});
  Gmres<double, S> solver(ctx, n, n, false);
  CHECK(run_solver<double, S>(ctx, solver, *A, nullptr, b, {}).report.converged());
  int stagnated = 0;
  auto u = noise(n, 3);
  for (double& value : u) value /= norm(noise(n, 3));
  for (const double size : {1e12, 1e13, 1e14, 1e15, 1e16, 1e17}) {
    Rows huge(n);
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j)
        huge.at(i, j) = (i == j ? 1 : 0) + size * q(i, n - 1) * u[static_cast<std::size_t>(j)];
    }
    const Arrays<double, S> arrays_of_m(ctx, huge);
    const auto M = make_spmv(ctx, arrays_of_m.view(), RowOrder<S>{}, SpmvOptions{});
    const auto astray = run_solver<double, S>(ctx, solver, *A, M.get(), b, {});
    INFO(size << ": " << name_of(astray.report.status) << ": " << astray.report.reason);
    stagnated += astray.report.status == Status::stagnation;
    CHECK(astray.report.attainable_residual <= 1e-8 * norm(b));
    CHECK((astray.report.attainable_residual > 0) == (contains(astray.report.reason, "attainable")));
    CHECK(true_residual<double>(a, b, astray.x) <= norm(b) * (1 + 1e-9));
  }
  CHECK(stagnated > 0);
}

TEST_BOTH("A tolerance that lies well above rounding is not called out of its reach", "[solver][attainable]") {
  // A product that is 40 eps larger with every call, against a tolerance of 20 eps: what keeps b - A x above that is
  // the product, and not rounding.
  const Context<S> ctx;
  constexpr Index n = 50;
  constexpr double eps = std::numeric_limits<double>::epsilon();
  int calls = 0;
  const FunctionOperator<double, S> blurred(
      n, n, [&](const Context<S>& c, double alpha, Span<const double, S> x, double beta, Span<double, S> y) {
        axpby<double, S>(c, alpha * (1 + 40 * eps * ++calls), x, beta, y);
      });
  StopCriterion stop = stop_at(20 * eps);
  for (const std::string name : {"cg", "gmres"}) {
    const auto solver = make_solver<double, S>(ctx, n, {name});
    const auto run = run_solver<double, S>(ctx, *solver, blurred, nullptr, noise(n), stop);
    INFO(name << ": " << name_of(run.report.status) << ": " << run.report.reason);
    CHECK(run.report.status == Status::stagnation);
    CHECK(run.report.attainable_residual == 0);
    CHECK_FALSE(contains(run.report.reason, "attainable"));
  }
}

TEST_CASE("A tolerance that another preconditioner attains is not called out of reach",
          "[solver][attainable][data]") {
  if (skipped_without_data()) return;
  const Context<Space::host> ctx(1);
  for (const std::string name : {"bips98_606.mtx.gz", "lns__131.mtx"}) {
    const Csr<double, Space::host> a = read_matrix(ctx, data_folder() + "/matrices/" + name);
    const auto size = static_cast<std::size_t>(a.rows);
    for (const double adaptive : {0.0, 0.4}) {
      SystemOptions options = system_options("gmres", "spai");
      options.solver.of<GmresOptions>().restart = 50;
      options.precond.of<SpaiOptions>().adaptive = name[0] == 'l' ? adaptive : 0;
      options.stop.max_iterations = 1000;
      LinearSystem<double, Space::host> system(ctx, a, options);
      auto b = make_array(ctx, std::vector<double>(size)), x = make_array(ctx, std::vector<double>(size, 0.0));
      const auto exact = make_array(ctx, noise(a.rows));
      system.multiply(exact.cspan(), b.span());
      const SolveReport report = system.solve(b.cspan(), x.span());
      INFO(name << ", adaptive " << adaptive << ": " << report.reason);
      CHECK(report.attainable_residual <= report.tolerance);  // without a preconditioner GMRES meets it
    }
  }
}
