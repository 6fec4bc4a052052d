// SPDX-License-Identifier: Apache-2.0
// The idealised ventricle: its volume on paper, its angles, its fibres.
#include "tests/catch.hpp"

#include "apps/fem/mesh_facts.hpp"
#include "apps/fem/surface.hpp"
#include "apps/heart/anatomy/ventricle.hpp"

using namespace newel::fem;

namespace {

const double pi = std::acos(-1.0);

// Of the ellipsoid below the plane z = base: the integral of pi r^2 (1 - z^2 / l^2) from -l.
double volume_below(double r, double l, double base) {
  return pi * r * r * (base + l - (base * base * base + l * l * l) / (3 * l * l));
}

template <class T>
bool same_bytes(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

double length(const Point& p) { return std::sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]); }

}  // namespace

TEST_ON_HOST("a ventricle has about the nodes asked for, one piece and no slivers", "[fem][ventricle]") {
  for (const int target : {1000, 3000, 5000, 12345, 30000}) {
    INFO(target);
    const Ventricle v = make_ventricle(ctx, target);
    const MeshFacts facts = mesh_facts(ctx, v.mesh);
    REQUIRE(std::abs(facts.nodes - target) < 0.05 * target);
    REQUIRE(facts.component_nodes.size() == 1);
    REQUIRE(facts.dihedral_min > 26);
    REQUIRE(facts.dihedral_max < 127);
    REQUIRE(facts.edge_max < 2.5 * facts.edge_min);
    REQUIRE(v.fibers.size() == v.mesh.tets.size());
  }
}

TEST_ON_HOST("a ventricle's volume approaches that on paper with the square of the edge", "[fem][ventricle]") {
  const double exact = volume_below(10, 20, 5) - volume_below(7, 17, 5);
  double coarse_error = 0, coarse_edge = 0;
  for (const int target : {2000, 60000}) {
    const MeshFacts facts = mesh_facts(ctx, make_ventricle(ctx, target).mesh);
    const double error = exact - facts.volume;
    REQUIRE(error > 0);
    REQUIRE(error < 0.01 * exact);
    if (coarse_edge > 0) {
      const double order = std::log(coarse_error / error) / std::log(coarse_edge / facts.edge_mean);
      REQUIRE(order > 1.7);
      REQUIRE(order < 2.3);
    }
    coarse_error = error;
    coarse_edge = facts.edge_mean;
  }
}

TEST_ON_HOST("a ventricle's sides and depths are those of its ellipsoids", "[fem][ventricle]") {
  const VentricleShape shape;
  const Ventricle v = make_ventricle(ctx, 3000);
  Index rim = 0;
  for (Index i = 0; i < v.mesh.node_count(); ++i) {
    const Point& p = v.mesh.nodes[i];
    const double t = v.transmural[i];
    const double r = shape.inner_radius + t * 3, l = shape.inner_length + t * 3;
    REQUIRE((p[0] * p[0] + p[1] * p[1]) / (r * r) + p[2] * p[2] / (l * l) == Approx(1).epsilon(1e-12));
    REQUIRE(transmural_coordinate(shape, p) == Approx(t).margin(1e-12));
    REQUIRE(((v.sides[i] & on_inner) != 0) == (t == 0));
    REQUIRE(((v.sides[i] & on_outer) != 0) == (t == 1));
    REQUIRE(((v.sides[i] & on_base) != 0) == (p[2] == shape.base));
    rim += (v.sides[i] & on_base) != 0 ? 1 : 0;
  }
  REQUIRE(rim > 0);
  // Every boundary triangle lies on one of the three sides, and all sides together are closed.
  const Surface surface = boundary_surface(ctx, v.mesh);
  Point flux{};
  for (Index f = 0; f < surface.size(); ++f) {
    int common = on_inner | on_outer | on_base;
    for (const Index node : surface.triangles[f]) common &= v.sides[node];
    REQUIRE(common != 0);
    for (int axis = 0; axis < 3; ++axis) flux[axis] += surface.area[f] * surface.normal[f][axis];
  }
  REQUIRE(length(flux) < 1e-9);
}

TEST_CASE("fibres are tangent to the wall and turn from +60 to -60 degrees", "[fem][ventricle]") {
  const VentricleShape shape;
  for (const double t : {0.0, 0.25, 0.5, 1.0}) {
    const double r = 7 + 3 * t, l = 17 + 3 * t;
    for (const double u : {0.3, 1.0, pi / 2}) {
      const double angle = 0.7;
      const Point at{r * std::sin(u) * std::cos(angle), r * std::sin(u) * std::sin(angle), -l * std::cos(u)};
      const Point f = ventricle_fiber(shape, at);
      REQUIRE(length(f) == Approx(1).epsilon(1e-14));
      const Point normal{at[0] / (r * r), at[1] / (r * r), at[2] / (l * l)};
      REQUIRE(std::fabs(f[0] * normal[0] + f[1] * normal[1] + f[2] * normal[2]) < 1e-12);
      const double around = -f[0] * std::sin(angle) + f[1] * std::cos(angle);
      REQUIRE(around == Approx(std::cos((60 - 120 * t) * pi / 180)).margin(1e-9));
      if (u == pi / 2) REQUIRE(f[2] == Approx(std::sin((60 - 120 * t) * pi / 180)).margin(1e-9));
    }
  }
  REQUIRE(length(ventricle_fiber(shape, {0, 0, -18})) == 1);
}

TEST_CASE("a ventricle has the same bits for any number of threads", "[fem][ventricle]") {
  const Ventricle one = make_ventricle(Context<Space::host>(1), 2000);
  const Ventricle three = make_ventricle(Context<Space::host>(3), 2000);
  REQUIRE(same_bytes(one.mesh.nodes, three.mesh.nodes));
  REQUIRE(same_bytes(one.mesh.tets, three.mesh.tets));
  REQUIRE(same_bytes(one.fibers, three.fibers));
}

TEST_ON_HOST("other shapes are meshed as well, impossible ones refused", "[fem][ventricle]") {
  VentricleShape human;
  for (double* x :
       {&human.inner_radius, &human.inner_length, &human.outer_radius, &human.outer_length, &human.base}) {
    *x *= 3;
  }
  REQUIRE(mesh_facts(ctx, make_ventricle(ctx, 5000, human).mesh).dihedral_min > 26);
  VentricleShape cup;
  cup.base = -3;
  REQUIRE(first_inverted(ctx, make_ventricle(ctx, 2000, cup).mesh) == -1);
  VentricleShape thin;
  thin.inner_radius = 10;
  REQUIRE_THROWS_AS(make_ventricle(ctx, 3000, thin), InputError);
  VentricleShape flat;
  flat.inner_length = 0;
  REQUIRE_THROWS_AS(make_ventricle(ctx, 3000, flat), InputError);
  VentricleShape closed;
  closed.base = 17;
  REQUIRE_THROWS_AS(make_ventricle(ctx, 3000, closed), InputError);
  REQUIRE_THROWS_AS(make_ventricle(ctx, 10), InputError);
  REQUIRE_THROWS_AS(make_ventricle(ctx, 1000000000), InputError);
}
