// SPDX-License-Identifier: Apache-2.0
// Mixed precision whose format and preconditioner are left to "auto": a solve begins in double, and goes on in single
// precision where that is expected to be faster.
#include "tests/catch.hpp"
#include "tests/solver/systems.hpp"

#include <newel/core/vector_ops.hpp>
#include "spmv/cost/scaled_estimates.hpp"

using namespace newel;
using namespace newel::testing;

namespace {

SystemOptions mixed_options(double rel_tol = 1e-10) {
  SystemOptions options;
  options.mixed = true;
  options.stop.rel_tol = rel_tol;
  return options;
}

bool says(const std::string& text, const char* what) { return text.find(what) != std::string::npos; }

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
  const Context<S> ctx;
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
  CHECK(says(mixed.info().precision_reason, "begins in double"));
  options.mixed = false;
  LinearSystem<double, S> plain(ctx, arrays.view(), options);
  CHECK(plain.info().precision_reason.empty());
  const auto of_double = run_system(ctx, plain, b);
  CHECK(s.report.history == of_double.report.history);
  CHECK((s.x == of_double.x));
}

TEST_BOTH("A solve goes on in single precision where that is faster, and the next one begins there",
          "[mixed][choice]") {
  const detail::ScaledEstimates fast(20, 0.01);
  const WeakGrid<S> grid;
  const auto& [ctx, a, arrays, b] = grid;
  LinearSystem<double, S> system(ctx, arrays.view(), mixed_options());
  const auto first = run_system(ctx, system, b);
  INFO(first.report.changed << "; " << first.report.reason);
  CHECK(first.report.converged());
  CHECK(first.report.solver == "mixed cg");
  CHECK(first.report.method == "cg");
  CHECK(first.report.refinements > 0);
  CHECK(says(first.report.changed, "single precision, in "));
  REQUIRE(first.report.attempts.size() == 1);
  CHECK(first.report.attempts[0].iterations == first.report.iterations);
  CHECK(first.report.history.size() == static_cast<std::size_t>(first.report.iterations) + 1);
  CHECK(first.report.history.front() == Approx(norm(b)));
  CHECK(true_residual<double>(a, b, first.x) <= 1e-10 * norm(b) * (1 + 1e-6));
  CHECK(system.info().mixed);
  CHECK(system.info().precision_reason.empty());
  CHECK(system.decision().solves == 1);

  const auto second = run_system(ctx, system, b);
  CHECK(second.report.converged());
  CHECK(second.report.changed.empty());
  CHECK(second.report.solver == "mixed cg");
  CHECK(second.report.attempts.size() == 1);
  CHECK(second.report.history.size() == static_cast<std::size_t>(second.report.iterations) + 1);
  CHECK(true_residual<double>(a, b, second.x) <= 1e-10 * norm(b) * (1 + 1e-6));

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

TEST_BOTH("It goes on in double again where single precision does not suffice, and stays there", "[mixed][choice]") {
  const detail::ScaledEstimates fast(20, 0.01);
  const Context<S> ctx;
  const Rows a = weak_grid(40, 1e-6);
  const Arrays<double, S> arrays(ctx, a);
  const auto b = a.rhs_for(noise(a.size()));
  LinearSystem<double, S> system(ctx, arrays.view(), mixed_options(1e-9));
  const auto first = run_system(ctx, system, b);
  INFO(first.report.changed << "; " << first.report.reason);
  CHECK(first.report.converged());
  CHECK(says(first.report.changed, "single precision, in "));
  REQUIRE(first.report.attempts.size() >= 2);
  CHECK(first.report.attempts[0].solver == "mixed cg");
  CHECK(first.report.attempts[0].status == Status::stagnation);
  CHECK(first.report.solver == "cg");
  CHECK(true_residual<double>(a, b, first.x) <= 1e-9 * norm(b) * (1 + 1e-6));
  int sum = 0;
  for (const Attempt& attempt : first.report.attempts) sum += attempt.iterations;
  CHECK(sum == first.report.iterations);
  CHECK(says(system.info().precision_reason, "did not suffice"));
  CHECK(system.decision().single_failed);
  const auto second = run_system(ctx, system, b);
  CHECK(second.report.converged());
  CHECK(second.report.solver == "cg");
  CHECK(!says(second.report.changed, "single"));
}

TEST_BOTH("Limits are those of the whole solve, in whatever precision", "[mixed][choice]") {
  const detail::ScaledEstimates fast(20, 0.01);
  const WeakGrid<S> grid;
  const auto& [ctx, a, arrays, b] = grid;
  SystemOptions options = mixed_options();
  LinearSystem<double, S> whole(ctx, arrays.view(), options);
  const int all = run_system(ctx, whole, b).report.iterations;
  options.stop.max_iterations = all - 3;
  LinearSystem<double, S> system(ctx, arrays.view(), options);
  const auto s = run_system(ctx, system, b);
  CHECK(says(s.report.changed, "single precision, in "));
  CHECK(s.report.status == Status::max_iterations);
  CHECK(s.report.iterations == all - 3);
  CHECK(system.stop_criterion().max_iterations == all - 3);

  int seen = 0;
  LinearSystem<double, S> stopped(ctx, arrays.view(), mixed_options());
  const auto at = make_array(ctx, b);
  auto x = make_array(ctx, std::vector<double>(b.size(), 0.0));
  const SolveReport report = stopped.solve(at.cspan(), x.span(), [&](const Progress& now) {
    if (now.solver == "mixed cg") ++seen;
    return now.solver != "mixed cg";
  });
  CHECK(report.status == Status::stopped_by_caller);
  CHECK(seen == 1);
  CHECK(!stopped.decision().single_failed);
}

TEST_BOTH("A system that is used in solver order has chosen its precision before", "[mixed][choice]") {
  const Context<S> ctx;
  Rows a = laplacian(20);
  for (Index i = 0; i < a.size(); ++i) a.at(i, i) *= 2;  // so few iterations that Jacobi stays
  const Arrays<double, S> arrays(ctx, a);
  for (const double single_seconds : {0.01, 100.0}) {
    const detail::ScaledEstimates fast(1, single_seconds);
    LinearSystem<double, S> system(ctx, arrays.view(), mixed_options());
    CHECK(!system.info().mixed);
    (void)system.order();
    INFO(system.info().preconditioner.name << ", " << system.info().matrix.name << ", "
                                           << system.info().precision_reason);
    CHECK(system.info().mixed == (single_seconds < 1));
    CHECK(system.info().precision_reason.empty() == system.info().mixed);
    const auto b = a.rhs_for(noise(a.size()));
    const auto s = run_system(ctx, system, b);
    CHECK(s.report.converged());
    CHECK(true_residual<double>(a, b, s.x) <= 1e-10 * norm(b) * (1 + 1e-6));
  }
}

TEST_BOTH("A system that has gone on in single precision does so in solver order too", "[mixed][choice]") {
  const detail::ScaledEstimates fast(20, 0.01);
  const WeakGrid<S> grid;
  const auto& [ctx, a, arrays, b] = grid;
  LinearSystem<double, S> system(ctx, arrays.view(), mixed_options());
  CHECK(run_system(ctx, system, b).report.solver == "mixed cg");
  (void)system.order();
  CHECK(system.info().mixed);
  const auto s = run_system(ctx, system, b);
  CHECK(s.report.solver == "mixed cg");
  CHECK(true_residual<double>(a, b, s.x) <= 1e-10 * norm(b) * (1 + 1e-6));
}

TEST_BOTH("Where the products to come are said, the precision is chosen at once", "[mixed][choice]") {
  const WeakGrid<S> grid;
  const auto& [ctx, a, arrays, b] = grid;
  for (const double single_seconds : {0.01, 100.0}) {
    const detail::ScaledEstimates fast(1, single_seconds);
    SystemOptions options = mixed_options();
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
