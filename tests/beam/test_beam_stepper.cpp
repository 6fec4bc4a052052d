// SPDX-License-Identifier: Apache-2.0
// The stepper: order in time, energy, damping, restart, several strikes, a stiffness that changes.
#include "tests/beam/beam_support.hpp"

#include "apps/beam/beam_stepper.hpp"

using namespace newel::beam;

namespace {

const BeamBody& bar() {
  static const BeamBody body = small_bar(bar_params());
  return body;
}

const Modes& bar_modes() {
  static const Modes modes = modes_of(bar().matrices, 3);
  return modes;
}

SystemOptions options_of(const BeamBody& body, const std::string& format = "csr", double tolerance = 1e-11) {
  SystemOptions options;
  options.solver.name = "cg";
  options.precond.name = "amg";
  options.spmv.format = format;
  options.deterministic = true;
  options.stop.rel_tol = tolerance;
  auto nodes = std::make_shared<NodeCoordinates>();
  for (const fem::Point& at : body.mesh.nodes) nodes->xyz.insert(nodes->xyz.end(), at.begin(), at.end());
  options.spmv.coordinates = std::move(nodes);
  return options;
}

template <Space S>
void steps(BeamStepper<S>& stepper, int count, double force = 0, double factor = 1) {
  for (int i = 0; i < count; ++i) {
    for (const SolveReport& report : stepper.step(force, factor)) REQUIRE(report.converged());
  }
}

double period(int mode) { return 2 * pi / bar_modes().omega[mode]; }

double largest(const Eigen::VectorXd& x) { return x.cwiseAbs().maxCoeff(); }

// The error of a period and a quarter of the first mode, relative to its amplitude.
template <Space S>
double error_of(const Context<S>& ctx, int steps_a_period) {
  StepScheme scheme;
  scheme.dt = period(0) / steps_a_period;
  BeamStepper<S> stepper(ctx, bar(), scheme, options_of(bar()));
  const Eigen::VectorXd shape = bar_modes().shapes.col(0);
  stepper.start(to_std(shape), std::vector<double>(static_cast<std::size_t>(shape.size()), 0.0));
  steps(stepper, steps_a_period * 5 / 4);
  const std::vector<double> u = stepper.displacement(0);
  return largest(Eigen::Map<const Eigen::VectorXd>(u.data(), shape.size())) / largest(shape);  // exact: cos = 0
}

}  // namespace

TEST_BOTH("a mode oscillates as the cosine, with an error of second order in the step", "[beam]") {
  const double coarse = error_of(ctx, 24), middle = error_of(ctx, 48), fine = error_of(ctx, 96);
  CAPTURE(coarse, middle, fine);
  // The phase is late by (w dt)^2 / 12 of it, here of 5 pi / 2.
  CHECK(coarse == Approx(2.5 * pi * std::pow(2 * pi / 24, 2) / 12).epsilon(0.05));
  CHECK(coarse / middle == Approx(4).epsilon(0.05));
  CHECK(middle / fine == Approx(4).epsilon(0.05));
}

TEST_BOTH("without damping a struck bar keeps its energy over a hundred periods", "[beam]") {
  StepScheme scheme;
  scheme.dt = period(0) / 20;
  BeamStepper<S> stepper(ctx, bar(), scheme, options_of(bar()));
  steps(stepper, 5, 1.0);
  const std::vector<double> after = stepper.observe();
  const double given = after[0] + after[1];
  REQUIRE(given > 0);
  double spread = 0;
  for (int i = 0; i < 100; ++i) {
    steps(stepper, 20);
    const std::vector<double> now = stepper.observe();
    spread = std::max(spread, std::fabs(now[0] + now[1] - given));
  }
  // A step that leaves the residual r changes the energy by dt w . r, here at most 1e-11 of what is there.
  CAPTURE(given, spread);
  CHECK(spread < 2000 * 1e-11 * given);
}

TEST_BOTH("energies are those of the state", "[beam]") {
  StepScheme scheme;
  scheme.dt = period(0) / 20;
  BeamStepper<S> stepper(ctx, bar(), scheme, options_of(bar()));
  steps(stepper, 7, 1.0);
  const std::vector<double> u = stepper.displacement(0), v = stepper.velocity(0), seen = stepper.observe();
  const auto n = static_cast<Eigen::Index>(u.size());
  const Eigen::Map<const Eigen::VectorXd> displacement(u.data(), n), velocity(v.data(), n);
  CHECK(seen[0] == Approx(0.5 * velocity.dot(to_eigen(bar().matrices.mass) * velocity)).epsilon(1e-10));
  CHECK(seen[1] == Approx(0.5 * displacement.dot(to_eigen(bar().matrices.stiffness) * displacement)).epsilon(1e-10));
  for (std::size_t axis = 0; axis < 3; ++axis) {
    CHECK(seen[2 + axis] == u[static_cast<std::size_t>(3 * bar().probes[0]) + axis]);
  }
}

TEST_BOTH("Rayleigh damping lets a mode die down at its rate", "[beam]") {
  StepScheme scheme;
  const double omega = bar_modes().omega[0];
  scheme.dt = period(0) / 100;
  scheme.mass_damping = 0.02 * omega;
  scheme.stiffness_damping = 0.03 / omega;
  BeamStepper<S> stepper(ctx, bar(), scheme, options_of(bar()));
  const Eigen::VectorXd shape = bar_modes().shapes.col(0);
  stepper.start(to_std(shape), std::vector<double>(static_cast<std::size_t>(shape.size()), 0.0));
  const std::vector<double> begin = stepper.observe();
  steps(stepper, 500);
  const std::vector<double> end = stepper.observe();
  // The ratio of damping is (a / w + b w) / 2 = 0.025; energy falls with exp(-2 ratio w t), five periods long.
  CHECK((end[0] + end[1]) / (begin[0] + begin[1]) == Approx(std::exp(-0.05 * 10 * pi)).epsilon(0.02));
}

TEST_BOTH("a beam that continues from a kept state makes the same bits", "[beam]") {
  for (const std::string format : {"csr", "ehyb"}) {
    for (const bool varies : {false, true}) {
      StepScheme scheme;
      scheme.dt = period(0) / 20;
      scheme.stiffness_varies = varies;
      const auto factor = [&](int step) { return varies ? 1 - 0.004 * step : 1.0; };  // a new M every 13 steps
      const auto run = [&](BeamStepper<S>& stepper, int from, int to) {
        for (int i = from; i < to; ++i) steps(stepper, 1, i < 5 ? 1 : 0, factor(i));
      };
      BeamStepper<S> whole(ctx, bar(), scheme, options_of(bar(), format));
      run(whole, 0, 30);
      const BeamState state = whole.state();
      SystemOptions kept = options_of(bar(), whole.system().info().matrix.name);
      if (!whole.system().ordered().order().natural()) {
        kept.old_of_new = to_vector(ctx, whole.system().ordered().order().old_of_new.cspan());
        kept.part_begin = whole.system().ordered().order().part_begin;
      }
      BeamStepper<S> again(ctx, bar(), scheme, kept);
      again.resume(state);
      run(whole, 30, 45);
      run(again, 30, 45);
      CAPTURE(format, varies);
      CHECK(again.state().displacement == whole.state().displacement);
      CHECK(again.state().mean_velocity == whole.state().mean_velocity);
      CHECK(again.observe() == whole.observe());
    }
  }
}

TEST_BOTH("a body that grows softer rings lower", "[beam]") {
  // With a quarter of the stiffness a mode takes twice as long.
  StepScheme scheme;
  scheme.dt = period(0) / 50;
  scheme.stiffness_varies = true;
  BeamStepper<S> stepper(ctx, bar(), scheme, options_of(bar()));
  const Eigen::VectorXd shape = bar_modes().shapes.col(0);
  stepper.start(to_std(shape), std::vector<double>(static_cast<std::size_t>(shape.size()), 0.0));
  steps(stepper, 100, 0, 0.25);
  const std::vector<double> u = stepper.displacement(0);
  CHECK(largest(Eigen::Map<const Eigen::VectorXd>(u.data(), shape.size()) - shape) < 0.01 * largest(shape));
}

TEST_BOTH("several strikes at once are what each is alone", "[beam]") {
  const BeamBody several = small_bar(bar_params(), 3);
  StepScheme scheme;
  scheme.dt = period(0) / 20;
  BeamStepper<S> together(ctx, several, scheme, options_of(several));
  steps(together, 5, 1.0);
  steps(together, 20);
  const std::vector<double> seen = together.observe();
  for (std::size_t k = 0; k < 3; ++k) {
    BeamBody one = small_bar(bar_params());
    one.strikes = {several.strikes[k]};
    one.probes = several.probes;
    BeamStepper<S> alone(ctx, one, scheme, options_of(one));
    steps(alone, 5, 1.0);
    steps(alone, 20);
    const std::vector<double> expected = alone.observe();
    for (std::size_t i = 0; i < 5; ++i) {
      CAPTURE(k, i);
      const double scale = i < 2 ? expected[0] + expected[1] : std::fabs(expected[4]);
      CHECK(std::fabs(seen[5 * k + i] - expected[i]) < 1e-7 * scale);
    }
  }
  CHECK(seen[0] + seen[1] > 2 * (seen[10] + seen[11]));  // struck near the clamp a bar takes up less
}

TEST_BOTH("steps after the second allocate nothing", "[beam]") {
  StepScheme scheme;
  scheme.dt = period(0) / 20;
  BeamStepper<S> stepper(ctx, bar(), scheme, options_of(bar()));
  steps(stepper, 2, 1.0);
  const std::uint64_t before = ctx.memory()->use().allocations;
  steps(stepper, 10);
  CHECK(ctx.memory()->use().allocations == before);
}

TEST_CASE("a solve that fails leaves a beam as it was", "[beam]") {
  const Context<Space::host> ctx(2);
  SystemOptions options = options_of(bar());
  options.stop.max_iterations = 1;
  StepScheme scheme;
  scheme.dt = period(0) / 20;
  BeamStepper<Space::host> stepper(ctx, bar(), scheme, options);
  const std::vector<double> before = stepper.displacement(0);
  CHECK(!stepper.step(1, 1).front().converged());
  CHECK(stepper.displacement(0) == before);
}
