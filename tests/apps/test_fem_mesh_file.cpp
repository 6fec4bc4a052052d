// SPDX-License-Identifier: Apache-2.0
// Meshes from files: the same mesh in every format, what is dropped, and what is refused with which words.
#include "tests/catch.hpp"

#include <zlib.h>

#include "apps/fem/mesh_file.hpp"
#include "tests/apps/mesh_fixtures.hpp"

using namespace newel::fem;

namespace {

const std::string medit =
    "MeshVersionFormatted 2\nDimension 3\nVertices\n6\n0 0 0 1\n1 0 0 1\n9 9 9 1\n0 1.5 0 1\n0 0 2 1\n1 1 1 1\n"
    "Triangles\n1\n1 2 4 7\nTetrahedra\n2\n1 2 4 5 9\n2 6 4 5 9\nEnd\n";

template <class T>
std::vector<T> without_third(std::vector<T> list) {
  list.erase(list.begin() + 2);
  return list;
}

MeshFile read_text(const std::string& text) {
  const TemporaryFolder folder;
  return read_mesh(folder.write("mesh", text));
}

// The fixture with its unused node dropped.
void check(const MeshFile& file, bool vectors) {
  REQUIRE(file.mesh.nodes == without_third(fixture_nodes));
  REQUIRE(file.mesh.tets == std::vector<Tet>{{0, 1, 2, 3}, {1, 4, 2, 3}});
  REQUIRE(file.file_nodes == 6);
  REQUIRE(file.dropped_nodes() == 1);
  REQUIRE(file.file_position == std::vector<Index>{0, 1, 3, 4, 5});
  REQUIRE(file.skipped_elements == 1);
  REQUIRE_FALSE(file.turned);
  REQUIRE(file.node_vectors == (vectors ? without_third(fixture_node_vectors) : std::vector<Point>{}));
  REQUIRE(file.tet_vectors == (vectors ? fixture_tet_vectors : std::vector<Point>{}));
}

std::string complaint(const std::string& text) { return complaint_of(read_mesh, text); }

std::vector<std::string> all_fixtures() {
  std::vector<std::string> all{medit};
  for (const char* version : {"2.2", "4.0", "4.1"}) {
    for (const bool binary : {false, true}) {
      for (const bool big : {false, true}) {
        if (!binary && big) continue;
        GmshFixture options;
        options.version = version;
        options.binary = binary;
        options.big_endian = big;
        all.push_back(gmsh_text(options));
      }
    }
  }
  for (const bool version5 : {false, true}) {
    for (const bool binary : {false, true}) all.push_back(vtk_text({version5, binary}));
  }
  return all;
}

}  // namespace

TEST_CASE("a Medit mesh is read with its unused node dropped", "[fem][mesh_file]") {
  const MeshFile file = read_text(medit);
  check(file, false);
  REQUIRE(file.format == "Medit ASCII");
  REQUIRE(file.node_number(2) == 4);
}

TEST_CASE("Gmsh meshes are read in all versions, as text and in either byte order", "[fem][mesh_file]") {
  for (const std::string version : {"2.2", "4.0", "4.1"}) {
    for (const bool binary : {false, true}) {
      for (const bool big : {false, true}) {
        GmshFixture options;
        options.version = version;
        options.binary = binary;
        options.big_endian = binary && big;
        const MeshFile file = read_text(gmsh_text(options));
        check(file, true);
        REQUIRE(file.vectors_name == "fibre field");
        REQUIRE(file.format == std::string("Gmsh ") + version + (binary ? " binary" : " ASCII"));
        options.node_tags = {70, 3, 12, 99, 1, 2};  // neither dense nor ascending
        const MeshFile sparse = read_text(gmsh_text(options));
        check(sparse, true);
        REQUIRE(sparse.file_tags == std::vector<std::int64_t>{70, 3, 99, 1, 2});
        REQUIRE(sparse.node_number(2) == 99);
      }
    }
  }
}

TEST_CASE("the parameters of nodes on curves are passed over in version 2.2", "[fem][mesh_file]") {
  for (const bool binary : {false, true}) {
    GmshFixture options;
    options.binary = binary;
    options.parametric = true;
    check(read_text(gmsh_text(options)), true);
  }
}

TEST_CASE("Medit's keywords are read in any case", "[fem][mesh_file]") {
  std::string upper = medit, lower = medit;
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  check(read_text(upper), false);
  check(read_text(lower), false);
  REQUIRE(complaint(replaced(upper, "TETRAHEDRA", "TETRAHEDRAP2")).find(" expected tetrahedra with 4 nodes") == 0);
}

TEST_CASE("coordinates are read with a plus and with Fortran's exponents", "[fem][mesh_file]") {
  for (const char* number : {"1.5D0", "+1.5", "0.15d+01", "0.015+002", "150.0-002", "1.5e0"}) {
    INFO(number);
    check(read_text(replaced(medit, "0 1.5 0", "0 " + std::string(number) + " 0")), false);
  }
  REQUIRE(complaint(replaced(medit, "0 1.5 0", "0 1.5-1 0")) == "8: expected a coordinate, found '1.5-1'");
  REQUIRE(complaint(replaced(medit, "0 1.5 0", "0 1e999 0")) == "8: expected a finite coordinate, found '1e999'");
  REQUIRE(complaint("MeshVersionFormatted 2 Dimension 3 Vertices 1 0 0 1.5") ==
          "1: expected a reference number, found the end of the file");
}

TEST_CASE("legacy VTK grids are read in both layouts, as text and binary", "[fem][mesh_file]") {
  for (const bool version5 : {false, true}) {
    for (const bool binary : {false, true}) {
      const MeshFile file = read_text(vtk_text({version5, binary}));
      check(file, true);
      REQUIRE(file.vectors_name == "fibre");
      REQUIRE(file.format ==
              std::string("legacy VTK ") + (version5 ? "5.1" : "3.0") + (binary ? " binary" : " ASCII"));
    }
  }
}

TEST_CASE("text with carriage returns is read", "[fem][mesh_file]") {
  GmshFixture version4;
  version4.version = "4.1";
  for (const std::string& text : {medit, gmsh_text(), gmsh_text(version4), vtk_text(), vtk_text({true, false})}) {
    const MeshFile file = read_text(with_carriage_returns(text));
    check(file, file.format != "Medit ASCII");
  }
}

TEST_IN_FOLDER("every format is read gzipped", "[fem][mesh_file]") {
  for (const std::string& text : all_fixtures()) {
    const std::string path = folder.file("mesh.gz");
    const gzFile out = gzopen(path.c_str(), "wb");
    gzwrite(out, text.data(), static_cast<unsigned>(text.size()));
    gzclose(out);
    REQUIRE(read_mesh(path).mesh.tets.size() == 2);
  }
}

TEST_CASE("a file whose volumes are all negative is turned, single ones are refused by number", "[fem][mesh_file]") {
  const std::string inverted = replaced(replaced(medit, "1 2 4 5", "2 1 4 5"), "2 6 4 5", "6 2 4 5");
  const MeshFile turned = read_text(inverted);
  REQUIRE(turned.turned);
  for (Index t = 0; t < 2; ++t) REQUIRE(element_volume(turned.mesh, t) > 0);
  REQUIRE(complaint(replaced(medit, "2 6 4 5", "6 2 4 5")).find(" tetrahedron 2 has volume -") == 0);
  REQUIRE(complaint(replaced(medit, "2 6 4 5", "2 2 4 5")) == " tetrahedron 2 has volume 0, expected a positive one");
  // A degenerate one among negative ones.
  REQUIRE(complaint(replaced(inverted, "6 2 4 5", "2 2 4 5")).find(" tetrahedron 2 has volume 0") == 0);
  GmshFixture gmsh;
  gmsh.tets[1] = {5, 1, 3, 4};
  REQUIRE(complaint(gmsh_text(gmsh)).find(" tetrahedron 12 has volume -") == 0);
}

TEST_CASE("other formats are refused with what converts them", "[fem][mesh_file]") {
  for (const char* text : {"", "solid part\nfacet normal", "<?xml version=\"1.0\"?>", "\x89HDF\r\n"}) {
    const std::string message = complaint(text);
    REQUIRE(contains(message, "meshio convert"));
  }
  REQUIRE_THROWS_AS(read_mesh("no such file"), InputError);
}

TEST_CASE("tetrahedra with ten nodes are refused with advice", "[fem][mesh_file]") {
  const std::string gmsh = replaced(gmsh_text(), "11 4 2 5 5 1 2 4 5", "11 11 2 5 5 1 2 4 5 1 2 3 4 5 6");
  REQUIRE(complaint(gmsh).find(" expected tetrahedra with 4 nodes, found some with 10") == 0);
  REQUIRE(
      contains(complaint(replaced(vtk_text(), "CELL_TYPES 3\n5 10", "CELL_TYPES 3\n5 24")), "first-order elements"));
}

TEST_CASE("a bad Gmsh file is refused with its place", "[fem][mesh_file]") {
  const std::string good = gmsh_text();
  REQUIRE(complaint(replaced(good, "2.2 0 8", "3.0 0 8")).find("2: expected version 2.2, 4.0 or 4.1") == 0);
  REQUIRE(complaint(replaced(good, "2.2 0 8", "2.2 7 8")) == "2: expected 0 for text or 1 for binary, found '7'");
  REQUIRE(complaint(replaced(good, "2.2 0 8", "2.2 0 4")) == "2: expected the data size 8, found '4'");
  REQUIRE(complaint(replaced(good, "\n6\n", "\n7\n")) == "16: expected a node number, found '$EndNodes'");
  REQUIRE(complaint(replaced(good, "\n6\n", "\n60000\n")) ==
          "9: expected a number of nodes that the rest of the file can hold, found '60000'");
  REQUIRE(contains(complaint(replaced(good, "2 1 0 0", "1 1 0 0")), "the number 1 twice"));
  REQUIRE(complaint(replaced(good, "1.5", "inf")).find("13: expected a finite coordinate") == 0);
  REQUIRE(complaint(replaced(good, "11 4 2 5 5 1", "11 4 2 5 5 8")) ==
          "20: expected the number of a node, found '8'");
  REQUIRE(complaint(good.substr(0, good.find("$EndElements"))) ==
          "22: expected $EndElements, found the end of the file");
  REQUIRE(contains(complaint(good.substr(0, good.find("$Elements"))), "expected tetrahedra in a section $Elements"));
  REQUIRE(contains(complaint(replaced(good, "$Nodes", "$ParametricNodes")), ": expected "));
  GmshFixture binary;
  binary.binary = true;
  const std::string bytes = gmsh_text(binary);
  REQUIRE(complaint(bytes.substr(0, bytes.find("$EndElements") - 10)).find(" byte ") == 0);
}

TEST_CASE("a bad VTK file is refused with its place", "[fem][mesh_file]") {
  const std::string good = vtk_text();
  REQUIRE(complaint(replaced(good, "UNSTRUCTURED_GRID", "POLYDATA")) ==
          "4: expected UNSTRUCTURED_GRID, found 'POLYDATA'");
  REQUIRE(complaint(replaced(good, "ASCII", "TEXT")) == "3: expected ASCII or BINARY, found 'TEXT'");
  REQUIRE(complaint(replaced(good, "POINTS 6 float", "POINTS 6 real")) ==
          "8: expected a type of numbers, such as float or double, found 'real'");
  REQUIRE(complaint(replaced(good, "CELL_TYPES 3", "CELL_TYPES 2")) == "16: expected types for 3 cells, found '2'");
  REQUIRE(
      contains(complaint(replaced(good, "4 1 5 3 4", "4 1 6 3 4")), "point numbers from 0 to 5 in cell 2, found 6"));
  REQUIRE(complaint(replaced(good, "CELL_DATA 3", "CELL_DATA 4")) == "18: expected values for 3 cells, found '4'");
  REQUIRE(contains(complaint(replaced(good, "POINT_DATA 6\nNORMALS", "POINT_DATA 6\nWHATEVER")),
                   "expected an attribute"));
  REQUIRE(complaint(replaced(good, "\nCELL_DATA 3", "\nCELL_TYPES 3\n5 10 10\nCELL_DATA 3")) ==
          "18: expected one section CELL_TYPES, found 'another'");
  const std::string newer = vtk_text({true, false});
  REQUIRE(contains(complaint(replaced(newer, "0 3 7 11", "0 8 7 11")), "that never decrease"));
}

TEST_IN_FOLDER("files that are cut anywhere or changed at random never crash the readers", "[fem][mesh_file]") {
  std::mt19937 random(7);
  int refused = 0;
  const auto survive = [&](const std::string& text) {
    try {
      read_mesh(folder.write("mesh", text));
    } catch (const InputError&) {
      ++refused;
    }
  };
  for (const std::string& good : all_fixtures()) {
    for (std::size_t length = 0; length < good.size(); length += 1 + good.size() / 60)
      survive(good.substr(0, length));
    for (int trial = 0; trial < 60; ++trial) {
      std::string bad = good;
      for (int change = 0; change < 3; ++change) bad[random() % bad.size()] = static_cast<char>(random());
      survive(bad);
    }
  }
  REQUIRE(refused > 300);
}
