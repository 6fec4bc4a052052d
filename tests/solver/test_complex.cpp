// SPDX-License-Identifier: Apache-2.0
// Complex systems against dense LU factors by Eigen, with residuals that the test computes.
#include "tests/solver/complex_support.hpp"

#include <newel/solver/registry.hpp>

using namespace newel;
using namespace newel::testing;

namespace {

struct Case {
  const char* name;
  ComplexRows a;
  RealForm form;
};

std::vector<Case> cases() {
  return {{"gauge Laplacian", gauge_laplacian(12), RealForm::general},
          {"Helmholtz, absorbing boundary", helmholtz(12, 0.5), RealForm::general},
          {"shifted Laplacian", laplacian(12, Complex(0, 0.5)), RealForm::general},
          {"unsymmetric", unsymmetric(150), RealForm::general},
          {"imaginary times Laplacian", laplacian(12, 0.1, Complex(0, 1)), RealForm::general},
          {"minus gauge Laplacian",
           [] {
             ComplexRows a = gauge_laplacian(10);
             for (auto& row : a.row) {
               for (auto& [j, value] : row) value = -value;
             }
             return a;
           }(),
           RealForm::general},
          {"real", laplacian(12, 0.1), RealForm::real_parts},
          {"one row",
           [] {
             ComplexRows a(1);
             a.at(0, 0) = Complex(0, -2);
             return a;
           }(),
           RealForm::general}};
}

}  // namespace

TEST_BOTH("complex systems are solved to the tolerance of the complex residual", "[complex]") {
  for (const Case& c : cases()) {
    INFO(c.name);
    const ComplexVector b = random_vector(c.a.row.size(), 11);
    const ComplexArrays<double, S> arrays(ctx, c.a);
    SystemOptions options;
    options.stop.rel_tol = 1e-10;
    ComplexSystem<double, S> system(ctx, arrays.input(), options);
    CHECK(system.form() == c.form);
    CHECK(!system.form_reason().empty());
    CHECK(system.rows() == c.a.size());
    SolveReport report;
    const ComplexVector x = solved(ctx, system, b, &report);
    REQUIRE(report.converged());
    const double residual = norm(minus(b, c.a.times(x)));
    const double rounding = 1e-14 * norm(b) + 1e-13 * norm(x);
    CHECK(report.rhs_norm == Approx(norm(b)).epsilon(1e-13));
    CHECK(report.tolerance == Approx(1e-10 * norm(b)).epsilon(1e-12));
    CHECK(report.initial_residual == Approx(norm(b)).epsilon(1e-13));
    CHECK(residual <= 1e-10 * norm(b) + rounding);
    CHECK(std::abs(report.true_residual - residual) <= rounding);
    // The smallest singular value bounds the error by the residual.
    const double smallest = c.a.dense().jacobiSvd().singularValues().tail<1>()(0);
    CHECK(norm(minus(x, dense_solution(c.a, b))) <= 2 * (residual + rounding) / smallest);
  }
}

TEST_BOTH("Hermitian positive definite and complex symmetric matrices get the solvers that fit", "[complex]") {
  const auto solver_of = [&](const ComplexRows& a, const char* name) {
    SystemOptions options;
    options.solver.name = name;
    ComplexSystem<double, S> system(ctx, ComplexArrays<double, S>(ctx, a).input(), options);
    SolveReport report;
    const ComplexVector b = random_vector(a.row.size(), 5);
    const ComplexVector x = solved(ctx, system, b, &report);
    CHECK(report.converged());
    CHECK(norm(minus(b, a.times(x))) <= 1.01e-8 * norm(b));
    return std::make_pair(report.solver, system.form());
  };
  CHECK(solver_of(gauge_laplacian(10), "auto").first == "cg");
  CHECK(solver_of(gauge_laplacian(10), "minres") == std::make_pair(std::string("minres"), RealForm::general));
  CHECK(solver_of(gauge_laplacian(8, -1.5), "minres") == std::make_pair(std::string("minres"), RealForm::general));
  CHECK(solver_of(helmholtz(10, 0.5), "minres") == std::make_pair(std::string("minres"), RealForm::symmetric));
  CHECK(solver_of(laplacian(10, 0.1, Complex(0, 1)), "cg").first == "cg");
  for (const char* name : {"gmres", "bicgstab", "idrs"}) {
    CHECK(solver_of(helmholtz(10, 0.5), name) == std::make_pair(std::string(name), RealForm::general));
  }
}

TEST_BOTH("a refresh of a complex system gives the bits of a new one", "[complex]") {
  const ComplexRows first = gauge_laplacian(9), second = gauge_laplacian(9, 0.7);
  SystemOptions options;
  options.solver.name = "cg";
  options.precond.name = "jacobi";
  options.spmv.format = "csr";
  const ComplexArrays<double, S> old_values(ctx, first), new_values(ctx, second);
  ComplexSystem<double, S> refreshed(ctx, old_values.input(), options), made(ctx, new_values.input(), options);
  refreshed.refresh(new_values.val.cspan());
  const ComplexVector b = random_vector(first.row.size(), 2);
  SolveReport one, other;
  CHECK(solved(ctx, refreshed, b, &one) == solved(ctx, made, b, &other));
  CHECK(one.iterations == other.iterations);
  CHECK_THROWS_AS(refreshed.refresh(new_values.val.cspan().subspan(0, 3)), InputError);
}

TEST_BOTH("values with imaginary parts after real ones set up another form", "[complex]") {
  const ComplexRows real = laplacian(8, 0.3), shifted = laplacian(8, Complex(0.3, 0.4));
  const ComplexArrays<double, S> arrays(ctx, real), other(ctx, shifted);
  ComplexSystem<double, S> system(ctx, arrays.input());
  REQUIRE(system.form() == RealForm::real_parts);
  system.refresh(other.val.cspan());
  CHECK(system.form() == RealForm::general);
  const ComplexVector b = random_vector(real.row.size(), 4);
  SolveReport report;
  ComplexVector x = solved(ctx, system, b, &report);
  CHECK(norm(minus(b, shifted.times(x))) <= 1.01e-8 * norm(b));
  system.refresh(arrays.val.cspan());
  CHECK(system.form() == RealForm::general);
  x = solved(ctx, system, b, &report);
  CHECK(norm(minus(b, real.times(x))) <= 1.01e-8 * norm(b));
}

TEST_BOTH("complex columns are solved from their guesses", "[complex]") {
  for (const ComplexRows& a : {helmholtz(8, 0.4), laplacian(8, 0.2), laplacian(8, 0.2, Complex(0, -1))}) {
    const ComplexArrays<double, S> arrays(ctx, a);
    ComplexSystem<double, S> system(ctx, arrays.input());
    const std::size_t n = a.row.size();
    ComplexVector b, guess;
    for (const std::uint64_t seed : {1, 2, 3}) {
      const ComplexVector column = random_vector(n, seed);
      b.insert(b.end(), column.begin(), column.end());
      // The second column begins at its solution.
      const ComplexVector start = seed == 2 ? dense_solution(a, column) : random_vector(n, seed + 10);
      guess.insert(guess.end(), start.begin(), start.end());
    }
    const auto from = make_array(ctx, b);
    auto to = make_array(ctx, guess);
    const std::vector<SolveReport> reports = system.solve_columns(from.cspan(), to.span(), 3);
    REQUIRE(reports.size() == 3);
    CHECK(reports[1].iterations == 0);
    const ComplexVector x = to_vector(ctx, to.cspan());
    for (std::size_t c = 0; c < 3; ++c) {
      const auto at = static_cast<std::ptrdiff_t>(c * n), end = static_cast<std::ptrdiff_t>((c + 1) * n);
      const ComplexVector mine(b.begin() + at, b.begin() + end), found(x.begin() + at, x.begin() + end);
      CHECK(reports[c].converged());
      CHECK(norm(minus(mine, a.times(found))) <= 1.01e-8 * norm(mine));
    }
    CHECK_THROWS_AS(system.solve_columns(from.cspan(), to.span(), 2), InputError);
    CHECK_THROWS_AS(system.solve_columns(from.cspan(), to.span(), -1), InputError);
  }
}

TEST_BOTH("products of a complex system are those of the matrix", "[complex]") {
  for (const ComplexRows& a :
       {helmholtz(7, 0.4), laplacian(7, 0.2), laplacian(7, 0.2, Complex(0, 1)), unsymmetric(40)}) {
    const ComplexArrays<double, S> arrays(ctx, a);
    ComplexSystem<double, S> system(ctx, arrays.input());
    const ComplexVector x = random_vector(a.row.size(), 8);
    const auto from = make_array(ctx, x);
    Array<Complex, S> to(ctx, from.size());
    system.multiply(from.cspan(), to.span());
    CHECK(norm(minus(to_vector(ctx, to.cspan()), a.times(x))) <= 1e-14 * 20 * norm(x));
    CHECK_THROWS_AS(system.multiply(to.cspan(), to.span()), InputError);
  }
}

TEST_BOTH("all forms of a complex matrix give the same system", "[complex]") {
  ComplexRows a(4);
  // (row, column, value), counted from 1; one place twice.
  const std::vector<std::int32_t> row = {1, 1, 2, 3, 4, 2, 3, 1}, col = {1, 3, 2, 3, 4, 4, 1, 3};
  const ComplexVector val = {{4, 1}, {0, 1}, {5, -2}, {6, 0}, {7, 3}, {1, 1}, {-1, 2}, {0.5, -2}};
  for (std::size_t k = 0; k < val.size(); ++k) a.at(row[k] - 1, col[k] - 1) += val[k];
  const ComplexVector b = random_vector(4, 6), expected = dense_solution(a, b);
  const auto rows = make_array(ctx, row), cols = make_array(ctx, col);
  const auto values = make_array(ctx, val);
  using Input = MatrixInput<Complex, S>;
  ComplexSystem<double, S> coo(ctx, Input::coo(4, 4, rows.cspan(), cols.cspan(), values.cspan()).index_base(1));
  SolveReport report;
  CHECK(norm(minus(solved(ctx, coo, b, &report), expected)) <= 1e-7);
  coo.refresh(values.cspan());
  CHECK(norm(minus(solved(ctx, coo, b, &report), expected)) <= 1e-7);

  const ComplexArrays<double, S> csr(ctx, a);
  const ComplexVector flipped = [&] {
    ComplexRows t(4);
    for (Index i = 0; i < 4; ++i) {
      for (const auto& [j, value] : a.row[static_cast<std::size_t>(i)]) t.at(j, i) = value;
    }
    return dense_solution(t, b);
  }();
  ComplexSystem<double, S> csc(ctx, Input::csc(4, 4, csr.row_ptr.cspan(), csr.col.cspan(), csr.val.cspan()));
  CHECK(norm(minus(solved(ctx, csc, b, &report), flipped)) <= 1e-7);

  const ComplexRows whole = helmholtz(5, 0.3);
  std::vector<std::int32_t> lower_row, lower_col;
  ComplexVector lower;
  for (Index i = 0; i < whole.size(); ++i) {
    for (const auto& [j, value] : whole.row[static_cast<std::size_t>(i)]) {
      if (j <= i) lower_row.push_back(i), lower_col.push_back(j), lower.push_back(value);
    }
  }
  const auto half_row = make_array(ctx, lower_row), half_col = make_array(ctx, lower_col);
  const auto half_val = make_array(ctx, lower);
  ComplexSystem<double, S> half(
      ctx, Input::coo(25, 25, half_row.cspan(), half_col.cspan(), half_val.cspan()).stored_half(Triangle::lower));
  const ComplexVector right = random_vector(25, 3);
  CHECK(norm(minus(solved(ctx, half, right, &report), dense_solution(whole, right))) <= 1e-6);
}

TEST_BOTH("single precision of complex values reaches its own tolerance", "[complex]") {
  for (const ComplexRows& a : {gauge_laplacian(9), helmholtz(9, 0.4), laplacian(9, 0.2)}) {
    SystemOptions options;
    options.stop.rel_tol = 1e-5;
    ComplexSystem<float, S> system(ctx, ComplexArrays<float, S>(ctx, a).input(), options);
    const ComplexVector b = random_vector(a.row.size(), 9);
    SolveReport report;
    const ComplexVector x = solved(ctx, system, b, &report);
    CHECK(report.converged());
    CHECK(norm(minus(b, a.times(x))) <= 1.1e-5 * norm(b));
  }
}
