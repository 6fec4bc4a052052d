// SPDX-License-Identifier: Apache-2.0
// Statements of reports that random small systems have refuted (scripts/check_statements.py), and the right ones.
#include "tests/solver/systems.hpp"

#include <newel/precond/amg/amg_options.hpp>
#include "solver/krylov/monitor/inconsistency.hpp"
#include "solver/krylov/monitor/symmetry.hpp"
#include "solver/krylov/monitor/true_residual.hpp"

namespace {

// The product of a matrix whose entries nobody knows.
template <class T, Space S>
struct Hidden {
  Arrays<T, S> arrays;
  OperatorPtr<T, S> matrix;
  FunctionOperator<T, S> product;

  Hidden(const Context<S>& ctx, const Rows& a)
      : arrays(ctx, a),
        matrix(make_spmv(ctx, arrays.view(), RowOrder<S>{}, SpmvOptions{"csr"})),
        product(a.size(), a.size(), [this](const Context<S>& c, T alpha, auto x, T beta, auto y) {
          matrix->apply(c, alpha, x, beta, y);
        }) {}
};

Rows scaled(Rows a, double factor) {
  for (auto& row : a.row) {
    for (auto& entry : row) entry.second *= factor;
  }
  return a;
}

// Springs between three nodes, without ground: A maps constants to zero.
Rows triangle(double stiffness) {
  Rows a(3);
  for (Index i = 0; i < 3; ++i) {
    for (Index j = 0; j < 3; ++j) a.at(i, j) = i == j ? 2 * stiffness : -stiffness;
  }
  return a;
}

template <class T, Space S>
SolveReport solve_zero_guess(const Context<S>& ctx, const Rows& a, const std::vector<double>& b,
                             const SystemOptions& options) {
  SystemOf<T, S> system(ctx, a, options);
  const auto bs = make_array(ctx, cast<T>(b));
  auto xs = make_array(ctx, std::vector<T>(b.size(), T(0)));
  return system.solve(bs.cspan(), xs.span());
}

}  // namespace

TEST_BOTH("A guess whose residual overflows is left for zero, and named by an infinite initial residual",
          "[solver][statements]") {
  const Rows a = scaled(laplacian(4), 1e200);
  const std::vector<double> b(16, 1.0), guess(16, 1e150);
  for (const std::string solver : {"auto", "cg", "bicgstab", "gmres"}) {
    SystemOptions options = system_options(solver);
    SystemOf<double, S> system(ctx, a, options);
    const auto found = run_system(ctx, system, b, guess);
    INFO(solver << ": " << found.report.reason);
    CHECK(found.report.converged());
    CHECK(std::isinf(found.report.initial_residual));
    CHECK(true_residual<double>(a, b, found.x) <= 1e-8 * norm(b) * (1 + 1e-6));
    CHECK(found.report.row_residual >= 0);
  }
}

TEST_BOTH("A guess beyond all squares is left also in the units of a system at the ends of the range",
          "[solver][statements]") {
  const Rows a = scaled(laplacian(4), 1e240);
  const std::vector<double> b(16, 1e50), guess = noise(16);
  for (const std::string solver : {"cg", "bicgstab", "gmres"}) {
    SystemOptions options = system_options(solver, "jacobi");
    SystemOf<double, S> system(ctx, a, options);
    const auto found = run_system(ctx, system, b, guess);
    INFO(solver << ": " << found.report.reason);
    CHECK(found.report.converged());
    CHECK(found.report.initial_residual == Approx(true_residual<double>(a, b, guess)).epsilon(1e-12));
    CHECK(true_residual<double>(a, b, found.x) <= 1e-8 * norm(b) * (1 + 1e-6));
  }
}

TEST_BOTH("A row of zeros is named, though all others are solved to rounding", "[solver][statements]") {
  Rows a = diagonal({2, 3, 5, 7, 0});
  a.at(0, 1) = a.at(1, 2) = a.at(2, 3) = 1;
  const std::vector<double> b = {1e4, 2e4, 1e4, 3e4, 0.1};
  for (const std::string solver : {"auto", "bicgstab", "gmres"}) {
    SystemOptions options = system_options(solver, "none", "auto", 1e-12);
    const SolveReport report = solve_zero_guess<float, S>(ctx, a, b, options);
    INFO(solver << ": " << report.reason);
    CHECK(report.status == Status::stagnation);
    CHECK(report.failure.cause == Cause::zero_row);
    CHECK(report.failure.level == Approx(0.1 / norm(b)).epsilon(1e-3));
    CHECK(report.attainable_residual == 0);
  }
}

TEST_BOTH("What is attainable with an operator is judged by the rounding of its products, not by its norm",
          "[solver][statements]") {
  std::vector<double> entries;
  for (int k = 0; k < 12; ++k) entries.push_back(std::pow(10.0, 12 - k));
  const Rows a = diagonal(entries);
  const auto b = noise(12);
  const Hidden<double, S> hidden(ctx, a);
  for (const std::string solver : {"cg", "bicgstab", "gmres"}) {
    StopCriterion stop = stop_at(1e-17);
    stop.max_iterations = 2000;
    const auto method = make_solver<double, S>(ctx, 12, {solver});
    const auto run = run_solver<double, S>(ctx, *method, hidden.product, nullptr, b, stop);
    INFO(solver << ": " << run.report.reason);
    CHECK(run.report.attainable_residual <= 1000 * std::numeric_limits<double>::epsilon() * norm(b));
  }
}

TEST_BOTH("GMRES that has solved a regular system to rounding does not call it singular", "[solver][statements]") {
  const Hidden<double, S> hidden(ctx, laplacian(3));
  for (const double size : {1.0, 1e100}) {
    auto b = noise(9);
    for (double& value : b) value *= size;
    StopCriterion stop = stop_at(0);
    stop.abs_tol = 1e-30;
    const auto method = make_solver<double, S>(ctx, 9, solver_options("gmres", 9));
    const auto run = run_solver<double, S>(ctx, *method, hidden.product, nullptr, b, stop);
    INFO(size << ": " << run.report.reason);
    CHECK(run.report.status == Status::stagnation);
    CHECK(run.report.failure.cause != Cause::krylov_space_exhausted);
  }
}

TEST_BOTH("A residual of CG that outgrows the digits of a definite matrix is not called divergence",
          "[solver][statements]") {
  // From b = (1, 0) the first step of CG leaves about (0, -c), as in test_divergence.cpp.
  const Context<S> ctx;
  constexpr double c = 1e8;
  Rows a(2);
  a.at(0, 0) = 1;
  a.at(0, 1) = a.at(1, 0) = c;
  a.at(1, 1) = 2 * c * c;
  SystemOptions options = system_options("cg");
  set_resident(options.solver, false);
  options.precond.name = "none";
  const SolveReport report = solve_zero_guess<float, S>(ctx, a, {1, 0}, options);
  INFO(report.reason);
  CHECK(report.status == Status::stagnation);
  CHECK(report.failure.cause == Cause::growth_beyond_digits);
  CHECK(contains(report.reason, "more than the digits of this precision can represent"));
  CHECK(report.true_residual <= 1);
}

TEST_BOTH("A single equation with an entry has no null space", "[solver][statements]") {
  SystemOptions options;
  options.null_space = NullSpace::constant;
  for (const std::string precond : {"none", "amg"}) {
    options.precond.name = precond;
    CHECK_THROWS_AS((solve_zero_guess<double, S>(ctx, diagonal({1}), {6}, options)), InputError);
  }
}

TEST_BOTH("Systems whose right-hand side leaves the range of a cycle in single precision are solved",
          "[solver][statements]") {
  const Rows a = laplacian(8);
  for (const double size : {1e-64, 1e64}) {
    std::vector<double> b = noise(a.size());
    for (double& value : b) value *= size;
    for (const std::string solver : {"cg", "gmres"}) {
      SystemOptions options = system_options(solver, "amg");
      options.spmv.format = "ehyb";  // from which the cycle cannot be made again in double
      options.precond.of<AmgOptions>().precision = AmgPrecision::automatic;
      const SolveReport report = solve_zero_guess<double, S>(ctx, a, b, options);
      INFO(size << ", " << solver << ": " << report.reason);
      CHECK(report.converged());
    }
  }
}

TEST_BOTH("The sign of r.Mr is taken in units in which products do not underflow", "[solver][statements]") {
  Array<double, S> scratch(ctx, 1);
  Array<float, S> image(ctx, 4);
  for (const bool positive : {true, false}) {
    const Hidden<float, S> hidden(ctx, diagonal({1e-30, 2e-30, positive ? 1e-30 : -9e-30, 1e-30}));
    auto r = make_array(ctx, std::vector<float>(4, 1e-20f));
    CHECK(detail::is_precond_not_positive_along<float, S>(ctx, hidden.product, r.span(), image.span(),
                                                          scratch.data()) != positive);
  }
}

TEST_BOTH("The sign of p.Ap is taken in units in which products do not underflow", "[solver][statements]") {
  Array<double, S> scratch(ctx, 1);
  Array<float, S> image(ctx, 2);
  for (const bool positive : {true, false}) {
    const Arrays<float, S> arrays(ctx, diagonal({positive ? 1e-30 : -1e-30, 1}));
    const auto A = make_spmv(ctx, arrays.view(), RowOrder<S>{}, SpmvOptions{"csr"});
    auto p = make_array(ctx, std::vector<float>{1e-24f, 0});
    CHECK(detail::is_not_positive_along<float, S>(ctx, *A, p.span(), image.span(), scratch.data()) != positive);
  }
}

TEST_BOTH("What a solve in other units does not improve is returned as it was", "[solver][statements]") {
  // Springs of 1 and 1e4 on two stiff supports, in single precision: the supports' forces take all digits.
  const Context<S> ctx;
  Rows a(5);
  const std::vector<double> spring = {1e4, 1, 1e4, 1};
  for (Index i = 0; i < 4; ++i) {
    a.at(i, i) += spring[static_cast<std::size_t>(i)];
    a.at(i + 1, i + 1) += spring[static_cast<std::size_t>(i)];
    a.at(i, i + 1) = a.at(i + 1, i) = -spring[static_cast<std::size_t>(i)];
  }
  a.at(0, 0) += 1e30;
  a.at(4, 4) += 1e30;
  const std::vector<double> b = {-6.8e27, 1250, -312, 1562, 1.2e28};
  SystemOptions options = system_options("cg", "spai0", "auto", 1e-17);
  SystemOf<float, S> system(ctx, a, options);
  const auto found = run_system(ctx, system, b);
  INFO(found.report.reason);
  CHECK(found.report.status != Status::not_positive_definite);
  double least = INFINITY;
  for (const Attempt& attempt : found.report.attempts) least = std::min(least, attempt.true_residual);
  CHECK(found.report.true_residual <= least);
  CHECK(found.report.attainable_residual <= least);
}

TEST_BOTH("The sign of p.Ap of an operator is believed above its rounding", "[solver][statements]") {
  Array<double, S> scratch(ctx, 1);
  Array<double, S> image(ctx, 3);
  // Of a constant p is left what rounding makes of it; here nothing, or less.
  auto p = make_array(ctx, std::vector<double>(3, 1.0));
  for (const double excess : {0.0, -1e-16}) {
    Rows a = triangle(1.0);
    a.at(0, 0) += 2 * excess;
    const Hidden<double, S> hidden(ctx, a);
    CHECK_FALSE(
        detail::is_not_positive_along<double, S>(ctx, hidden.product, p.span(), image.span(), scratch.data()));
  }
  const Hidden<double, S> negative(ctx, diagonal({1, 1, -3}));
  CHECK(detail::is_not_positive_along<double, S>(ctx, negative.product, p.span(), image.span(), scratch.data()));
}

TEST_BOTH("The rounding of a residual is estimated for operators that map constants to zero",
          "[solver][statements]") {
  Array<double, S> scratch(ctx, 1);
  Array<float, S> r(ctx, 3);
  const double stiffness = 2e30;
  const Hidden<float, S> hidden(ctx, triangle(stiffness));
  const std::vector<double> x = {3e-30, -1e-30, -2e-30};
  const auto b = make_array(ctx, cast<float>(triangle(stiffness).rhs_for(x)));
  const auto xs = make_array(ctx, cast<float>(x));
  const auto found =
      detail::true_residual<float, S>(ctx, hidden.product, b.cspan(), xs.cspan(), 1, 1e30, r.span(), scratch.data());
  const double rounding = std::numeric_limits<float>::epsilon() * 3 * stiffness * norm(x);
  CHECK_FALSE(found.proven);
  CHECK(found.error_bound >= rounding / 10);
  CHECK(found.error_bound <= rounding * 100);
}

TEST_BOTH("A row whose products underflow is judged as any other", "[solver][statements]") {
  // x = 2^-900 (1, 1), of which the second row, b_2 = 0, has missed half.
  Rows a(2);
  a.at(0, 0) = 0x1p-40;
  a.at(1, 0) = 0x1p-180, a.at(1, 1) = 0x1p-180;
  const Arrays<double, S> arrays(ctx, a);
  const auto A = make_spmv(ctx, arrays.view(), RowOrder<S>{}, SpmvOptions{"csr"});
  const auto x = make_array(ctx, std::vector<double>{0x1p-900, 0x1p-901});
  const auto b = make_array(ctx, std::vector<double>{0x1p-940, 0});
  Array<double, S> r(ctx, 2), scratch(ctx, 1);
  const auto found =
      detail::true_residual<double, S>(ctx, *A, b.cspan(), x.cspan(), 0x1p-940, 0, r.span(), scratch.data());
  CHECK(found.proven);
  CHECK(std::fabs(found.worst_row - 0.75) <= 1e-15);  // 3/2 of 2
  CHECK(to_vector(ctx, r.cspan())[0] == 0);
}

TEST_BOTH("A residual beyond the range of single precision is not called orthogonal to the range of A",
          "[solver][statements]") {
  Rows a(1);  // so that no terms of both signs make a NaN of their sum
  a.at(0, 0) = 0x1p93;
  const Arrays<float, S> arrays(ctx, a);
  const auto A = make_spmv(ctx, arrays.view(), RowOrder<S>{}, SpmvOptions{"csr"});
  const auto x = make_array(ctx, std::vector<float>{0x1p93f}), b = make_array(ctx, std::vector<float>{7});
  CHECK_FALSE((detail::why_inconsistent<float, S>(ctx, *A, b.cspan(), x.cspan(), 7, 0)));
}

TEST_BOTH("A system of the smallest numbers is solved: what its products may lose is more than the tolerance",
          "[solver][statements]") {
  Rows a(2);
  a.at(0, 0) = 3;
  a.at(0, 1) = -4;
  a.at(1, 1) = -3;
  const std::vector<double> b = {-1.946939626193801e-308, -8.344026969402005e-309};
  const double x1 = b[1] / -3, x0 = (b[0] + 4 * x1) / 3;
  SystemOf<double, S> system(ctx, a, system_options("auto"));
  const auto found = run_system(ctx, system, b, {0, 0});
  INFO(found.report.reason);
  CHECK(found.report.converged());
  CHECK(std::abs(found.x[0] - x0) <= 1e-316);
  CHECK(std::abs(found.x[1] - x1) <= 1e-316);
  CHECK(found.report.true_residual + found.report.residual_error_bound <= found.report.tolerance);
}

TEST_BOTH("An x that overflows a product since the iterations were too few is not called the solution",
          "[solver][scaling][statements]") {
  Rows a = laplacian(6);
  for (Index i = 0; i < 36; i += 2) {
    for (auto& entry : a.row[static_cast<std::size_t>(i)]) entry.second *= 1e70;
  }
  std::vector<double> b, guess;
  for (int i = 0; i < 36; ++i) {
    const double sign = i % 3 == 0 ? -1 : 1;
    b.push_back(sign * 1e240);
    guess.push_back(sign * 1e250);
  }
  SystemOptions options = system_options("auto");
  options.solver.of<ScalingOptions>() = {Use::on, Use::off};
  options.stop.max_iterations = 1;
  SystemOf<double, S> system(ctx, a, options);
  const auto found = run_system(ctx, system, b, guess);
  INFO(found.report.reason);
  CHECK_FALSE(found.report.converged());
  CHECK(found.report.failure.cause != Cause::solution_out_of_range);
}

TEST_BOTH("What no x can change is not called rounding, if it is far more than the rounding of A x",
          "[solver][statements]") {
  constexpr Index n = 25;
  Rows a(n);  // a chain without ground
  for (Index i = 0; i + 1 < n; ++i) {
    a.at(i, i) += 1;
    a.at(i + 1, i + 1) += 1;
    a.at(i, i + 1) = a.at(i + 1, i) = -1;
  }
  auto b = a.rhs_for(noise(n));
  const double part = 1e-5 * norm(b) / std::sqrt(static_cast<double>(n));
  for (double& value : b) value += part;
  const Hidden<float, S> hidden(ctx, a);
  for (const std::string solver : {"minres", "gmres"}) {
    StopCriterion stop = stop_at(1e-12);
    stop.max_iterations = 1000;
    const auto method = make_solver<float, S>(ctx, n, {solver});
    const auto run = run_solver<float, S>(ctx, *method, hidden.product, nullptr, b, stop);
    INFO(solver << ": " << run.report.reason);
    CHECK(run.report.status != Status::converged);
    CHECK(run.report.true_residual >= 0.9e-5 * norm(b));
    CHECK(run.report.failure.cause != Cause::rounding);
    CHECK(run.report.attainable_residual == 0);
  }
}
