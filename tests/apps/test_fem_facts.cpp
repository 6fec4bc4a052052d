// SPDX-License-Identifier: Apache-2.0
// Facts of meshes that one can check by hand.
#include "tests/catch.hpp"

#include "apps/fem/mesh_facts.hpp"

using namespace newel::fem;

TEST_ON_HOST("facts of the unit cube in six tetrahedra", "[fem][facts]") {
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

TEST_ON_HOST("a regular tetrahedron's faces meet under 70.5 degrees", "[fem][facts]") {
  const TetMesh tet{{{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}}, {{0, 1, 3, 2}}};
  REQUIRE(element_volume(tet, 0) == Approx(8.0 / 3));
  const MeshFacts facts = mesh_facts(ctx, tet);
  REQUIRE(facts.dihedral_min == Approx(std::acos(1.0 / 3) * 180 / std::acos(-1.0)));
  REQUIRE(facts.dihedral_max == Approx(facts.dihedral_min));
}

TEST_ON_HOST("pieces are numbered by their lowest node and listed by size", "[fem][facts]") {
  TetMesh mesh = make_cube(ctx, 3);
  const Index first = mesh.node_count();
  for (const Point& p : {Point{5, 0, 0}, Point{6, 0, 0}, Point{5, 1, 0}, Point{5, 0, 1}}) mesh.nodes.push_back(p);
  mesh.tets.insert(mesh.tets.begin(), {first, first + 1, first + 2, first + 3});
  const std::vector<Index> component = component_of_node(ctx, mesh);
  for (Index i = 0; i < mesh.node_count(); ++i) REQUIRE(component[i] == (i < first ? 0 : 1));
  REQUIRE(mesh_facts(ctx, mesh).component_nodes == std::vector<Index>{27, 4});
}

TEST_ON_HOST("the size of a slab is its longest side, its thickness and the length of its edges", "[fem][facts]") {
  // 40 x 40 x 2 cells of side 0.5: 2 V / S = 2 * 400 / (2 * 400 + 4 * 20) is below the thickness, 1, by the rim.
  const BodySize size = body_size(ctx, make_beam(ctx, 41, 41, 3, 20, 20, 1));
  CHECK(size.extent == Approx(20));
  CHECK(size.wall == Approx(800.0 / 880));
  // Sides, diagonals of faces and of cells: between the shortest and the longest.
  CHECK(size.edge > 0.5);
  CHECK(size.edge < 0.5 * std::sqrt(3.0));
}

TEST_CASE("the unit of a heart is guessed from its extent, its wall and its edges", "[fem][facts]") {
  struct Case {
    const char* of;
    BodySize size;
    MeshUnit unit;
  };
  // Measured on published meshes, which say their unit.
  const Case cases[] = {
      {"a human's two ventricles", {102, 10.2, 2.6}, MeshUnit::mm},
      {"a human's heart, coarse", {11.7, 0.891, 0.372}, MeshUnit::cm},
      {"a human's heart, fine", {11.7, 0.891, 0.269}, MeshUnit::cm},
      {"a rat's left ventricle, which is as long as a human's in cm", {9.31, 1.63, 0.478}, MeshUnit::mm},
      {"a slab of 20 x 7 x 3 mm", {2, 0.19, 0.069}, MeshUnit::cm},
      {"the same in mm", {20, 1.9, 0.69}, MeshUnit::mm},
      {"the same in m", {0.02, 0.0019, 0.00069}, MeshUnit::m},
      {"a ventricle of 25 mm, coarse", {25, 2.6, 2.4}, MeshUnit::mm},
      {"a ventricle of 10 mm", {10, 1.1, 0.9}, MeshUnit::mm},
      {"a human's two ventricles in m", {0.102, 0.0102, 0.0026}, MeshUnit::m},
  };
  for (const Case& c : cases) {
    INFO(c.of);
    CHECK(name_of(guess_unit(c.size, BodyKind::heart)) == name_of(c.unit));
  }
}

TEST_CASE("the unit of a part is guessed from its extent alone", "[fem][facts]") {
  CHECK(guess_unit({2.18, 0, 0}, BodyKind::part) == MeshUnit::m);
  CHECK(guess_unit({22, 0, 0}, BodyKind::part) == MeshUnit::mm);
  CHECK(name_of(MeshUnit::cm) == "cm");
  CHECK(metres_of(MeshUnit::mm) == 1e-3);
}

TEST_CASE("facts have the same bits for any number of threads", "[fem][facts]") {
  BoxOptions rough;
  rough.jitter = 0.16;
  const TetMesh mesh = make_cube(Context<Space::host>(1), 20, rough);
  const MeshFacts one = mesh_facts(Context<Space::host>(1), mesh);
  const MeshFacts three = mesh_facts(Context<Space::host>(3), mesh);
  REQUIRE(one.edge_mean == three.edge_mean);
  REQUIRE(one.volume == three.volume);
  const Context<Space::host> ctx(3);
  const MeshFacts handed = mesh_facts(ctx, mesh, node_tets(ctx, mesh));
  REQUIRE(handed.edge_mean == one.edge_mean);
  REQUIRE(handed.component_nodes == one.component_nodes);
}

TEST_CASE("many pieces are told apart by any number of threads", "[fem][facts]") {
  // Chains of tetrahedra whose nodes lie far apart in number, so that threads join the same pieces from several
  // sides.
  constexpr Index pieces = 7, links = 900, nodes = pieces * (links + 3);
  TetMesh mesh;
  mesh.nodes.resize(static_cast<std::size_t>(nodes) + 1);  // one more that no tetrahedron has
  const auto number = [](Index piece, Index k) { return (k * 1009 % (links + 3)) * pieces + piece; };
  for (Index k = 0; k < links; ++k) {
    for (Index p = 0; p < pieces; ++p) {
      mesh.tets.push_back({number(p, k), number(p, k + 1), number(p, k + 2), number(p, k + 3)});
    }
  }
  for (const int threads : {1, 2, 5, 16}) {
    const std::vector<Index> component = component_of_node(Context<Space::host>(threads), mesh);
    for (Index i = 0; i < nodes; ++i) REQUIRE(component[static_cast<std::size_t>(i)] == i % pieces);
    REQUIRE(component.back() == pieces);
  }
}
