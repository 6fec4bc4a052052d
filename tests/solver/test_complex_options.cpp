// SPDX-License-Identifier: Apache-2.0
// Options of a complex system that count rows, its own operators, and its errors.
#include "tests/solver/complex_support.hpp"

#include <newel/precond/amg/amg_options.hpp>
#include <newel/precond/pattern_options.hpp>
#include <newel/solver/registry.hpp>
#include <newel/spmv/operator.hpp>

using namespace newel;
using namespace newel::testing;

namespace {

template <Space S>
SolveReport report_with(const Context<S>& ctx, const ComplexRows& a, const SystemOptions& options) {
  ComplexSystem<double, S> system(ctx, ComplexArrays<double, S>(ctx, a).input(), options);
  SolveReport report;
  const ComplexVector b = random_vector(a.row.size(), 5);
  const ComplexVector x = solved(ctx, system, b, &report);
  CHECK(report.converged());
  CHECK(norm(minus(b, a.times(x))) <= 1.01e-8 * norm(b));
  return report;
}

// A grid's points in the plane.
std::shared_ptr<const NodeCoordinates> grid_points(Index m) {
  auto nodes = std::make_shared<NodeCoordinates>();
  nodes->dimension = 2;
  for (Index i = 0; i < m * m; ++i) nodes->xyz.push_back(i % m), nodes->xyz.push_back(i / m);
  return nodes;
}

// A ring, whose rows sum to zero.
ComplexRows periodic() {
  ComplexRows a(25);
  for (Index i = 0; i < 25; ++i) {
    a.at(i, i) = 2;
    a.at(i, (i + 1) % 25) = a.at((i + 1) % 25, i) = -1;
  }
  return a;
}

}  // namespace

TEST_BOTH("preconditioners of every kind serve complex matrices", "[complex]") {
  const ComplexRows hermitian = gauge_laplacian(10), shifted = laplacian(10, Complex(0, 0.3));
  for (const char* name : {"none", "jacobi", "block-jacobi", "amg", "fsai"}) {
    INFO(name);
    SystemOptions options;
    options.precond.name = name;
    report_with(ctx, hermitian, options);
  }
  for (const char* name : {"jacobi", "amg", "spai", "ilu"}) {
    INFO(name);
    SystemOptions options;
    options.precond.name = name;
    report_with(ctx, shifted, options);
  }
}

TEST_ON_HOST("AMG takes a complex Laplacian in as many iterations as a real one", "[complex]") {
  const auto iterations = [&](const ComplexRows& a) {
    SystemOptions options;
    options.precond.name = "amg";
    options.precond.of<AmgOptions>().max_coarse = 50;
    return report_with(ctx, a, options).iterations;
  };
  const int real = iterations(laplacian(40, 0.0));
  CHECK(iterations(laplacian(40, Complex(0, 0.02))) <= 2 * real);
  CHECK(iterations(laplacian(40, 0.0, Complex(0, 1))) <= real + 1);

  // Constants by hand are the constants that AMG takes itself, for real and for imaginary parts.
  SystemOptions by_hand;
  by_hand.precond.name = "amg";
  by_hand.precond.of<AmgOptions>().max_coarse = 50;
  auto ones = std::make_shared<NearNullVectors>();
  ones->count = 1;
  ones->values.assign(1600, 1.0);
  by_hand.precond.of<AmgOptions>().vectors = ones;
  CHECK(report_with(ctx, laplacian(40, 0.0, Complex(0, 1)), by_hand).iterations <= real + 1);
}

TEST_BOTH("options in complex rows are those of the real system", "[complex]") {
  const Index m = 8;
  const ComplexRows a = gauge_laplacian(m);
  SystemOptions options;
  options.spmv.coordinates = grid_points(m);
  options.precond.name = "amg";
  CHECK(report_with(ctx, a, options).converged());

  auto vectors = std::make_shared<NearNullVectors>();
  vectors->count = 1;
  vectors->values.assign(static_cast<std::size_t>(m * m), 1.0);
  options.precond.of<AmgOptions>().vectors = vectors;
  ComplexSystem<double, S> system(ctx, ComplexArrays<double, S>(ctx, a).input(), options);
  CHECK(system.info().preconditioner.detail.find("2 given vectors") != std::string::npos);

  SystemOptions reversed;
  for (Index i = m * m; i-- > 0;) reversed.old_of_new.push_back(i);
  report_with(ctx, a, reversed);

  SystemOptions pattern;
  pattern.precond.name = "spai";
  auto given = std::make_shared<GivenPattern>();
  given->rows = m * m;
  for (Index i = 0; i <= m * m; ++i) given->row_ptr.push_back(i);
  for (Index i = 0; i < m * m; ++i) given->col.push_back(i);
  pattern.precond.of<PatternOptions>().pattern = given;
  report_with(ctx, laplacian(m, Complex(0, 1)), pattern);
  given->col[0] = m * m;
  CHECK_THROWS_AS(report_with(ctx, laplacian(m, Complex(0, 1)), pattern), InputError);
}

TEST_ON_HOST("rigid body modes serve complex elasticity, not a scalar problem in the plane", "[complex]") {
  const Index m = 6;
  SystemOptions options;
  options.precond.name = "amg";
  options.spmv.coordinates = grid_points(m);
  const ComplexRows scalar = laplacian(m, Complex(0, 0.1));
  ComplexSystem<double, Space::host> of_scalar(ctx, ComplexArrays<double, Space::host>(ctx, scalar).input(), options);
  CHECK(of_scalar.info().preconditioner.detail.find("rigid") == std::string::npos);
  options.precond.of<AmgOptions>().near_null = AmgNearNull::rigid;
  CHECK_THROWS_AS(
      (ComplexSystem<double, Space::host>(ctx, ComplexArrays<double, Space::host>(ctx, scalar).input(), options)),
      InputError);

  // Two unknowns a node.
  ComplexRows plane(2 * m * m);
  for (Index i = 0; i < m * m; ++i) {
    for (const auto& [j, value] : scalar.row[static_cast<std::size_t>(i)]) {
      for (Index r = 0; r < 2; ++r) {
        for (Index c = 0; c < 2; ++c) plane.at(2 * i + r, 2 * j + c) = r == c ? value : 0.2 * value;
      }
    }
  }
  ComplexSystem<double, Space::host> of_plane(ctx, ComplexArrays<double, Space::host>(ctx, plane).input(), options);
  CHECK(of_plane.info().preconditioner.detail.find("6 given vectors") != std::string::npos);
  options.precond.of<AmgOptions>().near_null = AmgNearNull::automatic;
  CHECK(report_with(ctx, plane, options).converged());
}

TEST_ON_HOST("what the real form of a complex system cannot do is refused in words", "[complex]") {
  const ComplexArrays<double, Space::host> arrays(ctx, gauge_laplacian(5)), real(ctx, periodic());
  const auto refused = [&](const SystemOptions& options) {
    CHECK_THROWS_AS((ComplexSystem<double, Space::host>(ctx, arrays.input(), options)), InputError);
    CHECK_NOTHROW(ComplexSystem<double, Space::host>(ctx, real.input(), options));
  };
  SystemOptions null_space, numbering;
  null_space.null_space = NullSpace::constant;
  refused(null_space);
  numbering.precond.of<AmgOptions>().numbering = AmgNumbering::by_component;
  refused(numbering);
  const auto wide =
      MatrixInput<Complex, Space::host>::csr(25, 26, arrays.row_ptr.cspan(), arrays.col.cspan(), arrays.val.cspan());
  CHECK_THROWS_AS((ComplexSystem<double, Space::host>(ctx, wide)), InputError);
}

TEST_ON_HOST("errors name complex rows", "[complex]") {
  ComplexRows a = laplacian(4, Complex(0, 1));
  a.at(5, 5) = Complex(0, 3);  // the real part is zero, and the sum of the diagonal keeps the others real
  SystemOptions options;
  options.precond.name = "jacobi";
  bool named = false;
  try {
    ComplexSystem<double, Space::host> system(ctx, ComplexArrays<double, Space::host>(ctx, a).input(), options);
  } catch (const ZeroDiagonal& error) {
    named = error.row() == 5 && error.count() == 1;
  }
  CHECK(named);
  options.precond.name = "fsai";
  named = false;
  try {
    ComplexSystem<double, Space::host> system(ctx, ComplexArrays<double, Space::host>(ctx, unsymmetric(20)).input(),
                                              options);
  } catch (const NotSymmetric& error) {
    named = error.row() < 20 && error.col() < 20;
  }
  CHECK(named);
}

TEST_BOTH("operators of the caller work on real and imaginary parts", "[complex]") {
  const ComplexRows a = laplacian(6, Complex(0.1, 0.5));
  const Index n = a.size();
  const ComplexVector b = random_vector(a.row.size(), 5);
  const auto times = [&](const Context<S>& context, double alpha, Span<const double, S> x, double beta,
                         Span<double, S> y) {
    const std::vector<double> from = to_vector(context, x);
    std::vector<double> to = to_vector(context, Span<const double, S>(y));
    ComplexVector z(a.row.size());
    for (std::size_t i = 0; i < z.size(); ++i) z[i] = Complex(from[2 * i], from[2 * i + 1]);
    const ComplexVector product = a.times(z);
    for (std::size_t i = 0; i < to.size(); ++i) {
      const double value = i % 2 == 0 ? product[i / 2].real() : product[i / 2].imag();
      to[i] = alpha * value + (beta == 0 ? 0 : beta * to[i]);
    }
    copy<double>(context, Span<const double, Space::host>(to.data(), 2 * n), y);
  };
  const auto op = std::make_shared<FunctionOperator<double, S>>(2 * n, 2 * n, times);
  ComplexSystem<double, S> system(ctx, op);
  SolveReport report;
  CHECK(norm(minus(b, a.times(solved(ctx, system, b, &report)))) <= 1.01e-8 * norm(b));
  CHECK_THROWS_AS(system.refresh({}), InputError);
  CHECK_THROWS_AS((ComplexSystem<double, S>(ctx, std::make_shared<FunctionOperator<double, S>>(3, 3, times))),
                  InputError);

  SystemParts<double, S> parts;
  parts.preconditioner = op;  // not close to an inverse, but no obstacle for GMRES
  SystemOptions options;
  options.solver.name = "gmres";
  ComplexSystem<double, S> with_own(ctx, ComplexArrays<double, S>(ctx, a).input(), options, parts);
  CHECK(norm(minus(b, a.times(solved(ctx, with_own, b, &report)))) <= 1.01e-8 * norm(b));
}

TEST_ON_HOST("x holds the iterates of a complex solve where the unknowns are as given", "[complex]") {
  for (const ComplexRows& a : {laplacian(6, 0.2, Complex(0, 1)), laplacian(6, 0.2)}) {
    SystemOptions options;
    options.solver.name = "bicgstab";
    options.spmv.format = "csr";
    options.stop.check_every = 1;
    ComplexSystem<double, Space::host> system(ctx, ComplexArrays<double, Space::host>(ctx, a).input(), options, {},
                                              ComplexUnknowns::as_given);
    CHECK(system.form() == RealForm::general);
    const ComplexVector b = random_vector(a.row.size(), 5);
    ComplexVector x(b.size());
    int seen = 0;
    const ProgressFn look = [&](const Progress& progress) {
      ++seen;
      CHECK(norm(minus(b, a.times(x))) == Approx(progress.residual).epsilon(1e-6).margin(1e-12));
      return true;
    };
    const auto size = static_cast<std::int64_t>(b.size());
    CHECK(system.solve({b.data(), size}, {x.data(), size}, look, InitialGuess::zero).converged());
    CHECK(seen > 2);
  }
}

TEST_ON_HOST("direct factors of a complex matrix, mixed precision, and an absolute tolerance", "[complex]") {
  const ComplexRows a = helmholtz(9, 0.7), real = laplacian(9, 0.1);
  SystemOptions direct;
  direct.solver.name = "direct";
  CHECK(report_with(ctx, a, direct).solver == "direct");
  CHECK(report_with(ctx, real, direct).solver == "direct");
  SystemOptions mixed;
  mixed.mixed = true;
  report_with(ctx, gauge_laplacian(9), mixed);
  SystemOptions absolute;
  absolute.stop.rel_tol = 0;
  absolute.stop.abs_tol = 1e-6;
  for (const ComplexRows& m : {a, real}) {
    ComplexSystem<double, Space::host> system(ctx, ComplexArrays<double, Space::host>(ctx, m).input(), absolute);
    SolveReport report;
    const ComplexVector b = random_vector(m.row.size(), 5);
    CHECK(norm(minus(b, m.times(solved(ctx, system, b, &report)))) <= 1.0001e-6);
    CHECK(report.tolerance == 1e-6);
    system.set_stop_criterion(StopCriterion{0});
    solved(ctx, system, b, &report);
    CHECK(report.status == Status::max_iterations);
    CHECK(!report.converged());
  }
}
