// SPDX-License-Identifier: Apache-2.0
// Any bytes at all through the readers of meshes: they give a mesh that can be assembled, or an error that they mean
// to give.
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include <newel/core/error.hpp>

#include "apps/fem/mesh_file.hpp"
#include "well_formed.hpp"

using newel::fuzz::insist;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace newel;
  fem::MeshFile file;
  try {
    file = fem::parse_mesh({reinterpret_cast<const char*>(data), size}, "fuzz");
  } catch (const InputError&) {
    return 0;
  } catch (const OutOfMemory&) {
    return 0;
  }
  const fem::TetMesh& mesh = file.mesh;
  insist(!mesh.tets.empty() && file.file_position.size() == mesh.nodes.size());
  insist(file.node_vectors.empty() || file.node_vectors.size() == mesh.nodes.size());
  insist(file.tet_vectors.empty() || file.tet_vectors.size() == mesh.tets.size());
  for (const fem::Point& p : mesh.nodes) {
    for (const double x : p) insist(std::isfinite(x));
  }
  for (Index t = 0; t < mesh.tet_count(); ++t) {
    for (const Index corner : mesh.tets[t]) insist(corner >= 0 && corner < mesh.node_count());
    insist(fem::element_volume(mesh, t) > 0);
  }
  return 0;
}
