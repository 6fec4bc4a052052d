// SPDX-License-Identifier: Apache-2.0
// Meshes as Gmsh 4.15 and meshio 5.3 write them, in tests/apps/meshes. What they hold was counted by meshio and
// NumPy.
#include "tests/catch.hpp"

#include "apps/fem/mesh_file.hpp"

using namespace newel::fem;

namespace {

const std::string folder = NEWEL_WRITTEN_MESHES;

double volume(const TetMesh& mesh) {
  double sum = 0;
  for (Index t = 0; t < mesh.tet_count(); ++t) sum += element_volume(mesh, t);
  return sum;
}

}  // namespace

TEST_CASE("a cylinder is the same mesh in every file that Gmsh and meshio write of it", "[fem][mesh_file]") {
  for (const char* name :
       {"gmsh_22_parametric.msh", "gmsh_22_parametric_binary.msh", "gmsh_40.msh", "gmsh_40_parametric.msh",
        "gmsh_41_parametric.msh", "gmsh_41_parametric_binary.msh", "meshio_40.msh", "meshio_40_binary.msh"}) {
    INFO(name);
    const MeshFile file = read_mesh(folder + "/" + name);
    CHECK(file.mesh.node_count() == 33);
    CHECK(file.mesh.tet_count() == 63);
    CHECK(volume(file.mesh) == Approx(0.7151409224582387).epsilon(1e-13));
  }
}

TEST_CASE("grids of meshio are read with data of every type of numbers", "[fem][mesh_file]") {
  for (const char* name :
       {"meshio_vtk42.vtk", "meshio_vtk42_binary.vtk", "meshio_vtk51.vtk", "meshio_vtk51_binary.vtk"}) {
    INFO(name);
    const MeshFile file = read_mesh(folder + "/" + name);
    CHECK(file.mesh.tets == std::vector<Tet>{{0, 1, 2, 3}, {1, 4, 2, 3}});
    CHECK(file.vectors_name == "fibre");
    REQUIRE(file.node_vectors.size() == 5);
    CHECK(file.node_vectors[4] == Point{12, 13, 14});
  }
  const MeshFile file = read_mesh(folder + "/meshio_int32_cell_data.vtk");
  CHECK(file.mesh.node_count() == 64);
  CHECK(file.mesh.tet_count() == 162);
}
