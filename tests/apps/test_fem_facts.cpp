// SPDX-License-Identifier: Apache-2.0
// Facts of meshes that one can check by hand.
#include "tests/catch.hpp"

#include <cmath>

#include "apps/fem/mesh_facts.hpp"

using namespace purlin;
using namespace purlin::fem;

TEST_CASE("facts of the unit cube in six tetrahedra", "[fem][facts]") {
  const Context<Space::host> ctx;
  const MeshFacts facts = mesh_facts(ctx, make_cube(ctx, 2));
  REQUIRE(facts.nodes == 8);
  REQUIRE(facts.tets == 6);
  REQUIRE(facts.component_nodes == std::vector<Index>{8});
  REQUIRE(facts.low == Point{0, 0, 0});
  REQUIRE(facts.high == Point{1, 1, 1});
  REQUIRE(facts.extent() == 1);
  REQUIRE(facts.edge_min == 1);
  REQUIRE(facts.edge_max == Approx(std::sqrt(3.0)));
  // 12 sides, 6 diagonals of faces, 1 of the cube.
  REQUIRE(facts.edge_mean == Approx((12 + 6 * std::sqrt(2.0) + std::sqrt(3.0)) / 19));
  REQUIRE(facts.volume == Approx(1));
  REQUIRE(facts.tet_volume_min == Approx(1.0 / 6));
  REQUIRE(facts.tet_volume_max == Approx(1.0 / 6));
  REQUIRE(facts.dihedral_min == Approx(45));
  REQUIRE(facts.dihedral_max == Approx(90));
}

TEST_CASE("a regular tetrahedron's faces meet under 70.5 degrees", "[fem][facts]") {
  const Context<Space::host> ctx;
  const TetMesh tet{{{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}}, {{0, 1, 3, 2}}};
  REQUIRE(element_volume(tet, 0) == Approx(8.0 / 3));
  const MeshFacts facts = mesh_facts(ctx, tet);
  REQUIRE(facts.dihedral_min == Approx(std::acos(1.0 / 3) * 180 / std::acos(-1.0)));
  REQUIRE(facts.dihedral_max == Approx(facts.dihedral_min));
}

TEST_CASE("pieces are numbered by their lowest node and listed by size", "[fem][facts]") {
  const Context<Space::host> ctx;
  TetMesh mesh = make_cube(ctx, 3);
  const Index first = mesh.node_count();
  for (const Point& p : {Point{5, 0, 0}, Point{6, 0, 0}, Point{5, 1, 0}, Point{5, 0, 1}}) mesh.nodes.push_back(p);
  mesh.tets.insert(mesh.tets.begin(), {first, first + 1, first + 2, first + 3});
  const std::vector<Index> component = component_of_node(mesh);
  for (Index i = 0; i < mesh.node_count(); ++i) REQUIRE(component[i] == (i < first ? 0 : 1));
  REQUIRE(mesh_facts(ctx, mesh).component_nodes == std::vector<Index>{27, 4});
}

TEST_CASE("units are guessed from the extent as documented", "[fem][facts]") {
  REQUIRE(guess_unit(0.1, BodyKind::heart) == MeshUnit::m);
  REQUIRE(guess_unit(2.0, BodyKind::heart) == MeshUnit::cm);
  REQUIRE(guess_unit(11.7, BodyKind::heart) == MeshUnit::cm);
  REQUIRE(guess_unit(25, BodyKind::heart) == MeshUnit::mm);
  REQUIRE(guess_unit(102, BodyKind::heart) == MeshUnit::mm);
  REQUIRE(guess_unit(2.18, BodyKind::part) == MeshUnit::m);
  REQUIRE(guess_unit(22, BodyKind::part) == MeshUnit::mm);
  REQUIRE(name_of(MeshUnit::cm) == "cm");
  REQUIRE(metres_of(MeshUnit::mm) == 1e-3);
}

TEST_CASE("facts have the same bits for any number of threads", "[fem][facts]") {
  BoxOptions rough;
  rough.jitter = 0.16;
  const TetMesh mesh = make_cube(Context<Space::host>(1), 20, rough);
  const MeshFacts one = mesh_facts(Context<Space::host>(1), mesh);
  const MeshFacts three = mesh_facts(Context<Space::host>(3), mesh);
  REQUIRE(one.edge_mean == three.edge_mean);
  REQUIRE(one.volume == three.volume);
}
