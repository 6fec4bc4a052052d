// SPDX-License-Identifier: Apache-2.0
// The stepper: every format gives the same run, warm starts and state survive a restart, nothing is allocated.
#include "tests/catch.hpp"

#include "apps/common/names.hpp"
#include "apps/heat/comparison.hpp"
#include "apps/heat/heat_sink.hpp"
#include "apps/heat/heat_stepper.hpp"

using namespace newel::heat;

namespace {

constexpr double dt = 0.5;

const HeatEquation& equation() {
  static const HeatEquation eq = [] {
    HeatSink sink;
    sink.cells_across_fin = 1;
    return assemble_heat(Context<Space::host>(2), make_heat_sink(sink), heat_sink_params(), dt, crank_nicolson);
  }();
  return eq;
}

SystemOptions options_with(const std::string& format, const std::string& precond = "jacobi") {
  SystemOptions options;
  options.solver.name = "cg";
  options.deterministic = true;
  options.stop.rel_tol = 1e-11;
  options.spmv.format = format;
  options.precond.name = precond;
  return options;
}

template <Space S>
void steps(HeatStepper<S>& stepper, int from, int to) {
  const HeatParams p = heat_sink_params();
  for (int i = from; i < to; ++i) {
    const SolveReport report = stepper.step(p.mean_amplitude(i * dt, (i + 1) * dt));
    REQUIRE(report.converged());
  }
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::fabs(a[i] - b[i]));
  return largest;
}

const std::vector<double>& reference() {
  static const std::vector<double> temperature = [] {
    HeatStepper<Space::host> stepper(Context<Space::host>(2), equation(), options_with("csr"));
    stepper.start(std::vector<double>(equation().capacity.size(), 20.0));
    steps(stepper, 0, 40);
    return stepper.temperature();
  }();
  return temperature;
}

}  // namespace

TEST_BOTH("every format and every preconditioner give the same run to the solver's tolerance", "[heat]") {
  std::vector<SystemOptions> all;
  for (const std::string& format : cli::format_names()) all.push_back(options_with(format));
  for (const std::string& precond : cli::definite_preconditioner_names()) all.push_back(options_with("csr", precond));
  for (const SystemOptions& options : all) {
    HeatStepper<S> stepper(ctx, equation(), options);
    stepper.start(std::vector<double>(equation().capacity.size(), 20.0));
    steps(stepper, 0, 40);
    CAPTURE(options.spmv.format, options.precond.name);
    // 40 steps, each within 1e-11 of |b|, whose root mean square is some 20 times a row's sum.
    CHECK(largest_difference(stepper.temperature(), reference()) < 1e-6);
  }
}

TEST_BOTH("a stepper that goes on from a kept state makes the same bits", "[heat]") {
  for (const std::string format : {"csr", "ehyb", "ellwarp"}) {
    HeatStepper<S> whole(ctx, equation(), options_with(format));
    whole.start(std::vector<double>(equation().capacity.size(), 20.0));
    steps(whole, 0, 12);
    const std::vector<double> u = whole.state(), before = whole.state_before();
    SystemOptions kept = options_with(whole.system().info().matrix.name);
    if (!whole.system().ordered().order().natural()) {
      kept.old_of_new = to_vector(ctx, whole.system().ordered().order().old_of_new.cspan());
      kept.part_begin = whole.system().ordered().order().part_begin;
    }
    HeatStepper<S> again(ctx, equation(), kept);
    again.resume(u, before);
    steps(whole, 12, 30);
    steps(again, 12, 30);
    CAPTURE(format);
    CHECK(again.state() == whole.state());
    CHECK(again.state_before() == whole.state_before());
  }
}

TEST_BOTH("with guesses from past solutions a run takes fewer iterations, and continues with the same bits",
          "[heat]") {
  const auto guessing = [](const std::string& guess) {
    SystemOptions options = options_with("csr");
    options.solver.of<GuessOptions>().guess = guess;
    return options;
  };
  std::map<std::string, std::int64_t> iterations;
  for (const std::string guess : {"given", "extrapolate", "project:6", "auto"}) {
    CAPTURE(guess);
    HeatStepper<S> whole(ctx, equation(), guessing(guess)), again(ctx, equation(), guessing(guess));
    whole.start(std::vector<double>(equation().capacity.size(), 20.0));
    steps(whole, 0, 20);
    again.resume(whole.state(), whole.state_before());
    again.system().history().set_guess_state(whole.system().history().guess_state());
    for (int step = 20; step < 40; ++step) iterations[guess] += whole.step(1).iterations;
    for (int step = 20; step < 40; ++step) CHECK(again.step(1).converged());
    CHECK(again.state() == whole.state());
    CHECK(largest_difference(whole.temperature(), again.temperature()) == 0);
  }
  // "given" is the line through the last two states, as ever.
  CHECK(iterations["project:6"] < iterations["given"]);
}

TEST_BOTH("steps after the first allocate nothing", "[heat]") {
  HeatStepper<S> stepper(ctx, equation(), options_with("csr"));
  stepper.start(std::vector<double>(equation().capacity.size(), 20.0));
  steps(stepper, 0, 1);
  const std::uint64_t before = ctx.memory()->use().allocations;
  steps(stepper, 1, 10);
  CHECK(ctx.memory()->use().allocations == before);
}

TEST_BOTH("the line through the last two states is a better guess than the last state", "[heat]") {
  HeatStepper<S> stepper(ctx, equation(), options_with("csr"));
  stepper.start(std::vector<double>(equation().capacity.size(), 20.0));
  steps(stepper, 0, 40);
  const auto last = make_array(ctx, stepper.temperature());
  const SolveReport extrapolated = stepper.step(1);
  const auto rhs = make_array(ctx, stepper.last_rhs());
  Array<double, S> x(ctx, last.size());
  copy<double>(ctx, last.cspan(), x.span());
  const SolveReport from_last = stepper.system().solve(rhs.cspan(), x.span());
  CHECK(extrapolated.initial_residual < 0.2 * from_last.initial_residual);
  CHECK(extrapolated.iterations < from_last.iterations);
}

TEST_CASE("heat is neither made nor lost: what is stored is what came in less what the air took", "[heat]") {
  const Context<Space::host> ctx(2);
  HeatParams p = heat_sink_params();
  p.convection = 0;
  HeatSink sink;
  sink.cells_across_fin = 1;
  const HeatEquation eq = assemble_heat(ctx, make_heat_sink(sink), p, dt, crank_nicolson);
  HeatStepper<Space::host> stepper(ctx, eq, options_with("csr"));
  stepper.start(std::vector<double>(eq.capacity.size(), 20.0));
  steps(stepper, 0, 20);
  double capacity = 0;
  for (const double c : eq.capacity) capacity += c;
  CHECK(stepper.mean() == Approx(20 + 20 * dt * p.power / capacity).epsilon(1e-9));
}

TEST_CASE("a solve that fails leaves the state as it was", "[heat]") {
  const Context<Space::host> ctx(2);
  SystemOptions options = options_with("csr");
  options.stop.max_iterations = 1;
  HeatStepper<Space::host> stepper(ctx, equation(), options);
  stepper.start(std::vector<double>(equation().capacity.size(), 20.0));
  const std::vector<double> before = stepper.state();
  CHECK(!stepper.step(1).converged());
  CHECK(stepper.state() == before);
}

TEST_BOTH("the comparison measures every format and preconditioner, with one baseline each", "[heat]") {
  HeatStepper<S> stepper(ctx, equation(), options_with("bce"));
  stepper.start(std::vector<double>(equation().capacity.size(), 20.0));
  steps(stepper, 0, 5);
  SampleStep sample;
  sample.guess = stepper.next_guess();
  steps(stepper, 5, 6);
  sample.rhs = stepper.last_rhs();
  const Comparison c = compare<S>(ctx, equation().implicit_matrix, sample, options_with("bce"), [] { return false; });
  REQUIRE(c.formats.size() == cli::format_names().size());
  REQUIRE(c.preconds.size() == cli::definite_preconditioner_names().size());
  for (const auto* group : {&c.formats, &c.preconds}) {
    int baselines = 0, used = 0;
    for (const Trial& trial : *group) {
      INFO(trial.format << " " << trial.precond << " " << trial.failure);
      CHECK(trial.failure.empty());
      CHECK(trial.setup_seconds > 0);
      CHECK(trial.solve_seconds > 0);
      CHECK(trial.iterations > 0);
      baselines += trial.baseline ? 1 : 0;
      used += trial.used ? 1 : 0;
    }
    CHECK(baselines == 1);
    CHECK(used == 1);
  }
  const std::string text = comparison_text(c, 100);
  CHECK(contains(text, "* bce"));
  CHECK(contains(text, "reference"));
  CHECK(comparison_json(c)["formats"].size() == c.formats.size());
}
