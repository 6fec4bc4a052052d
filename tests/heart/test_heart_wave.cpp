// SPDX-License-Identifier: Apache-2.0
// The wave as a whole: the speed of a planar front, where stimuli act, what an electrode sees.
#include "apps/common/exit_status.hpp"
#include "apps/heart/electrogram.hpp"
#include "apps/heart/heart_body.hpp"
#include "tests/heart/heart_support.hpp"

namespace {

// A bar along x that conducts 1.2 mm^2/ms along its fibres.
heart::HeartModel bar(double length, Index nodes, const fem::Point& fiber) {
  heart::HeartModel model;
  const double edge = length / (nodes - 1);
  model.mesh = fem::make_beam(Context<Space::host>(), nodes, 3, 3, length, 2 * edge, 2 * edge);
  model.fibers.assign(model.mesh.tets.size(), fiber);
  model.tissue.gamma = 0;  // no recovery: the front of the cubic, whose speed is known
  return model;
}

// mm/ms between x = 40 % and 80 % of a bar whose left end is excited.
double measured_speed(const heart::HeartModel& model, double length, double d, double dt) {
  const Context<Space::host> ctx;
  heart::Monodomain<Space::host> heart(ctx, model, dt, sharp_options(), heart::AssemblyKind::in_place, {});
  heart::HeartState state = heart.state();
  const double width = heart::front_width(model.tissue, d);
  for (std::size_t i = 0; i < state.phi.size(); ++i) {
    state.phi[i] = 1 / (1 + std::exp((model.mesh.nodes[i][0] - 0.2 * length) / width));
  }
  heart.set_state(state);
  transient::Shares shares;
  transient::SolveTotals totals;
  // Where phi = 1/2 stands on the axis of the bar.
  const auto front = [&] {
    const std::vector<double> phi = heart.in_mesh_order(heart.phi());
    double at = 0;
    for (std::size_t i = 0; i < phi.size(); ++i) {
      for (std::size_t j = i + 1; j < std::min(i + 2, phi.size()); ++j) {  // neighbours along x
        if (phi[i] < 0.5 || phi[j] >= 0.5 || model.mesh.nodes[j][0] <= model.mesh.nodes[i][0]) continue;
        const double share = (phi[i] - 0.5) / (phi[i] - phi[j]);
        at = std::max(at, model.mesh.nodes[i][0] + share * (model.mesh.nodes[j][0] - model.mesh.nodes[i][0]));
      }
    }
    return at;
  };
  double first_time = 0, first_place = 0;
  for (int step = 1; step < 100000; ++step) {
    REQUIRE(heart.step(dt, {}, shares, totals).accepted);
    const double at = front();
    if (first_time == 0 && at > 0.4 * length) {
      first_time = step * dt;
      first_place = at;
    }
    if (at > 0.8 * length) return (at - first_place) / (step * dt - first_time);
  }
  FAIL("the front does not arrive");
  return 0;
}

}  // namespace

TEST_CASE("the speed of a planar front converges to that of the equation under refinement", "[heart]") {
  const heart::Conductivity d;
  for (const bool along : {true, false}) {
    const double length = along ? 40 : 20;
    const double conductivity = along ? d.along : d.across;
    const fem::Point fiber = along ? fem::Point{1, 0, 0} : fem::Point{0, 1, 0};
    const double exact = heart::front_speed(heart::Tissue{}, conductivity);
    double last = 1e9;
    for (const Index cells : {20, 40, 80}) {
      const double dt = 4.0 / cells;
      const double speed = measured_speed(bar(length, cells + 1, fiber), length, conductivity, dt);
      const double error = std::fabs(speed / exact - 1);
      INFO((along ? "along" : "across") << ", " << cells << " cells: " << speed << " m/s of " << exact);
      CHECK(error < 0.75 * last);
      last = error;
    }
    CHECK(last < 0.02);
  }
}

TEST_CASE("stimuli are read, and reach the elements that they name", "[heart]") {
  using heart::Stimulus;
  const Stimulus s = heart::parse_stimulus("10.5,0,-20@350:2.5");
  CHECK(s.place == Stimulus::Place::point);
  CHECK(s.at == fem::Point{10.5, 0, -20});
  CHECK(s.start == 350);
  CHECK(s.duration == 2.5);
  CHECK(s.share(340, 350) == 0);
  CHECK(s.share(350.5, 351) == 1);
  CHECK(s.share(340, 360) == Approx(0.125));
  CHECK(s.share(352, 353) == Approx(0.5));
  CHECK(heart::parse_stimulus("endo").duration == 2);
  CHECK(heart::parse_stimulus("base@7").start == 7);
  for (const char* bad : {"", "apexx", "1,2", "1,2,3,4", "apex@", "apex@x", "apex@1:0", "1,2,nan", "apex@1:2:3"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(heart::parse_stimulus(bad), cli::UsageError);
  }

  transient::RunOptions options;
  const heart::HeartParams params;
  const Context<Space::host> ctx;
  cli::RunClock clock;
  const heart::HeartBody body = heart::make_heart_body(ctx, ctx, options, params, "", 3000, clock);
  CHECK(body.input.mesh.nodes[static_cast<std::size_t>(body.apex)][2] == Approx(-20).margin(0.1));
  CHECK(body.axis == fem::Point{0, 0, 1});
  CHECK(body.base == Approx(5).margin(1e-9));
  const std::vector<Stimulus> stimuli = {heart::parse_stimulus("apex"), heart::parse_stimulus("base@3"),
                                         heart::parse_stimulus("endo@3:1")};
  const std::vector<std::uint32_t> marks = heart::mark_elements(ctx, body, stimuli, 3);
  for (std::size_t t = 0; t < marks.size(); ++t) {
    fem::Point middle{};
    for (const Index corner : body.input.mesh.tets[t]) {
      for (int axis = 0; axis < 3; ++axis) middle[axis] += body.input.mesh.nodes[corner][axis] / 4;
    }
    const double to_apex = std::hypot(middle[0], std::hypot(middle[1], middle[2] + 20));
    if (to_apex < 2.8) CHECK((marks[t] & 1u) != 0);
    if (to_apex > 3.2) CHECK((marks[t] & 1u) == 0);
    CHECK(((marks[t] & 2u) != 0) == (middle[2] >= 2 - 1e-9));
    // Within a fifth of the wall from the inner ellipsoid of semi-axes 7, 7, 17 towards 10, 10, 20.
    const double r = 7 + 0.2 * 3, l = 17 + 0.2 * 3;
    const double level = (middle[0] * middle[0] + middle[1] * middle[1]) / (r * r) + middle[2] * middle[2] / (l * l);
    if (level < 0.97) CHECK((marks[t] & 4u) != 0);
    if (level > 1.03) CHECK((marks[t] & 4u) == 0);
  }
  CHECK(heart::stimulus_rates(stimuli, 2, 0, 1).active == 1u);
  const heart::StimulusRates rates = heart::stimulus_rates(stimuli, 2, 3.5, 4.5);
  CHECK(rates.active == 6u);
  CHECK(rates.sum(2u) == Approx(2));
  CHECK(rates.sum(7u) == Approx(3));
  CHECK_THROWS_AS(heart::mark_elements(ctx, body, {heart::parse_stimulus("0,0,0")}, 1), InputError);
  const std::vector<Index> probes = heart::usual_probes(ctx, body);
  CHECK(probes.size() == 4);
  CHECK(probes.front() == body.apex);
  for (const int threads : {1, 7}) {
    const Context<Space::host> other(threads);
    const heart::HeartBody again = heart::make_heart_body(other, other, options, params, "", 3000, clock);
    CHECK(again.apex == body.apex);
    CHECK(again.base == body.base);
    CHECK(again.transmural == body.transmural);
    CHECK(heart::mark_elements(other, again, stimuli, 3) == marks);
    CHECK(heart::usual_probes(other, again) == probes);
  }
  CHECK(clock.seconds("ventricle") > 0);
  CHECK(clock.seconds("mesh facts") > 0);
}

TEST_CASE("an electrogram is that of the dipoles of the tissue, and a resting heart has none", "[heart]") {
  const heart::HeartModel model = small_heart(6, 4);
  const heart::Conductivity isotropic{0.6, 0.6};
  const std::vector<fem::Point> none;
  // Far away a voltage that rises linearly along g is one dipole: current flows against g, and the potential is
  // -|volume| g . (p - c) / (4 pi |p - c|^3).
  const fem::Point p{30, 22, 17}, near{1, 0, -3}, slope{3, -1, 2};
  const std::vector<std::vector<double>> both =
      heart::electrogram_weights(Context<Space::host>(3), model.mesh, none, isotropic, {p, near});
  const std::vector<double>& weights = both[0];
  CHECK(heart::electrogram_weights(Context<Space::host>(1), model.mesh, none, isotropic, {near, p}) ==
        std::vector<std::vector<double>>{both[1], both[0]});
  double sum = 0, potential = 0, magnitude = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const fem::Point& x = model.mesh.nodes[i];
    sum += weights[i];
    magnitude += std::fabs(weights[i]);
    potential += weights[i] * (7 + slope[0] * x[0] + slope[1] * x[1] + slope[2] * x[2]);
  }
  CHECK(std::fabs(sum) <= 1e-13 * magnitude);
  double along = 0, distance = 0;
  for (int i = 0; i < 3; ++i) {
    along += slope[i] * (p[i] - 2);
    distance += (p[i] - 2) * (p[i] - 2);
  }
  const double expected = -64 * along / (4 * 3.14159265358979 * std::pow(distance, 1.5));
  CHECK(potential == Approx(expected).epsilon(0.01));
  // A front on its way from x = 0 to p: excited behind, at rest ahead. It is seen as positive.
  double front = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) front += weights[i] * (model.mesh.nodes[i][0] < 2 ? 20 : -80);
  CHECK(front > 0);
}
