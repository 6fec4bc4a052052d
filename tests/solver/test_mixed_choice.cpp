// SPDX-License-Identifier: Apache-2.0
// Mixed precision whose format and preconditioner are left to "auto": a system iterates in single precision from the
// start if that is expected to be faster than double with the best preconditioner, and else in double.
#include "tests/solver/systems.hpp"

namespace {

SystemOptions mixed_options(double rel_tol = 1e-10) {
  SystemOptions options;
  options.mixed = true;
  options.stop.rel_tol = rel_tol;
  return options;
}

// An iteration in single precision is expected to take so many times the seconds that the cost model says.
SystemOptions in_single_times(double seconds, double rel_tol = 1e-10) {
  SystemOptions options = mixed_options(rel_tol);
  options.estimate_scale.single_seconds = seconds;
  return options;
}

SystemOptions fast_in_single(double rel_tol = 1e-10) { return in_single_times(0.01, rel_tol); }

// Neighbours in two directions, the second far weaker, and the diagonal so little above what makes it definite: many
// iterations, for some of which single precision does not suffice.
Rows weak_grid(Index n, double above = 1e-3) {
  Rows a = laplacian(n);
  for (Index i = 0; i < a.size(); ++i) {
    for (auto& [j, value] : a.row[static_cast<std::size_t>(i)]) {
      if (std::abs(i - j) > 1) value *= 1e-3;
    }
    double sum = 0;
    for (const auto& [j, value] : a.row[static_cast<std::size_t>(i)]) sum += j == i ? 0 : std::abs(value);
    a.at(i, i) = sum * (1 + above);
  }
  return a;
}

template <Space S>
struct WeakGrid {
  Context<S> ctx;
  Rows a = weak_grid(40);
  Arrays<double, S> arrays{ctx, a};
  std::vector<double> b = a.rhs_for(noise(a.size()));
};

}  // namespace

TEST_BOTH("A small system stays in double, whose iterations are as fast and fewer", "[mixed][choice]") {
  const Rows a = laplacian(16);
  const Arrays<double, S> arrays(ctx, a);
  const auto b = a.rhs_for(noise(a.size()));
  SystemOptions options = mixed_options();
  LinearSystem<double, S> mixed(ctx, arrays.view(), options);
  const auto s = run_system(ctx, mixed, b);
  CHECK(s.report.converged());
  CHECK(s.report.solver == "cg");
  CHECK(s.report.refinements == 0);
  CHECK(!mixed.info().mixed);
  CHECK(mixed.info().precision_reason == "in double, which is expected to be as fast");
  options.mixed = false;
  LinearSystem<double, S> plain(ctx, arrays.view(), options);
  CHECK(plain.info().precision_reason.empty());
  const auto of_double = run_system(ctx, plain, b);
  CHECK(s.report.history == of_double.report.history);
  CHECK((s.x == of_double.x));
}

TEST_BOTH("A system iterates in single precision from its first solve on where that is far faster",
          "[mixed][choice]") {
  const WeakGrid<S> grid;
  const auto& [ctx, a, arrays, b] = grid;
  LinearSystem<double, S> system(ctx, arrays.view(), fast_in_single());
  CHECK(system.info().mixed);
  CHECK(system.info().precision_reason.empty());
  for (int solve = 0; solve < 2; ++solve) {
    const auto s = run_system(ctx, system, b);
    INFO(s.report.changed << "; " << s.report.reason);
    CHECK(s.report.converged());
    CHECK(s.report.solver == "mixed cg");
    CHECK(s.report.method == "cg");
    CHECK(s.report.refinements > 0);
    CHECK(s.report.changed.empty());
    REQUIRE(s.report.attempts.size() == 1);
    CHECK(s.report.attempts[0].iterations == s.report.iterations);
    CHECK(s.report.history.size() == static_cast<std::size_t>(s.report.iterations) + 1);
    CHECK(s.report.history.front() == Approx(norm(b)));
    CHECK(true_residual<double>(a, b, s.x) <= 1e-10 * norm(b) * (1 + 1e-6));
    CHECK(system.history().decision().history.solves == solve + 1);
  }

  // Refreshed values are those of both precisions.
  Rows other = a;
  for (Index i = 0; i < a.size(); ++i) other.at(i, i) *= 1 + 0.01 * (i % 5);
  const Arrays<double, S> renewed(ctx, other);
  system.refresh(renewed.val.cspan());
  const auto third = run_system(ctx, system, b);
  CHECK(third.report.solver == "mixed cg");
  CHECK(true_residual<double>(other, b, third.x) <= 1e-10 * norm(b) * (1 + 1e-6));
  const auto x = make_array(ctx, third.x);
  auto y = make_array(ctx, b);
  system.multiply(x.cspan(), y.span());
  const auto of_product = to_vector(ctx, y.cspan());
  for (std::size_t i = 0; i < b.size(); ++i) CHECK(of_product[i] == Approx(b[i]).margin(1e-8 * norm(b)));
}

TEST_BOTH("Single precision that is expected to be no faster is left alone", "[mixed][choice]") {
  const WeakGrid<S> grid;
  const auto& [ctx, a, arrays, b] = grid;
  LinearSystem<double, S> system(ctx, arrays.view(), in_single_times(100));
  CHECK(!system.info().mixed);
  CHECK(system.info().precision_reason == "in double, which is expected to be as fast");
  CHECK(run_system(ctx, system, b).report.solver == "cg");
}

TEST_BOTH("A system stays in double where another preconditioner is expected to win, and moves to that",
          "[mixed][choice]") {
  Rows a(5000);  // the second differences of a line
  for (Index i = 0; i < a.size(); ++i) {
    a.at(i, i) = 2;
    if (i > 0) a.at(i, i - 1) = a.at(i - 1, i) = -1;
  }
  const auto b = a.rhs_for(noise(a.size()));
  SystemOptions options = fast_in_single(1e-8);
  options.estimate_scale.iterations = 50;  // far more than the size makes expect, as there will be
  options.solver.name = "cg";              // which is not ended for factors
  SystemOf<double, S> system(ctx, a, options);
  REQUIRE(system.history().candidates().front().preconditioner != system.info().preconditioner.name);
  CHECK(!system.info().mixed);
  CHECK(system.info().precision_reason == "in double, which is expected to be as fast");
  const auto s = run_system(ctx, system, b);
  INFO(s.report.changed);
  CHECK(s.report.converged());
  CHECK(contains(s.report.changed, "preconditioner "));
  CHECK(s.report.solver == "cg");
  CHECK(true_residual<double>(a, b, s.x) <= 1e-8 * norm(b) * (1 + 1e-6));
}

TEST_BOTH("Double follows in the same solve where single precision does not suffice", "[mixed][choice]") {
  const Rows a = weak_grid(66, 1e-7);
  const auto b = a.rhs_for(noise(a.size()));
  SystemOf<double, S> system(ctx, a, fast_in_single(1e-11));
  REQUIRE(system.info().mixed);
  const auto s = run_system(ctx, system, b);
  INFO(s.report.reason);
  CHECK(s.report.converged());
  REQUIRE(s.report.attempts.size() >= 2);
  CHECK(s.report.attempts[0].solver == "mixed cg");
  CHECK(s.report.attempts[0].status == Status::stagnation);
  CHECK(s.report.solver == "cg");
  CHECK(true_residual<double>(a, b, s.x) <= 1e-11 * norm(b) * (1 + 1e-6));
  int sum = 0;
  for (const Attempt& attempt : s.report.attempts) sum += attempt.iterations;
  CHECK(sum == s.report.iterations);
  const auto second = run_system(ctx, system, b);
  CHECK(second.report.converged());
  CHECK(second.report.attempts.size() == 1);
  CHECK(second.report.solver == "cg");
  CHECK(contains(system.info().precision_reason, "did not suffice"));
}

TEST_BOTH("Limits are those of the whole solve, in whatever precision", "[mixed][choice]") {
  const WeakGrid<S> grid;
  const auto& [ctx, a, arrays, b] = grid;
  SystemOptions options = fast_in_single();
  LinearSystem<double, S> whole(ctx, arrays.view(), options);
  const int all = run_system(ctx, whole, b).report.iterations;
  options.stop.max_iterations = all - 3;
  LinearSystem<double, S> system(ctx, arrays.view(), options);
  const auto s = run_system(ctx, system, b);
  CHECK(s.report.status == Status::max_iterations);
  CHECK(s.report.iterations == all - 3);
  const SolveReport next = run_system(ctx, system, b).report;  // has the same limit, not what was left of it
  CHECK((next.converged() || next.iterations == all - 3));

  int seen = 0;
  LinearSystem<double, S> stopped(ctx, arrays.view(), fast_in_single());
  const auto at = make_array(ctx, b);
  auto x = make_array(ctx, std::vector<double>(b.size(), 0.0));
  const SolveReport report = stopped.solve(at.cspan(), x.span(), [&](const Progress& now) {
    if (now.solver == "mixed cg") ++seen;
    return now.solver != "mixed cg";
  });
  CHECK(report.status == Status::stopped_by_caller);
  CHECK(seen == 1);
}

TEST_BOTH("A system that is used in solver order keeps the precision that it has chosen", "[mixed][choice]") {
  const WeakGrid<S> grid;
  const auto& [ctx, a, arrays, b] = grid;
  for (const double single_seconds : {0.01, 100.0}) {
    for (const bool solved_before : {false, true}) {
      CAPTURE(single_seconds, solved_before);
      LinearSystem<double, S> system(ctx, arrays.view(), in_single_times(single_seconds));
      const bool single = system.info().mixed;
      CHECK(single == (single_seconds < 1));
      if (solved_before) CHECK(run_system(ctx, system, b).report.converged());
      (void)system.ordered().order();
      CHECK(system.info().mixed == single);
      CHECK(system.info().precision_reason.empty() == single);
      const auto s = run_system(ctx, system, b);
      CHECK(s.report.converged());
      CHECK(s.report.solver == (single ? "mixed cg" : "cg"));
      CHECK(true_residual<double>(a, b, s.x) <= 1e-10 * norm(b) * (1 + 1e-6));

      Array<double, S> b_ordered(ctx, a.size()), x_ordered(ctx, a.size());
      system.ordered().from_user_order(make_array(ctx, b).cspan(), b_ordered.span());
      fill<double, S>(ctx, 0, x_ordered.span());
      CHECK(system.ordered().solve(b_ordered.cspan(), x_ordered.span()).converged());
      auto x = make_array(ctx, b);
      system.ordered().to_user_order(x_ordered.cspan(), x.span());
      CHECK(true_residual<double>(a, b, to_vector(ctx, x.cspan())) <= 1e-10 * norm(b) * (1 + 1e-6));
    }
  }
}

TEST_BOTH("Where the products to come are said, the precision follows the preconditioner that they choose",
          "[mixed][choice]") {
  const WeakGrid<S> grid;
  const auto& [ctx, a, arrays, b] = grid;
  for (const double single_seconds : {0.01, 100.0}) {
    SystemOptions options = in_single_times(single_seconds);
    options.solver.name = "bicgstab";  // whose strong preconditioners are dear: Jacobi stays
    options.expected_products = 200;
    LinearSystem<double, S> system(ctx, arrays.view(), options);
    const auto s = run_system(ctx, system, b);
    CHECK(s.report.converged());
    const bool jacobi = system.info().preconditioner.name == "jacobi" || system.info().preconditioner.name == "none";
    INFO(system.info().preconditioner.name);
    CHECK(system.info().mixed == (single_seconds < 1 && jacobi));
    CHECK(system.info().precision_reason.empty() == system.info().mixed);
    CHECK(true_residual<double>(a, b, s.x) <= 1e-10 * norm(b) * (1 + 1e-6));
  }
}
