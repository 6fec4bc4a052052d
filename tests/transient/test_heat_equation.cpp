// SPDX-License-Identifier: Apache-2.0
// The built-in part, the source's clock, and the matrices and loads of a step.
#include "tests/catch.hpp"

#include "apps/fem/mesh_facts.hpp"
#include "apps/heat/heat_equation.hpp"
#include "apps/heat/heat_sink.hpp"

using namespace newel::heat;

namespace {

const Context<Space::host> ctx(2);

double sum_of(const fem::HostVector& v) {
  double sum = 0;
  for (const double x : v) sum += x;
  return sum;
}

// y = A x
std::vector<double> times(const fem::HostCsr& a, const std::vector<double>& x) {
  std::vector<double> y(x.size(), 0.0);
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset e = a.row_ptr[i]; e < a.row_ptr[i + 1]; ++e) {
      y[static_cast<std::size_t>(i)] += a.val[e] * x[static_cast<std::size_t>(a.col[e])];
    }
  }
  return y;
}

}  // namespace

TEST_CASE("the built-in part is one piece of the volume of a plate and its fins", "[heat]") {
  for (const int cells : {1, 2, 3}) {
    HeatSink sink;
    sink.cells_across_fin = cells;
    const fem::TetMesh mesh = make_heat_sink(sink);
    CHECK(fem::first_inverted(ctx, mesh) == -1);
    const fem::MeshFacts facts = fem::mesh_facts(ctx, mesh);
    CHECK(facts.component_nodes.size() == 1);
    const double fin = sink.side / (2 * sink.fins - 1);
    const double expected = sink.side * sink.side * sink.plate + sink.fins * fin * sink.side * sink.fin_height;
    CHECK(facts.volume == Approx(expected));
    // The surface of a mesh that is conforming is that of the part: bottom, top, sides, fins.
    double area = 0;
    for (const double a : fem::boundary_surface(ctx, mesh).area) area += a;
    const double sides = 4 * sink.side * sink.plate + 2 * sink.fins * (sink.side + fin) * sink.fin_height;
    CHECK(area == Approx(2 * sink.side * sink.side + sides));
  }
  CHECK(make_heat_sink().node_count() == 15004);
  HeatSink none;
  none.fins = 0;
  CHECK_THROWS_AS(make_heat_sink(none), InputError);
}

TEST_CASE("the source's clock loses no energy, wherever the steps fall", "[heat]") {
  HeatParams p;
  p.on_seconds = 3;
  p.off_seconds = 2;
  CHECK(p.mean_amplitude(0, 1) == 1);
  CHECK(p.mean_amplitude(3, 5) == 0);
  CHECK(p.mean_amplitude(2, 4) == Approx(0.5));
  CHECK(p.mean_amplitude(0, 10) == Approx(0.6));
  for (const double dt : {0.7, 1.3, 5.0, 12.0}) {
    double energy = 0;
    const int steps = 100;
    for (int i = 0; i < steps; ++i) energy += dt * p.mean_amplitude(i * dt, (i + 1) * dt);
    const double end = steps * dt, cycles = std::floor(end / 5);
    CHECK(energy == Approx(3 * cycles + std::min(3.0, end - 5 * cycles)));
  }
  p.off_seconds = 0;
  CHECK(p.mean_amplitude(1e6, 1e6 + 1) == 1);
}

TEST_CASE("loads add up to the power, and to what the air at its temperature brings", "[heat]") {
  const HeatParams p = heat_sink_params();
  const fem::TetMesh mesh = make_heat_sink();
  const HeatEquation eq = assemble_heat(ctx, mesh, p, 0.5, crank_nicolson);
  CHECK(sum_of(eq.source_load) == Approx(p.power));
  CHECK(sum_of(eq.ambient_load) == Approx(p.convection * p.ambient * eq.cooled_area));
  double capacity = 0;
  for (const double c : eq.capacity) capacity += c;
  CHECK(capacity == Approx(p.density * p.heat_capacity * fem::mesh_facts(ctx, mesh).volume));
  double area = 0;
  for (const double a : fem::boundary_surface(ctx, mesh).area) area += a;
  CHECK(eq.cooled_area == Approx(area - 0.06 * 0.06));  // all but the bottom
}

TEST_CASE("a part at the air's temperature stays there, with either scheme", "[heat]") {
  HeatParams p = heat_sink_params();
  p.ambient = 37;
  const fem::TetMesh mesh = make_heat_sink();
  for (const double theta : {backward_euler, crank_nicolson}) {
    const HeatEquation eq = assemble_heat(ctx, mesh, p, 0.5, theta);
    const std::vector<double> u(mesh.nodes.size(), 37.0);
    const std::vector<double> left = times(eq.implicit_matrix, u), right = times(eq.explicit_matrix, u);
    for (std::size_t i = 0; i < u.size(); ++i) {
      const double load = right[i] + eq.ambient_load[static_cast<std::int64_t>(i)];
      REQUIRE(std::fabs(left[i] - load) <= 1e-12 * std::fabs(left[i]));
    }
  }
}

TEST_CASE("parts of the surface and of the body are where they were asked for", "[heat]") {
  const fem::TetMesh mesh = fem::make_cube(ctx, 5);
  HeatParams p;
  p.cooled = "above";
  p.plane_normal = {1, 0, 0};
  p.plane_offset = 0.999;
  CHECK(assemble_heat(ctx, mesh, p, 1, backward_euler).cooled_area == Approx(1));
  p.cooled = "below";
  CHECK(assemble_heat(ctx, mesh, p, 1, backward_euler).cooled_area == Approx(5));
  p.heated = "ball";
  p.ball_centre = {0.5, 0.5, 0.5};
  p.ball_radius = 0.1;
  const HeatEquation eq = assemble_heat(ctx, mesh, p, 1, backward_euler);
  int heated = 0;
  for (const double q : eq.source_load) heated += q > 0 ? 1 : 0;
  CHECK(heated == 15);  // one node, and those that share a tetrahedron with it
  p.ball_centre = {7, 7, 7};
  CHECK_THROWS_AS(assemble_heat(ctx, mesh, p, 1, backward_euler), InputError);
  p.heated = "lowest";
  p.lowest_share = 0;
  CHECK(sum_of(assemble_heat(ctx, mesh, p, 1, backward_euler).source_load) == Approx(p.power));
  CHECK_THROWS_AS(assemble_heat(ctx, mesh, p, 0, backward_euler), InputError);
}
