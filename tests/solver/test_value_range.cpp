// SPDX-License-Identifier: Apache-2.0
// LinearSystem at the ends of the range of its values, in double, single and mixed precision.
#include "tests/solver/systems.hpp"

namespace {}  // namespace

TEST_BOTH(
    "Right-hand sides whose squares underflow are solved for, and judged by the absolute tolerance where there is "
    "one",
    "[system]") {
  const Rows a = laplacian(6);
  for (const std::string solver : {"cg", "bicgstab", "gmres"}) {
    INFO(solver);
    SystemOptions options = system_options(solver);
    SystemOf<double, S> system(ctx, a, options);
    const std::vector<double> b(static_cast<std::size_t>(a.size()), 1e-170);
    const auto solved = run_system(ctx, system, b);
    CHECK(solved.report.converged());
    CHECK(true_residual<double>(a, b, solved.x) <= 1e-8 * norm(b) * (1 + 1e-6));
    StopCriterion stop;
    stop.abs_tol = 1e-12;
    system.set_stop_criterion(stop);
    const auto found = run_system(ctx, system, b);
    CHECK(found.report.converged());
    CHECK(found.report.iterations == 0);
    CHECK(found.report.rhs_norm > 0);
    CHECK(found.report.tolerance == 1e-12);
    // From a guess that is not good the iteration continues until it is.
    const auto cold = run_system(ctx, system, b, noise(a.size()));
    CHECK(cold.report.converged());
    CHECK(cold.report.iterations > 0);
    CHECK(true_residual<double>(a, b, cold.x) <= 1e-12 * (1 + 1e-6));
  }
}

TEST_BOTH("Systems near the ends of the range are solved in units of powers of two, and report in their own",
          "[system]") {
  const Rows a = laplacian(12), tilted = laplacian(12, 0.3);
  const auto exact = noise(a.size());
  for (const std::string solver : {"auto", "cg", "bicgstab", "gmres"}) {
    const Rows& shape = solver == "cg" ? a : tilted;
    const auto plain_b = shape.rhs_for(exact);
    for (const std::string precond : {"none", "jacobi", "spai"}) {
      for (const auto& [of_matrix, of_rhs] : std::vector<std::pair<double, double>>{
               {1e-300, 1e-300}, {1e300, 1e300}, {1e-300, 1}, {1e300, 1}, {1, 1e-300}, {1, 1e300}, {1e-160, 1e100}}) {
        CAPTURE(solver, precond, of_matrix, of_rhs);
        Rows scaled_rows = shape;
        for (auto& row : scaled_rows.row) {
          for (auto& entry : row) entry.second *= of_matrix;
        }
        auto b = plain_b;
        for (double& value : b) value *= of_rhs;
        SystemOptions options = system_options(solver, precond);
        SystemOf<double, S> system(ctx, scaled_rows, options);
        const auto found = run_system(ctx, system, b);
        INFO(found.report.reason);
        CHECK(found.report.converged());
        CHECK(true_residual<double>(scaled_rows, b, found.x) <= 1e-8 * norm(b) * (1 + 1e-6));
        CHECK(found.report.rhs_norm == Approx(norm(b)).epsilon(1e-12));
        CHECK(found.report.true_residual <= found.report.tolerance);
        CHECK(found.report.tolerance == Approx(1e-8 * norm(b)).epsilon(1e-12));
        CHECK(found.report.history.back() <= found.report.tolerance);
      }
    }
  }
}

TEST_BOTH("A solution that leaves the range is not called converged", "[system]") {
  for (const double of_matrix : {1e250, 1e-250}) {
    Rows a = laplacian(8);
    for (auto& row : a.row) {
      for (auto& entry : row) entry.second *= of_matrix;
    }
    SystemOf<double, S> system(ctx, a);
    const auto found = run_system(ctx, system, std::vector<double>(64, 1 / of_matrix));
    CHECK(found.report.status == Status::not_finite);
    CHECK(contains(found.report.reason, "range"));
  }
}

TEST_BOTH("A right-hand side whose norm leaves the range has the largest number for it", "[system]") {
  const Rows a = laplacian(8);
  SystemOf<double, S> system(ctx, a);
  std::vector<double> b(64);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = i % 2 == 0 ? 1.7e308 : -1.7e308;
  const auto found = run_system(ctx, system, b);
  CHECK(found.report.converged());
  CHECK(found.report.rhs_norm == std::numeric_limits<double>::max());
  CHECK(found.report.true_residual > 0);
  CHECK(found.report.relative(found.report.true_residual) > 0);
  CHECK(found.report.relative(found.report.true_residual) <= 1e-7);  // |b| is 8 times 1.7e308
}

TEST_BOTH("Systems in single precision near the ends of its range are solved too", "[system]") {
  const Rows shape = laplacian(8);
  const auto exact = noise(shape.size());
  for (const double size : {1e-30, 1e30}) {
    for (const std::string precond : {"none", "jacobi"}) {
      CAPTURE(size, precond);
      Rows a = shape;
      for (auto& row : a.row) {
        for (auto& entry : row) entry.second = static_cast<double>(static_cast<float>(entry.second * size));
      }
      std::vector<float> b = cast<float>(a.rhs_for(exact));
      SystemOptions options = system_options("auto", precond, "auto", 1e-4);
      SystemOf<float, S> system(ctx, a, options);
      const auto bs = make_array(ctx, b);
      auto xs = make_array(ctx, std::vector<float>(b.size(), 0.0f));
      const SolveReport report = system.solve(bs.cspan(), xs.span());
      INFO(report.reason);
      CHECK(report.converged());
      const std::vector<double> b_there(b.begin(), b.end());
      CHECK(true_residual<float>(a, b, to_vector(ctx, xs.cspan())) <= 1.01e-4 * norm(b_there));
    }
  }
}

TEST_BOTH("Where p.Ap overflows CG goes on in other units, for several columns too", "[system]") {
  const Rows a = diagonal(std::vector<double>(10, 1e200));
  SystemOptions options = system_options("cg", "none");
  SystemOf<double, S> system(ctx, a, options);
  const std::vector<double> b(20, 1e60);
  const auto found = run_system(ctx, system, std::vector<double>(b.begin(), b.begin() + 10));
  CHECK(found.report.converged());
  for (const double value : found.x) CHECK(value == Approx(1e-140));
  const auto bs = make_array(ctx, b);
  auto xs = make_array(ctx, std::vector<double>(20, 0.0));
  for (const SolveReport& report : system.solve_columns(bs.cspan(), xs.span(), 2)) CHECK(report.converged());
  for (const double value : to_vector(ctx, xs.cspan())) CHECK(value == Approx(1e-140));
}

TEST_BOTH("Mixed precision goes on in double where the diagonal leaves the range of single", "[system][mixed]") {
  for (const double odd : {1e-50, 1e50}) {
    INFO("an entry of " << odd);
    const Rows a = diagonal({1, 1, 1, odd});
    SystemOptions options = system_options("auto", "jacobi");
    options.mixed = true;
    options.solver.of<ScalingOptions>().scale = Use::off;  // with which the diagonal is near 1
    SystemOf<double, S> system(ctx, a, options);
    CHECK(!system.info().mixed);
    CHECK(contains(system.info().precision_reason, "single precision"));
    const std::vector<double> b = {1, 2, 3, 4};
    const auto found = run_system(ctx, system, b);
    CHECK(found.report.converged());
    CHECK(true_residual<double>(a, b, found.x) <= 1e-8 * norm(b) * (1 + 1e-6));
  }
  SystemOptions options = system_options("auto", "jacobi");
  options.mixed = true;
  const Rows singular = diagonal({1, 0, 1});
  const Arrays<double, S> arrays(ctx, singular);
  REQUIRE_THROWS_AS((LinearSystem<double, S>(ctx, arrays.view(), options)), ZeroDiagonal);
}

TEST_BOTH("GMRES in mixed precision says that it stands still", "[system][mixed]") {
  const Index n = 120;
  Rows a(n);
  for (Index i = 0; i < n; ++i) a.at(i, (i + n - 1) % n) = 1;  // no cycle shorter than n gains anything
  SystemOptions options = system_options("gmres", "none");
  options.mixed = true;
  options.solver.of<GmresOptions>().restart = 20;
  SystemOf<double, S> system(ctx, a, options);
  std::vector<double> b(static_cast<std::size_t>(n), 0.0);
  b[0] = 1;
  const auto found = run_system(ctx, system, b);
  CHECK(found.report.status == Status::stagnation);
  CHECK(found.report.iterations < 1000);
}
