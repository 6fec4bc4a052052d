// SPDX-License-Identifier: Apache-2.0
// The mesh of a run: units, refinement with its vectors, remarks.
#include "tests/catch.hpp"

#include "apps/transient/mesh_input.hpp"

using namespace newel::transient;

namespace {

// One tetrahedron of the side 60, a node that nothing uses, and a vector per node.
const char* vtk = R"(# vtk DataFile Version 3.0
a corner
ASCII
DATASET UNSTRUCTURED_GRID
POINTS 5 double
0 0 0  60 0 0  0 60 0  0 0 60  9 9 9
CELLS 1 5
4 0 1 2 3
CELL_TYPES 1
10
POINT_DATA 5
VECTORS fibres double
1 0 0  -1 0 0  0 1 0  0 0 1  1 1 1
)";

bool says(const MeshInput& input, const std::string& words) {
  return std::any_of(input.remarks.begin(), input.remarks.end(),
                     [&](const std::string& remark) { return contains(remark, words); });
}

}  // namespace

TEST_IN_FOLDER("nodes keep the numbers that their file gives them", "[transient]") {
  // Node 2 is used by no tetrahedron.
  const std::string file =
      folder.write("m.mesh",
                   "MeshVersionFormatted 1\nDimension 3\nVertices\n5\n0 0 0 0\n9 9 9 0\n1 0 0 0\n"
                   "0 1 0 0\n0 0 1 0\nTetrahedra\n1\n1 3 4 5 0\nEnd\n");
  transient::RunOptions options;
  options.mesh = file;
  options.refine = 1;
  cli::RunClock clock;
  const auto input = read_mesh_input(Context<Space::host>(), options, fem::BodyKind::part, fem::MeshUnit::m, clock);
  CHECK(input.number_of(0) == 1);
  CHECK(input.number_of(1) == 3);
  CHECK(input.node_of(5) == 3);
  CHECK(input.node_of(2) == -1);
  CHECK(input.number_of(4) == 6);
  CHECK(input.node_of(11) == 9);
  CHECK(input.node_of(12) == -1);
}

TEST_CASE("a mesh comes in the program's unit, and what was guessed or left out is said", "[transient]") {
  const Context<Space::host> ctx(2);
  const TemporaryFolder folder;
  RunOptions options;
  cli::RunClock clock;
  options.mesh = folder.write("corner.vtk", vtk);
  std::string said;
  const auto say = [&](const std::string& lines) { said += lines; };
  const MeshInput guessed = read_mesh_input(ctx, options, fem::BodyKind::part, fem::MeshUnit::m, clock, say);
  CHECK(guessed.mesh.node_count() == 4);
  CHECK(guessed.mesh.nodes[1][0] == Approx(0.060));
  CHECK(contains(said, "assumed to be in mm: its longest side is then 0.06 m; this is a guess, use --mesh-unit"));
  CHECK(guessed.file_unit == "mm, a guess");
  CHECK(says(guessed, "removed 1 node that no tetrahedron uses"));
  CHECK(guessed.json["unit"] == "m");
  CHECK(guessed.json["volume"] == Approx(0.06 * 0.06 * 0.06 / 6));
  options.mesh_unit = "cm";
  said.clear();
  const MeshInput described = read_mesh_input(ctx, options, fem::BodyKind::part, fem::MeshUnit::mm, clock, say);
  CHECK(described.mesh.nodes[1][0] == Approx(600));
  CHECK(said.empty());
  CHECK(described.file_unit == "cm");
  CHECK(contains(mesh_text(described), "4 nodes, 1 tetrahedra, 600 x 600 x 600 mm"));
}

TEST_CASE("vectors go with a refinement, and fibres have no head", "[transient]") {
  const Context<Space::host> ctx(2);
  const TemporaryFolder folder;
  RunOptions options;
  cli::RunClock clock;
  options.mesh = folder.write("corner.vtk", vtk);
  options.refine = 1;
  const MeshInput input = read_mesh_input(ctx, options, fem::BodyKind::part, fem::MeshUnit::m, clock);
  REQUIRE(input.mesh.node_count() == 10);
  REQUIRE(input.node_vectors.size() == 10);
  CHECK(input.mesh.tet_count() == 8);
  // Between (1 0 0) and (-1 0 0), the same fibre: not nothing.
  for (std::size_t i = 0; i < 10; ++i) {
    const fem::Point& at = input.mesh.nodes[i];
    if (at[0] == Approx(0.03) && at[1] == 0 && at[2] == 0) CHECK(input.node_vectors[i] == fem::Point{1, 0, 0});
    if (at[0] == 0 && at[1] == Approx(0.03) && at[2] == 0) CHECK(input.node_vectors[i] == fem::Point{0.5, 0.5, 0});
  }
}
