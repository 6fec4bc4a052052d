// SPDX-License-Identifier: Apache-2.0
// Diagonal matrices under "auto": divided by, judged like any solve, and left to a solver where that is not enough.
#include "tests/solver/systems.hpp"

namespace {

// Of either sign, none near zero.
std::vector<double> entries(Index n, double unit = 1) {
  std::vector<double> d = noise(n, 5);
  for (double& value : d) value = unit * (value + (value < 0 ? -0.1 : 0.1));
  return d;
}

template <class T, Space S>
void check_divided(const Rows& a, const SystemOptions& options, double tolerance) {
  const Context<S> ctx;
  SystemOf<T, S> system(ctx, a, options);
  CHECK(system.info().solver == "division");
  const auto b = noise(a.size(), 8);
  for (const std::vector<double>& guess : {std::vector<double>(), noise(a.size(), 9)}) {
    const auto found = run_system(ctx, system, b, guess);
    CHECK(found.report.converged());
    CHECK(found.report.solver == "division");
    CHECK(found.report.iterations == 0);
    CHECK(found.report.history.size() == 1);
    CHECK(found.report.attempts.size() == 1);
    CHECK(found.report.true_residual <= tolerance * norm(b));
    CHECK(true_residual<T>(a, cast<T>(b), found.x) <= tolerance * norm(b));
  }
}

}  // namespace

TEST_BOTH("A diagonal matrix is divided by where all is chosen automatically", "[system][division]") {
  const Rows a = diagonal(entries(700));
  check_divided<double, S>(a, {}, 1e-15);
  SystemOptions options;
  options.stop.rel_tol = 1e-6;
  Rows rounded = a;
  for (Index i = 0; i < a.size(); ++i)
    rounded.at(i, i) = static_cast<float>(a.row[static_cast<std::size_t>(i)].at(i));
  check_divided<float, S>(rounded, options, 1e-6);
  for (const char* format : {"csr", "ehyb", "ellwarp"}) {  // a format that was named stays
    options.spmv.format = format;
    check_divided<double, S>(a, options, 1e-15);
  }
  options = {};
  options.old_of_new.resize(700);
  std::iota(options.old_of_new.rbegin(), options.old_of_new.rend(), 0);
  check_divided<double, S>(a, options, 1e-15);
  options = {};
  options.expected_products = 500;
  check_divided<double, S>(a, options, 1e-15);
  check_divided<double, S>(diagonal({3.0}), {}, 1e-15);
}

TEST_BOTH("What is named is not divided by, nor what is not diagonal", "[system][division]") {
  const Rows a = diagonal(entries(40));
  const auto solver_of = [&](const Rows& matrix, const SystemOptions& options) {
    SystemOf<double, S> system(ctx, matrix, options);
    const auto b = matrix.rhs_for(noise(matrix.size()));
    const SolveReport report = run_system(ctx, system, b).report;
    CHECK(report.converged());
    return report.solver;
  };
  SystemOptions options = system_options("bicgstab");
  CHECK(solver_of(a, options) == "bicgstab");
  options = {};
  for (const char* precond : {"none", "jacobi", "spai"}) {
    options.precond.name = precond;
    CHECK(solver_of(a, options) != "division");
  }
  options = {};
  options.mixed = true;
  CHECK(solver_of(a, options) == "division");  // the precision is not named for anything
  CHECK(solver_of(laplacian(5), {}) != "division");
  Rows rolled(30), uneven = diagonal(entries(30));
  for (Index i = 0; i < 30; ++i) rolled.at(i, (i + 1) % 30) = 1;
  CHECK(solver_of(rolled, {}) != "division");
  uneven.at(3, 7) = 0.1;  // and as many entries as rows
  uneven.row[9].clear();
  SystemOf<double, S> singular(ctx, uneven);
  CHECK(singular.info().solver != "division");
}

TEST_BOTH("New values are divided by, and zeros among them are a solver's", "[system][division]") {
  const Rows a = diagonal(entries(60)), other = diagonal(entries(60, -3));
  const Arrays<double, S> arrays(ctx, a), new_arrays(ctx, other);
  LinearSystem<double, S> system(ctx, arrays.view());
  const auto b = noise(60, 4);
  system.refresh(new_arrays.val.cspan());
  const auto found = run_system(ctx, system, b);
  CHECK((found.report.converged() && found.report.solver == "division"));
  CHECK(true_residual<double>(other, b, found.x) <= 1e-15 * norm(b));
  // A zero: what follows Jacobi, as with any matrix; here b has a part that no x produces, then none.
  Rows with_zero = a;
  with_zero.at(7, 7) = 0;
  const Arrays<double, S> zero_arrays(ctx, with_zero);
  system.refresh(zero_arrays.val.cspan());
  const auto outside = run_system(ctx, system, b);
  CHECK(!outside.report.converged());
  CHECK(outside.report.solver != "division");
  const auto inside = run_system(ctx, system, with_zero.rhs_for(noise(60)));
  CHECK(inside.report.converged());
  CHECK(inside.report.solver != "division");
  LinearSystem<double, S> singular(ctx, zero_arrays.view());
  CHECK(singular.info().solver != "division");
}

TEST_BOTH("Where dividing does not meet the tolerance solvers follow, and say why", "[system][division]") {
  const Rows a = diagonal(entries(50));
  SystemOptions options;
  options.stop.rel_tol = 1e-20;
  options.stop.max_iterations = 50;
  SystemOf<double, S> system(ctx, a, options);
  const auto b = noise(50, 6);
  const auto found = run_system(ctx, system, b);
  CHECK(found.report.status == Status::stagnation);
  CHECK(found.report.failure.cause == Cause::rounding);
  CHECK(found.report.attainable_residual > 0);
  CHECK(found.report.attempts.front().solver == "division");
  CHECK(found.report.attempts.size() > 1);
  CHECK(true_residual<double>(a, b, found.x) <= 1e-15 * norm(b));
  StopCriterion none;
  none.max_iterations = 0;
  system.set_stop_criterion(none);
  CHECK(run_system(ctx, system, b).report.status == Status::max_iterations);
}

TEST_BOTH("Numbers near the ends of the range are divided too, and others named", "[system][division]") {
  for (const double unit : {1e-250, 1e250}) {
    const Rows a = diagonal(entries(50, unit));
    SystemOf<double, S> system(ctx, a);
    for (const double size : {1e-250, 1.0, 1e250}) {
      INFO(unit << " " << size);
      auto b = noise(50, 6);
      for (double& value : b) value *= size;
      const bool leaves = size / unit > 1e300 || size / unit < 1e-300;  // x does
      const auto found = run_system(ctx, system, b);
      CHECK(found.report.converged() != leaves);
      if (!leaves) CHECK(true_residual<double>(a, b, found.x) <= 1e-8 * norm(b));
    }
  }
  const Rows a = diagonal(entries(50));
  SystemOf<double, S> system(ctx, a);
  auto b = noise(50);
  b[4] = std::numeric_limits<double>::quiet_NaN();
  CHECK(run_system(ctx, system, b).report.status == Status::not_finite);
  const auto nothing = run_system(ctx, system, std::vector<double>(50, 0.0), noise(50));
  CHECK(nothing.report.converged());
  CHECK(nothing.x == std::vector<double>(50, 0.0));
}

TEST_BOTH("Columns are divided one by one", "[columns][division]") {
  const Rows a = diagonal(entries(80));
  SystemOf<double, S> system(ctx, a);
  const auto b = noise(240);
  const auto bs = make_array(ctx, b);
  auto xs = make_array(ctx, std::vector<double>(240, 0.0));
  const auto reports = system.solve_columns(bs.cspan(), xs.span(), 3, {}, InitialGuess::zero);
  const auto x = to_vector(ctx, xs.cspan());
  for (std::size_t c = 0; c < 3; ++c) {
    CHECK((reports[c].converged() && reports[c].solver == "division"));
    const std::vector<double> b_c(b.begin() + 80 * c, b.begin() + 80 * (c + 1)),
        x_c(x.begin() + 80 * c, x.begin() + 80 * (c + 1));
    CHECK(true_residual<double>(a, b_c, x_c) <= 1e-15 * norm(b_c));
  }
}

TEST_ON_HOST("A system that begins with the decision of one that divides divides too (host)", "[system][division]") {
  const Rows a = diagonal(entries(80));
  const Arrays<double, Space::host> arrays(ctx, a);
  LinearSystem<double, Space::host> first(ctx, arrays.view());
  const auto b = noise(80);
  const auto x = run_system(ctx, first, b).x;
  SystemOptions options;
  options.decision = first.history().decision();
  LinearSystem<double, Space::host> second(ctx, arrays.view(), options);
  const auto again = run_system(ctx, second, b);
  CHECK(again.report.solver == "division");
  CHECK(again.x == x);
}
