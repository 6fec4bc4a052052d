// SPDX-License-Identifier: Apache-2.0
// Orders of convergence: in space against solutions by separation of variables and a manufactured one, in time
// against the eigenvectors of the semi-discrete system, found by Eigen.
#include "tests/catch.hpp"

#include <Eigen/Dense>

#include "apps/heat/heat_stepper.hpp"
#include "tests/apps/fem_test_tools.hpp"

using namespace newel::heat;

namespace {

const Context<Space::host> ctx(2);
constexpr double pi = 3.14159265358979323846;

SystemOptions tight() {
  SystemOptions options;
  options.solver.name = "cg";
  options.stop.rel_tol = 1e-12;
  options.spmv.format = "csr";
  return options;
}

// a tan a = biot: cos(a x) has no flux at 0 and loses h u at 1. Bisection on (0, pi/2).
double robin_root(double biot) {
  double low = 0, high = pi / 2;
  for (int i = 0; i < 200; ++i) {
    const double middle = 0.5 * (low + high);
    (middle * std::tan(middle) < biot ? low : high) = middle;
  }
  return low;
}

double rms(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum / static_cast<double>(a.size()));
}

std::vector<double> at_nodes(const fem::TetMesh& mesh, const fem::ScalarSource& f) {
  std::vector<double> values;
  for (const fem::Point& at : mesh.nodes) values.push_back(f(at));
  return values;
}

// Runs to `end` and returns the temperatures. `amplitude` is the mean of the source over a step.
std::vector<double> run(const HeatEquation& eq, std::vector<double> u, double end, int steps,
                        const std::function<double(double, double)>& amplitude) {
  HeatStepper<Space::host> stepper(ctx, eq, tight());
  stepper.start(u);
  const double dt = end / steps;
  for (int i = 0; i < steps; ++i) REQUIRE(stepper.step(amplitude(i * dt, (i + 1) * dt)).converged());
  return stepper.temperature();
}

fem::TetMesh cube(Index intervals) {
  fem::BoxOptions options;
  options.renumber = true;
  return fem::make_cube(ctx, intervals + 1, options);
}

// By halving the width of elements, and the step with it.
void check_second_order(double coarse, double fine) {
  INFO("errors " << coarse << ", " << fine << ", order " << std::log2(coarse / fine));
  CHECK(std::log2(coarse / fine) > 1.8);
  CHECK(std::log2(coarse / fine) < 2.3);
}

}  // namespace

TEST_CASE("heat that leaves through a face of the part converges with second order in space", "[heat][orders]") {
  // u = exp(-k (a^2 + 2 pi^2) t / (rho c)) cos(a x) cos(pi y) cos(pi z): x = 1 is cooled, all else insulated.
  HeatParams p;
  p.conductivity = 0.7;
  p.density = 2;
  p.heat_capacity = 1.5;
  p.convection = 1.4;
  p.ambient = 0;
  p.cooled = "above";
  p.plane_normal = {1, 0, 0};
  p.plane_offset = 1 - 1e-9;
  const double a = robin_root(p.convection / p.conductivity);
  const double rate = p.conductivity * (a * a + 2 * pi * pi) / (p.density * p.heat_capacity);
  const double end = 1 / rate;
  constexpr int steps = 64;
  const auto error = [&](Index intervals) {
    const fem::TetMesh mesh = cube(intervals);
    const HeatEquation eq = assemble_heat(ctx, mesh, p, end / steps, crank_nicolson);
    std::vector<double> expected = at_nodes(mesh, [&](const fem::Point& at) {
      return std::cos(a * at[0]) * std::cos(pi * at[1]) * std::cos(pi * at[2]);
    });
    const std::vector<double> found = run(eq, expected, end, steps, [](double, double) { return 0.0; });
    for (double& value : expected) value *= std::exp(-rate * end);
    return rms(found, expected);
  };
  check_second_order(error(8), error(16));
}

TEST_CASE("a manufactured solution with a source converges with second order in space and time", "[heat][orders]") {
  // u = sin(t) cos(pi x) cos(pi y) cos(pi z) without flux: q = (rho c cos t + 3 pi^2 k sin t) cos cos cos.
  HeatParams p;
  p.conductivity = 0.05;
  p.density = 1;
  p.heat_capacity = 3;
  p.convection = 0;
  const double rho_c = p.density * p.heat_capacity, decay = 3 * pi * pi * p.conductivity;
  constexpr double end = 1;
  const fem::ScalarSource mode = [](const fem::Point& at) {
    return std::cos(pi * at[0]) * std::cos(pi * at[1]) * std::cos(pi * at[2]);
  };
  const auto error = [&](Index intervals, int steps) {
    const fem::TetMesh mesh = cube(intervals);
    HeatEquation eq = assemble_heat(ctx, mesh, p, end / steps, crank_nicolson);
    eq.source_load = fem::assemble_load(ctx, mesh, mode);
    const auto mean = [&](double t0, double t1) {
      return (rho_c * (std::sin(t1) - std::sin(t0)) - decay * (std::cos(t1) - std::cos(t0))) / (t1 - t0);
    };
    const std::vector<double> found = run(eq, std::vector<double>(mesh.nodes.size(), 0.0), end, steps, mean);
    std::vector<double> expected = at_nodes(mesh, mode);
    for (double& value : expected) value *= std::sin(end);
    return rms(found, expected);
  };
  check_second_order(error(8, 8), error(16, 16));
}

TEST_CASE("backward Euler is of first order in time, Crank-Nicolson of second", "[heat][orders]") {
  HeatParams p;
  p.conductivity = 1;
  p.density = 1;
  p.heat_capacity = 1;
  p.convection = 2;
  p.ambient = 3;
  const fem::TetMesh mesh = cube(4);
  const auto n = static_cast<Eigen::Index>(mesh.nodes.size());
  constexpr double end = 0.25;

  // M and K, each from the two matrices of a step of length 1 with theta = 1: I = M + K, E = M.
  const HeatEquation unit = assemble_heat(ctx, mesh, p, 1, backward_euler);
  const Eigen::MatrixXd M(testing::to_eigen(unit.explicit_matrix));
  const Eigen::MatrixXd K = Eigen::MatrixXd(testing::to_eigen(unit.implicit_matrix)) - M;
  // M u' + K u = f with u(0) smooth: u = w + V exp(-lambda t) V^T M (u0 - w), K w = f.
  const Eigen::VectorXd f = testing::to_eigen(unit.ambient_load);
  const Eigen::VectorXd w = K.ldlt().solve(f);
  const std::vector<double> start =
      at_nodes(mesh, [](const fem::Point& at) { return 1 + std::cos(pi * at[0]) + at[1] * at[2]; });
  const Eigen::VectorXd u0 = Eigen::Map<const Eigen::VectorXd>(start.data(), n);
  const Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd> eigen(K, M);
  const Eigen::VectorXd damped = (-end * eigen.eigenvalues().array()).exp();
  const Eigen::VectorXd exact =
      w + eigen.eigenvectors() * damped.cwiseProduct(eigen.eigenvectors().transpose() * (M * (u0 - w)));
  const std::vector<double> expected(exact.data(), exact.data() + n);

  const auto order = [&](double theta, int steps) {
    const auto error = [&](int count) {
      const HeatEquation eq = assemble_heat(ctx, mesh, p, end / count, theta);
      return rms(run(eq, start, end, count, [](double, double) { return 0.0; }), expected);
    };
    const double coarse = error(steps), fine = error(2 * steps);
    UNSCOPED_INFO("theta " << theta << ": errors " << coarse << ", " << fine << ", order "
                           << std::log2(coarse / fine));
    return std::log2(coarse / fine);
  };
  CHECK(order(backward_euler, 64) == Approx(1).margin(0.05));
  CHECK(order(crank_nicolson, 64) == Approx(2).margin(0.1));
}
