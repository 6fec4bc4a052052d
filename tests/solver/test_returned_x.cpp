// SPDX-License-Identifier: Apache-2.0
// What a report says is so of the x that is returned: at the ends of the range, without entries in a column, from a
// guess, and in every ending.
#include "tests/solver/systems.hpp"

namespace {

std::vector<double> times(std::vector<double> v, double scale) {
  for (double& value : v) value *= scale;
  return v;
}

// 2-norm without under- or overflow in between.
double scaled_norm(const std::vector<double>& v) {
  double norm = 0;
  for (const double value : v) norm = std::hypot(norm, value);
  return norm;
}

SystemOptions named(const std::string& solver, const std::string& precond, double rtol, int iterations = 10000) {
  SystemOptions options = system_options(solver, precond, "auto", rtol);
  options.stop.max_iterations = iterations;
  return options;
}

// The report is of the x that came back, whatever the status.
void check_report(const Rows& a, const std::vector<double>& b, const Solved<double, host>& solved) {
  const SolveReport& report = solved.report;
  INFO(name_of(report.status) << ", " << report.reason << ", reported " << report.true_residual);
  if (!all_finite(solved.x)) {
    CHECK_FALSE(report.converged());
    CHECK_FALSE(std::isfinite(report.true_residual));
    return;
  }
  const double residual = true_residual<double>(a, b, solved.x);
  CHECK(report.true_residual == Approx(residual).epsilon(1e-6).margin(1e-9 * report.rhs_norm));
  if (report.converged()) CHECK(residual <= report.tolerance * (1 + 1e-12));
}

}  // namespace

TEST_CASE("A regular matrix of tiny values is not taken for one with constants in its null space", "[returned]") {
  const auto b = noise(50, 1);
  for (const auto& [scale, of_b] : {std::pair<double, double>{1, 1},
                                    {1e-162, 1},
                                    {1e-189, 1e-35},
                                    {1e-200, 1e-35},
                                    {1e-250, 1},
                                    {1e-290, 1},
                                    {1e200, 1}}) {
    INFO(scale);
    const Context<host> ctx(1);
    SystemOptions options = named("cg", "none", 1e-5);
    options.null_space = NullSpace::constant;
    const Rows a = line(50, scale);
    const Arrays<double, host> arrays(ctx, a);
    std::optional<LinearSystem<double, host>> system;
    CHECK_THROWS_AS(system.emplace(ctx, arrays.view(), options), InputError);
    if (system) check_report(a, times(b, of_b), run_system(ctx, *system, times(b, of_b)));
  }
}

TEST_CASE("Where x leaves the range of doubles the residual that is reported is not that of another x",
          "[returned]") {
  for (const std::string solver : {"cg", "gmres", "bicgstab", "auto"}) {
    const Context<host> ctx(1);
    INFO(solver);
    const Rows a = line(8, 1e-309);
    const std::vector<double> b(8, 1.0);
    SystemOf<double, host> system(ctx, a, named(solver, "none", 1e-8, 2));
    check_report(a, b, run_system(ctx, system, b));
    // And where it underflows: x = 0 leaves b.
    const Rows large = line(34, 1e290);
    const auto small = times(noise(34, 1), 1e-61);
    SystemOf<double, host> below(ctx, large, named(solver, "auto", 0.01, 5));
    const auto solved = run_system(ctx, below, small);
    check_report(large, small, solved);
    if (scaled_norm(solved.x) == 0) CHECK(solved.report.true_residual == Approx(solved.report.rhs_norm));
  }
}

TEST_CASE("A guess of ordinary size does not overflow next to a large matrix", "[returned]") {
  for (const double scale : {1e153, 1e154, 1e155, 1e200, 1e300}) {
    for (const double start : {0.0, 1.0}) {
      INFO(scale << ", from " << start);
      const Context<host> ctx(1);
      const Rows a = diagonal({scale, scale});
      const std::vector<double> b = {1, 2};
      SystemOf<double, host> system(ctx, a, named("auto", "jacobi", 1e-8));
      const auto solved = run_system(ctx, system, b, {start, start});
      INFO(solved.report.reason);
      CHECK(solved.report.converged());
      CHECK(solved.x[0] == Approx(1 / scale));
      CHECK(solved.x[1] == Approx(2 / scale));
      check_report(a, b, solved);
      if (start == 0) CHECK(solved.report.initial_residual == Approx(std::sqrt(5.0)));
      if (start == 1 && scale < 1e300) {
        CHECK(solved.report.initial_residual == Approx(std::sqrt(2.0) * scale));
      }
    }
  }
}

TEST_CASE("Norms are 2-norms also where the squares of b underflow", "[returned]") {
  std::vector<double> uneven(40, 1e-3);
  uneven[0] = 1;
  for (const double scale : {1e-100, 1e-140, 1e-145, 1e-150, 1e-200, 1e-300}) {
    for (const auto& b : {uneven, std::vector<double>(40, 1.0)}) {
      INFO(scale);
      const Context<host> ctx(1);
      const Rows a = line(40, 1, 3);
      SystemOptions options = named("cg", "auto", 1e-8);
      options.stop.abs_tol = 1e-10;
      SystemOf<double, host> system(ctx, a, options);
      const auto solved = run_system(ctx, system, times(b, scale));
      CHECK(solved.report.converged());
      CHECK(solved.report.rhs_norm / scale == Approx(norm(b)).epsilon(1e-9));
      CHECK(solved.report.true_residual / scale ==
            Approx(scaled_norm(times(b, scale)) / scale).epsilon(1e-9));  // x = 0 meets the tolerance
    }
  }
}

TEST_CASE("The history has an entry for the start and one for each iteration, and starts from the guess",
          "[returned]") {
  const auto b = noise(35, 3);
  std::vector<double> rising(35);
  for (std::size_t i = 0; i < 35; ++i) rising[i] = double(i + 1);
  Rows swap(2);
  swap.at(0, 1) = swap.at(1, 0) = 1;
  struct Of {
    Rows a;
    std::vector<double> b;
    double rtol, atol;
  };
  for (const Of& s : {Of{diagonal(std::vector<double>(35, 1e200)), b, 0, 2e-19}, Of{diagonal(rising), b, 0, 0},
                      Of{swap, {0.3, 0.7}, 1e-17, 0}, Of{line(35, 1), b, 1e-17, 0}}) {
    const Context<host> ctx(1);
    SystemOptions options = named("auto", "auto", s.rtol);
    options.stop.abs_tol = s.atol;
    options.spmv.format = "csr";
    const Arrays<double, host> arrays(ctx, s.a);
    LinearSystem<double, host> system(ctx, arrays.view(), options);
    const auto solved = run_system(ctx, system, s.b);
    INFO(solved.report.reason << ", " << solved.report.attempts.size() << " attempts");
    CHECK(solved.report.initial_residual == Approx(norm(s.b)));
    CHECK(solved.report.tolerance == Approx(std::max(s.rtol * norm(s.b), s.atol)));
    CHECK(solved.report.history.size() == static_cast<std::size_t>(solved.report.iterations) + 1);
    CHECK(solved.report.history.front() == Approx(norm(s.b)));
  }
}

TEST_CASE("An unknown without entries is the guess or zero, and no NaN is returned as converged", "[returned]") {
  Rows a(3);  // of the first unknown there is no entry
  a.at(0, 1) = -2;
  a.at(1, 2) = -2;
  a.at(2, 2) = 2;
  const std::vector<double> b = {-3, -4, 5};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const std::string solver : {"auto", "gmres", "bicgstab"}) {
    for (const double guess : {0.0, 7.0, nan, std::numeric_limits<double>::infinity()}) {
      INFO(solver << ", guess " << guess);
      const Context<host> ctx(1);
      SystemOf<double, host> system(ctx, a, named(solver, "auto", 0.1));
      const auto solved = run_system(ctx, system, b, {guess, 0, 0});
      INFO(name_of(solved.report.status) << ", " << solved.report.reason);
      if (solved.report.converged()) {
        CHECK(all_finite(solved.x));
        CHECK((solved.x[0] == guess || solved.x[0] == 0));
      }
      if (std::isfinite(guess)) check_report(a, b, solved);
    }
  }
}
