// SPDX-License-Identifier: Apache-2.0
// The direct solver by its name: its answers, its refinement, and what it says of matrices without one.
#include "tests/core/memory_support.hpp"
#include "tests/solver/dense_solution.hpp"
#include "tests/solver/systems.hpp"

#include <newel/solver/memory_estimate.hpp>
#include "solver/direct/direct_solver.hpp"

namespace {

using HostSystem = LinearSystem<double, Space::host>;

double distance(const std::vector<double>& x, const std::vector<double>& y) {
  std::vector<double> d(x.size());
  for (std::size_t i = 0; i < d.size(); ++i) d[i] = x[i] - y[i];
  return norm(d) / norm(y);
}

// Symmetric, indefinite, zeros on the diagonal: L D L^T meets a zero pivot in every order.
Rows exchanges(Index pairs) {
  Rows a(2 * pairs);
  for (Index k = 0; k < pairs; ++k) {
    a.at(2 * k, 2 * k + 1) = a.at(2 * k + 1, 2 * k) = 1 + 0.25 * (k % 3);
    if (k > 0) a.at(2 * k, 2 * k - 2) = a.at(2 * k - 2, 2 * k) = 0.25;
  }
  return a;
}

// The same with a diagonal far too small for a pivot.
Rows tiny_pivots(Index pairs) {
  Rows a = exchanges(pairs);
  for (Index i = 0; i < a.size(); ++i) a.at(i, i) = 1e-17;
  return a;
}

SolveReport reported(const Rows& a, const std::vector<double>& b, SystemOptions options = system_options("direct")) {
  const Context<Space::host> ctx;
  SystemOf<double, Space::host> system(ctx, a, options);
  return run_system(ctx, system, b).report;
}

}  // namespace

TEST_CASE("The direct solver finds the x of a dense elimination, in every order and on either factors", "[direct]") {
  const Context<Space::host> ctx;
  for (const Rows& a : {laplacian(9), laplacian(9, 0.7), laplacian(8, 0, -3.1), exchanges(20), tiny_pivots(20)}) {
    const auto b = noise(a.size(), 4);
    const auto expected = dense_solution(a, b);
    for (const char* format : {"auto", "csr", "ehyb", "ellwarp"}) {
      CAPTURE(a.size(), format);
      SystemOf<double, Space::host> system(ctx, a, system_options("direct", "auto", format));
      const auto found = run_system(ctx, system, b);
      CHECK(found.report.converged());
      CHECK(found.report.solver == "direct");
      CHECK(found.report.iterations == 0);
      CHECK(found.report.twice_precision);
      CHECK(distance(found.x, expected) <= 1e-11);
      CHECK(true_residual(a, b, found.x) <= 1e-8 * norm(b));
      CHECK(system.info().preconditioner.name == "none");
    }
  }
}

TEST_CASE("In single precision x is right to its digits, and factors are those of double", "[direct]") {
  const Context<Space::host> ctx;
  const Rows a = laplacian(9, 0.7);
  const auto x = noise(a.size(), 5);
  const auto b = a.rhs_for(x);
  SystemOf<float, Space::host> system(ctx, a, system_options("direct", "auto", "auto", 1e-6));
  const auto found = run_system(ctx, system, b);
  CHECK(found.report.converged());
  CHECK(distance(std::vector<double>(found.x.begin(), found.x.end()), x) <= 3e-6);
}

TEST_CASE("New values have the bits of a new system, and any number of columns the same factors", "[direct]") {
  const Context<Space::host> ctx;
  for (const double wind : {0.0, 0.6}) {
    const Rows a = laplacian(11, wind);
    Rows other = a;
    for (auto& row : other.row) {
      for (auto& [j, value] : row) value *= 1.5;
    }
    for (Index i = 0; i < other.size(); ++i) other.at(i, i) += 0.01 * (i % 5);
    const Arrays<double, Space::host> values(ctx, other);
    const auto b = noise(a.size(), 6);
    for (const char* format : {"csr", "ehyb"}) {
      SystemOf<double, Space::host> system(ctx, a, system_options("direct", "auto", format));
      CHECK(run_system(ctx, system, b).report.converged());
      system.refresh(values.val.cspan());
      SystemOf<double, Space::host> anew(ctx, other, system_options("direct", "auto", format));
      const auto refreshed = run_system(ctx, system, b).x;
      CHECK(refreshed == run_system(ctx, anew, b).x);
      CHECK(true_residual(other, b, refreshed) <= 1e-12 * norm(b));
      CHECK_THROWS_WITH(system.in_place().matrix(), Catch::Contains("'direct' keeps values of the matrix"));
      const Index columns = 3;
      const auto many = noise(columns * a.size(), 7);
      const auto bs = make_array(ctx, many);
      auto xs = make_array(ctx, std::vector<double>(many.size(), 0.0));
      for (const SolveReport& report : system.solve_columns(bs.cspan(), xs.span(), columns)) {
        CHECK(report.converged());
      }
      const auto found = to_vector(ctx, xs.cspan());
      for (Index c = 0; c < columns; ++c) {
        const auto of = [&](const std::vector<double>& v) {
          return std::vector<double>(v.begin() + c * a.size(), v.begin() + (c + 1) * a.size());
        };
        CHECK(true_residual(other, of(many), of(found)) <= 1e-12 * norm(of(many)));
      }
    }
  }
}

TEST_CASE("Rows and columns of very different units are solved", "[direct]") {
  Rows a = laplacian(7, 0.5);
  for (Index i = 0; i < a.size(); ++i) {
    for (auto& [j, value] : a.row[static_cast<std::size_t>(i)])
      value *= std::ldexp(1.0, 37 * (i % 21) - 370 + 11 * (j % 9));
  }
  std::vector<double> x(static_cast<std::size_t>(a.size()));
  for (Index j = 0; j < a.size(); ++j) x[static_cast<std::size_t>(j)] = std::ldexp(1.0 + j % 3, -11 * (j % 9));
  const SolveReport report = reported(a, a.rhs_for(x));
  CHECK(report.converged());
  CHECK(report.row_residual <= 1e-14);
}

TEST_CASE("Systems near the ends of the range are solved in other units by the same factors", "[direct]") {
  for (const double size : {0x1p-900, 0x1p850}) {
    for (const double wind : {0.0, 0.6}) {
      Rows a = laplacian(6, wind);
      for (auto& row : a.row) {
        for (auto& [j, value] : row) value *= size;
      }
      std::vector<double> x = noise(a.size(), 12);
      for (double& value : x) value *= 0x1p100;
      const auto b = a.rhs_for(x);
      const Context<Space::host> ctx;
      SystemOf<double, Space::host> system(ctx, a, system_options("direct"));
      const auto found = run_system(ctx, system, b);
      CAPTURE(size, wind, found.report.reason);
      CHECK(found.report.converged());
      CHECK(found.x.size() == x.size());
      for (std::size_t i = 0; i < x.size(); ++i) CHECK(std::fabs(found.x[i] - x[i]) <= 1e-11 * 0x1p100);
    }
  }
}

TEST_CASE("What rounding has spoilt is refined by residuals in twice the precision", "[direct]") {
  // Without pivoting L D L^T of this loses about ten digits, which L U would not.
  Rows a = exchanges(30);
  for (Index i = 0; i < a.size(); ++i) a.at(i, i) = 1e-5;
  const auto b = noise(a.size(), 8);
  SystemOptions options = system_options("direct");
  options.stop.rel_tol = 1e-15;
  const SolveReport report = reported(a, b, options);
  CHECK(report.converged());
  CHECK(report.refinements >= 1);
}

TEST_CASE("A matrix that is structurally singular is called so, with its structural rank", "[direct][singular]") {
  Rows a = laplacian(6, 0.4);
  // Rows 3, 4 and 5 have entries in columns 3 and 4 alone.
  for (const Index i : {3, 4, 5}) a.row[static_cast<std::size_t>(i)] = {{3, 1.0 + i}, {4, 2.0 - i}};
  const SolveReport report = reported(a, noise(a.size(), 9));
  CHECK(report.status == Status::breakdown);
  CHECK(report.failure.cause == Cause::singular);
  CHECK(report.failure.structural_rank == a.size() - 1);
  CHECK_THAT(
      report.reason,
      Catch::StartsWith("the matrix is singular: at most 35 rows can be paired with different columns in which they "
                        "have an entry; "));
  CHECK(report.attempts.back().reason == report.reason);
}

TEST_CASE("A direct solve whose time is over before a rank is found ends with a report all the same",
          "[direct][singular]") {
  constexpr Index n = 200000;  // factors take far longer than the limit
  Rows a(n);
  for (Index i = 0; i < n; ++i) {
    a.at(i, i) = 2 + i % 3;
    if (i > 0) a.at(i, i - 1) = -1;
    if (i + 1 < n) a.at(i, i + 1) = -0.5;
  }
  const Context<Space::host> ctx(1);
  SystemOptions options = system_options("direct");
  options.stop.time_limit_seconds = 5e-3;
  const Arrays<double, Space::host> arrays(ctx, a);
  SystemOptions unlimited = options;
  unlimited.stop.time_limit_seconds = 0;
  HostSystem system(ctx, arrays.view(), unlimited);
  const std::vector<double> b = noise(n, 3);
  std::vector<double> values(arrays.view().val.begin(), arrays.view().val.end());
  for (std::int64_t k = 0; k < arrays.view().nnz(); ++k) {
    if (arrays.view().col[k] == n / 2) values[static_cast<std::size_t>(k)] = 0;
  }
  system.refresh(Span<const double, Space::host>(values));
  system.set_stop_criterion(options.stop);
  const SolveReport report = run_system(ctx, system, b).report;
  CHECK((report.status == Status::breakdown || report.status == Status::time_limit));
  CHECK(report.failure.structural_rank < 0);
}

TEST_CASE("A zero pivot and a condition beyond all digits are called singular to working precision",
          "[direct][singular]") {
  Rows a(3);
  for (Index i = 0; i < 3; ++i) {
    for (Index j = 0; j < 3; ++j) a.at(i, j) = (i + 1) * (j + 2);  // of rank 1
  }
  const SolveReport zero = reported(a, {1, 0, 0});
  CHECK(zero.status == Status::breakdown);
  CHECK(zero.failure.cause == Cause::singular);
  CHECK(zero.failure.structural_rank == -1);
  CHECK(std::isinf(zero.failure.condition));
  CHECK_THAT(zero.reason, Catch::Contains("to working precision: its factorisation meets a zero pivot"));
  // Singular without a zero pivot: a matrix of 1/3, 2/3, ... is singular only as rational numbers.
  Rows thirds(3);
  for (Index i = 0; i < 3; ++i) {
    for (Index j = 0; j < 3; ++j) thirds.at(i, j) = (3.0 * i + j + 1) / 7;
  }
  const SolveReport small = reported(thirds, {1, -2, 3});
  CHECK(small.status == Status::breakdown);
  CHECK(small.failure.cause == Cause::singular);
  CHECK(small.failure.condition >= 4e15);
}

TEST_CASE("A tolerance that rounding does not allow is stagnation, and no singular matrix", "[direct]") {
  SystemOptions options = system_options("direct");
  options.stop.rel_tol = 1e-20;
  const Rows a = laplacian(6, 0.4);
  const SolveReport report = reported(a, noise(a.size(), 9), options);
  CHECK(report.status == Status::stagnation);
  CHECK(report.failure.cause == Cause::rounding);
  CHECK(report.relative(report.true_residual) <= 1e-14);
}

TEST_CASE("A matrix that is only ill conditioned is not called singular", "[direct]") {
  Rows hilbert(9);  // of condition 5e11: a third of the digits of x are right, and b - A x is above the tolerance
  for (Index i = 0; i < hilbert.size(); ++i) {
    for (Index j = 0; j < hilbert.size(); ++j) hilbert.at(i, j) = 1.0 / (i + j + 1);
  }
  const SolveReport report = reported(hilbert, noise(hilbert.size(), 3));
  CHECK(report.status == Status::stagnation);
  CHECK(report.failure.condition == 0);
}

TEST_CASE("NaN in the matrix is not called singular", "[direct]") {
  for (const double wind : {0.0, 0.4}) {
    Rows a = laplacian(5, wind);
    a.at(7, 7) = std::numeric_limits<double>::quiet_NaN();
    const SolveReport report = reported(a, noise(a.size(), 9));
    CHECK(report.status == Status::not_finite);
    CHECK(report.failure.cause == Cause::not_finite_residual);
  }
}

TEST_CASE("A preconditioner, a null space and an operator are refused by the direct solver", "[direct]") {
  const Context<Space::host> ctx;
  const auto refused = [&](const SystemOptions& options, const char* words) {
    CHECK_THROWS_WITH((SystemOf<double, Space::host>(ctx, laplacian(5), options)), Catch::Contains(words));
  };
  refused(system_options("direct", "jacobi"), "'direct' uses no preconditioner");
  SystemOptions singular = system_options("direct");
  singular.null_space = NullSpace::constant;
  refused(singular, "'direct' needs a regular matrix");
  CHECK_THROWS_WITH((make_solver<double, Space::host>(ctx, 5, SolverOptions{"direct"})),
                    Catch::Contains("the entries of a matrix"));
}

TEST_CASE("Factors that do not fit or take too long are refused before they are made", "[direct][memory]") {
  const auto memory = std::make_shared<ObservedMemory<Space::host>>();
  const Context<Space::host> ctx(1, memory);
  const Rows a = laplacian(120);
  const Arrays<double, Space::host> arrays(ctx, a);
  const auto make = [&](double seconds) {
    const RowOrder<Space::host> natural;
    SolverMatrix<double, Space::host> matrix{arrays.view(), natural};
    matrix.most_seconds = seconds;
    return detail::DirectSolver<double, Space::host>(ctx, matrix);
  };
  CHECK_NOTHROW(make(60));
  CHECK_THROWS_WITH(make(1e-6), Catch::Contains("more than the 1e-06 s that are allowed"));
  // A refusal says when to ask again: after a count of fill that was stopped for twice as much, then for what it
  // takes.
  const auto needed = [&](double seconds) {
    try {
      make(seconds);
      return 0.0;
    } catch (const detail::TooLong& e) {
      return e.seconds();
    }
  };
  CHECK(needed(1e-6) == Approx(2e-6));
  int refused = 0;
  double allowed = 1e-6, last = 0;
  for (double next = needed(allowed); next > 0 && refused < 100; next = needed(allowed), ++refused) {
    CHECK(next > allowed);
    last = next;
    allowed = next;
  }
  CHECK(refused < 30);
  CHECK(needed(0.999 * last) == Approx(last));
  memory->available = 1 << 20;
  CHECK_THROWS_AS(make(60), OutOfMemory);
  CHECK(estimate_system({"csr"}, {"none"}, {"direct"}, {1000, 5000}).vectors >= 5000 * 12);
}

// Cells of two permeabilities, 1 and 1e8, side by side: rows of the large one leave residuals of rounding that hide
// those of the others.
TEST_CASE("Factors return the x that solves every row, though another has a slightly smaller residual", "[direct]") {
  const Index side = 80, n = side * side;
  Rows a(n);
  const auto chance = noise(n, 3);
  const auto permeability = [&](Index cell) { return chance[static_cast<std::size_t>(cell)] < -0.4 ? 1e8 : 1.0; };
  const auto connect = [&](Index i, Index j) {
    const double flow = 2 / (1 / permeability(i) + 1 / permeability(j));
    a.at(i, i) += flow, a.at(j, j) += flow, a.at(i, j) -= flow, a.at(j, i) -= flow;
  };
  for (Index i = 0; i < n; ++i) {
    if (i % side + 1 < side) connect(i, i + 1);
    if (i + side < n) connect(i, i + side);
    if (i < side) a.at(i, i) += 2 * permeability(i);
  }
  std::vector<double> b(static_cast<std::size_t>(n), 0.0);
  for (Index i = n - side; i < n; ++i) b[static_cast<std::size_t>(i)] = 1;
  const Context<Space::host> ctx(1);
  SystemOf<double, Space::host> minimising(ctx, a, system_options("gmres", "amg"));
  const auto before = run_system(ctx, minimising, b);
  REQUIRE_FALSE(before.report.converged());
  const double rounding = 256 * std::numeric_limits<double>::epsilon();
  REQUIRE(before.report.row_residual > rounding);
  SystemOf<double, Space::host> system(ctx, a, system_options("direct"));
  const auto found = run_system(ctx, system, b, before.x);
  CHECK(found.report.failure.cause == Cause::rounding_of_x);
  CHECK(found.report.row_residual <= rounding);
  CHECK(true_residual(a, b, found.x) <= 4 * true_residual(a, b, before.x));
}
