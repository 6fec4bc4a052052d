// SPDX-License-Identifier: Apache-2.0
// BiCGStab: breakdowns are survived or said, and the best iterate is kept.
#include "tests/solver/systems.hpp"

#include "solver/krylov/steps/bicgstab_recurrence.hpp"

namespace {

struct Residuals {
  std::vector<double> full, half;  // |r| before the first and after each step; |s| of each step
};

// Van der Vorst's algorithm with Jacobi from the right, in plain loops and long double.
Residuals textbook_bicgstab(const Rows& a, const std::vector<double>& b, int steps) {
  using Vector = std::vector<long double>;
  const std::size_t n = b.size();
  const auto dot = [](const Vector& x, const Vector& y) {
    long double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
    return sum;
  };
  const auto image = [&](const Vector& x) {  // A D^-1 x
    Vector y(n, 0.0L);
    for (std::size_t i = 0; i < n; ++i) {
      for (const auto& [j, value] : a.row[i]) {
        const auto k = static_cast<std::size_t>(j);
        y[i] += value * (x[k] / static_cast<long double>(a.row[k].at(j)));
      }
    }
    return y;
  };
  Vector r(b.begin(), b.end()), p = r;
  const Vector shadow = r;
  Residuals found{{static_cast<double>(std::sqrt(dot(r, r)))}, {}};
  long double rho = dot(shadow, r);
  for (int k = 0; k < steps; ++k) {
    const Vector v = image(p);
    const long double alpha = rho / dot(shadow, v);
    Vector s(n);
    for (std::size_t i = 0; i < n; ++i) s[i] = r[i] - alpha * v[i];
    found.half.push_back(static_cast<double>(std::sqrt(dot(s, s))));
    const Vector t = image(s);
    const long double omega = dot(t, s) / dot(t, t);
    for (std::size_t i = 0; i < n; ++i) r[i] = s[i] - omega * t[i];
    found.full.push_back(static_cast<double>(std::sqrt(dot(r, r))));
    const long double next = dot(shadow, r), beta = next / rho * (alpha / omega);
    rho = next;
    for (std::size_t i = 0; i < n; ++i) p[i] = r[i] + beta * (p[i] - omega * v[i]);
  }
  return found;
}

}  // namespace

TEST_BOTH("BiCGStab takes the steps of the textbook, and its stabilising half never lengthens the residual",
          "[solver][bicgstab]") {
  constexpr int steps = 12;
  for (const double wind : {0.0, 0.4, 0.9}) {
    for (const bool resident : {false, true}) {
      CAPTURE(wind, resident);
      const Rows a = laplacian(15, wind, 0.2);
      const auto b = a.rhs_for(noise(a.size()));
      const Residuals expected = textbook_bicgstab(a, b, steps);
      SystemOptions options = system_options("bicgstab", "jacobi");
      set_resident(options.solver, resident);
      options.spmv.format = resident ? "ehyb" : "csr";
      options.stop.max_iterations = steps;
      options.stop.rel_tol = 1e-14;
      SystemOf<double, S> system(ctx, a, options);
      const auto bs = make_array(ctx, b);
      auto xs = make_array(ctx, std::vector<double>(b.size(), 0.0));
      const SolveReport report = system.solve(bs.cspan(), xs.span());
      REQUIRE(report.history.size() == steps + 1);
      for (std::size_t k = 0; k < report.history.size(); ++k) {
        INFO("step " << k);
        CHECK(report.history[k] == Approx(expected.full[k]).epsilon(1e-6));
        if (k > 0) CHECK(report.history[k] <= expected.half[k - 1] * (1 + 1e-6));
      }
    }
  }
}

TEST_BOTH("BiCGStab says breakdown on a skew-symmetric matrix, after five restarts", "[solver][bicgstab]") {
  // r.A r = 0 for every r: the method cannot take its first step.
  const Context<S> ctx;
  Rows a(2);
  a.at(0, 1) = 1;
  a.at(1, 0) = -1;
  const Arrays<double, S> arrays(ctx, a);
  const auto A = make_spmv(ctx, arrays.view(), RowOrder<S>{}, SpmvOptions{});
  Bicgstab<double, S> solver(ctx, 2);
  const std::vector<double> b = {1, 2};
  const auto run = run_solver<double, S>(ctx, solver, *A, nullptr, b, {});
  CHECK(run.report.status == Status::breakdown);
  CHECK(run.report.restarts == 5);
  CHECK(run.report.true_residual == Approx(true_residual<double>(a, b, run.x)));
  CHECK(run.report.true_residual <= norm(b) * (1 + 1e-12));
}

TEST_CASE("BiCGStab breaks down where omega or rho is no more than rounding", "[solver][bicgstab]") {
  using detail::bicgstab_breakdown;
  const double eps = 1e-16;
  CHECK(bicgstab_breakdown(eps, 1, 1, 1, 1, 1) == detail::Event::none);
  CHECK(bicgstab_breakdown(eps, 0, 1, 1, 1, 1) == detail::Event::omega_vanished);
  CHECK(bicgstab_breakdown(eps, 0.9e-13, 1e3, 1, 1, 1) == detail::Event::omega_vanished);
  CHECK(bicgstab_breakdown(eps, 1.1e-13, 1e3, 1, 1, 1) == detail::Event::none);
  CHECK(bicgstab_breakdown(eps, 1, 1, 0, 1, 1) == detail::Event::rho_vanished);
  CHECK(bicgstab_breakdown(eps, 1, 1, -0.9e-10, 1e4, 1e2) == detail::Event::rho_vanished);
  CHECK(bicgstab_breakdown(eps, 1, 1, -1.1e-10, 1e4, 1e2) == detail::Event::none);
}

TEST_BOTH("BiCGStab begins anew from a shadow residual of its own, and converges", "[solver][bicgstab]") {
  // Found by trying small integers: r becomes orthogonal to the first shadow residual, and with that one kept a
  // restart could take no step, for r0.A r = 0 there.
  const Context<S> ctx;
  const std::vector<std::pair<std::vector<double>, std::vector<double>>> systems = {
      {{1, -1, 1, 2, 2, 0, -2, -2, 2}, {1, -1, -1}},
      {{1, 2, 0, -2, 2, -1, -1, -2, 1}, {2, -2, 2}},
      {{-1, 1, -2, 0, 1, 0, -2, 2, -1}, {0, 2, 0}}};
  for (const auto& [entries, b] : systems) {
    CAPTURE(entries);
    Rows a(3);
    for (Index k = 0; k < 9; ++k) a.at(k / 3, k % 3) = entries[static_cast<std::size_t>(k)];
    const Arrays<double, S> arrays(ctx, a);
    const auto A = make_spmv(ctx, arrays.view(), RowOrder<S>{}, SpmvOptions{});
    Bicgstab<double, S> solver(ctx, 3);
    const auto run = run_solver<double, S>(ctx, solver, *A, nullptr, b, {});
    CHECK(run.report.converged());
    CHECK(run.report.restarts == 1);
    CHECK(true_residual<double>(a, b, run.x) <= 1e-8 * norm(b));
  }
}

TEST_BOTH("BiCGStab solves a convection-dominated system", "[solver][bicgstab]") {
  const Rows a = laplacian(30, 0.9);
  const Arrays<double, S> arrays(ctx, a);
  const auto A = make_spmv(ctx, arrays.view(), RowOrder<S>{}, SpmvOptions{});
  const auto M = make_precond(ctx, arrays.view(), RowOrder<S>{}, PrecondOptions{}, SpmvOptions{});
  Bicgstab<double, S> solver(ctx, a.size());
  const auto x = noise(a.size());
  const auto b = a.rhs_for(x);
  StopCriterion stop = stop_at(1e-11);
  const auto run = run_solver<double, S>(ctx, solver, *A, M.get(), b, stop);
  CHECK(run.report.converged());
  CHECK(true_residual<double>(a, b, run.x) <= 1e-11 * norm(b) * (1 + 1e-6));
}

TEST_BOTH("BiCGStab returns no worse an iterate than the guess when it runs out of iterations",
          "[solver][bicgstab]") {
  // Strongly indefinite: residuals jump above the start.
  Rows a = laplacian(16, 0.5, -3.7);
  const Arrays<double, S> arrays(ctx, a);
  const auto A = make_spmv(ctx, arrays.view(), RowOrder<S>{}, SpmvOptions{});
  Bicgstab<double, S> solver(ctx, a.size());
  const auto b = a.rhs_for(noise(a.size()));
  for (const int most : {3, 20, 57}) {
    StopCriterion stop;
    stop.max_iterations = most;
    const auto run = run_solver<double, S>(ctx, solver, *A, nullptr, b, stop);
    INFO(most << " " << name_of(run.report.status));
    CHECK(true_residual<double>(a, b, run.x) <= norm(b) * (1 + 1e-12));
    CHECK(run.report.true_residual == Approx(true_residual<double>(a, b, run.x)).epsilon(1e-8));
  }
}
