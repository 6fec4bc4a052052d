// SPDX-License-Identifier: Apache-2.0
// The Medit reader: what it accepts, what it refuses and with which words.
#include <zlib.h>

#include "apps/fem/mesh.hpp"
#include "tests/apps/mesh_fixtures.hpp"

using namespace newel::fem;

namespace {

const std::string one_tet =
    "MeshVersionFormatted 2\n"
    "Dimension 3\n"
    "Vertices\n4\n"
    "0 0 0 1\n"
    "1 0 0 1\n"
    "0 1.5e0 0 1\n"
    "0 0 2 1\n"
    "Tetrahedra\n1\n"
    "1 2 3 4 9\n"
    "End\n";

void check_one_tet(const TetMesh& mesh) {
  REQUIRE(mesh.nodes == std::vector<Point>{{0, 0, 0}, {1, 0, 0}, {0, 1.5, 0}, {0, 0, 2}});
  REQUIRE(mesh.tets == std::vector<Tet>{{0, 1, 2, 3}});
}

TetMesh read_text(const std::string& text) {
  const TemporaryFolder folder;
  return read_medit(folder.write("a.mesh", text));
}

std::string complaint(const std::string& text) { return complaint_of(read_medit, text); }

}  // namespace

TEST_CASE("a Medit mesh is read", "[fem]") {
  check_one_tet(read_text(one_tet));
  check_one_tet(read_text(replaced(one_tet, "Dimension 3", "Dimension\n3")));
  check_one_tet(read_text(replaced(one_tet, "End\n", "")));
}

TEST_CASE("comments, other sections and carriage returns are skipped", "[fem]") {
  check_one_tet(read_text(replaced(one_tet, "Tetrahedra", "Triangles\n1\n1 2 3 7\nCorners 1 2\nTetrahedra # these")));
  check_one_tet(read_text("# a comment\n" + one_tet));
  check_one_tet(read_text(with_carriage_returns(one_tet)));
}

TEST_IN_FOLDER("a gzipped mesh is read, a cut one refused", "[fem]") {
  const std::string path = folder.file("a.mesh.gz");
  const gzFile out = gzopen(path.c_str(), "wb");
  gzwrite(out, one_tet.data(), static_cast<unsigned>(one_tet.size()));
  gzclose(out);
  check_one_tet(read_medit(path));
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 12);
  REQUIRE_THROWS_AS(read_medit(path), InputError);
}

TEST_CASE("a bad mesh is refused with its line and what was expected", "[fem]") {
  REQUIRE(complaint("") == "1: expected MeshVersionFormatted, found the end of the file");
  REQUIRE(complaint(replaced(one_tet, "Dimension 3", "Dimension 2")) == "2: expected the dimension 3, found '2'");
  REQUIRE(complaint(replaced(one_tet, "Dimension 3\n", "")) ==
          "2: expected Dimension before Vertices, found 'Vertices'");
  REQUIRE(complaint(replaced(one_tet, "1.5e0", "x")) == "7: expected a coordinate, found 'x'");
  REQUIRE(complaint(replaced(one_tet, "1.5e0", "inf")) == "7: expected a finite coordinate, found 'nan or inf'");
  REQUIRE(complaint(replaced(one_tet, "0 0 2 1\n", "0 0 2\n")) ==
          "9: expected a reference number, found 'Tetrahedra'");
  REQUIRE(complaint(replaced(one_tet, "3 4 9", "3 5 9")) == "11: expected a vertex number in 1 .. 4, found '5'");
  REQUIRE(complaint(replaced(one_tet, "1 2 3 4", "0 2 3 4")) == "11: expected a vertex number in 1 .. 4, found '0'");
  REQUIRE(complaint(replaced(one_tet, "3 4 9", "3 4.5 9")) == "11: expected a vertex number, found '4.5'");
  REQUIRE(complaint(replaced(one_tet, "4\n0 0", "-4\n0 0")) == "4: expected a number of vertices, found '-4'");
  REQUIRE(complaint(replaced(one_tet, "4\n0 0", "2000000000\n0 0")) ==
          "4: expected a number of vertices that the rest of the file can hold, found '2000000000'");
  REQUIRE(complaint(replaced(one_tet, "End\n", "12 End\n")) == "12: expected a keyword, found '12'");
  REQUIRE(complaint("MeshVersionFormatted 2\nDimension 3\nEnd\n") ==
          "3: expected a section of Vertices, found the end of the file");
  const std::string no_tets = one_tet.substr(0, one_tet.find("Tetrahedra"));
  REQUIRE(complaint(no_tets) == "9: expected a section of Tetrahedra, found the end of the file");
  REQUIRE_THROWS_AS(read_medit("no such file.mesh"), InputError);
  REQUIRE_THROWS_AS(read_medit(std::filesystem::temp_directory_path().string()), InputError);
}

TEST_CASE("real meshes have the counts that their table says and positive volumes", "[fem][data]") {
  if (newel::testing::skipped_without_data()) return;
  const std::string folder = newel::testing::data_folder();
  std::ifstream table(folder + "/README.md");
  const Context<Space::host> ctx;
  int meshes = 0;
  for (std::string line; std::getline(table, line);) {
    // | name.mesh.gz | what it is | nodes | tetrahedra |
    if (!contains(line, ".mesh.gz |")) continue;
    std::vector<std::string> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, '|');) cells.push_back(cell);
    REQUIRE(cells.size() >= 5);
    const std::string name = cells[1].substr(1, cells[1].size() - 2);
    INFO(name);
    const TetMesh mesh = read_medit(folder + "/meshes/" + name);
    REQUIRE(mesh.node_count() == std::stoi(cells[3]));
    REQUIRE(mesh.tet_count() == std::stoi(cells[4]));
    REQUIRE(first_inverted(ctx, mesh) == -1);
    ++meshes;
  }
  REQUIRE(meshes > 0);
}
