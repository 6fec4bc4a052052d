// SPDX-License-Identifier: Apache-2.0
// Faces that one tetrahedron has alone, and rows that gather from the triangles around their node.
#include "apps/fem/surface.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <mutex>
#include <string>

#include <newel/core/error.hpp>
#include <newel/core/parallel.hpp>

#include "apps/fem/geometry.hpp"

namespace newel::fem {
namespace {

// The face opposite each corner, turning counterclockwise seen from outside.
constexpr int face_corners[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

Triangle face_of(const Tet& tet, int opposite) {
  const int* c = face_corners[opposite];
  return {tet[c[0]], tet[c[1]], tet[c[2]]};
}

// A face seen from its lowest node.
struct Face {
  std::uint64_t others;  // the second and the third node, ascending
  std::size_t place;     // 4 tet + opposite corner
  bool operator<(const Face& other) const {
    return others != other.others ? others < other.others : place < other.place;
  }
};

void faces_from(const TetMesh& mesh, const NodeTets& around, Index lowest, std::vector<Face>& faces) {
  faces.clear();
  for (Offset k = around.begin[lowest]; k < around.begin[lowest + 1]; ++k) {
    const Index t = around.tets[k];
    for (int opposite = 0; opposite < 4; ++opposite) {
      const Triangle face = face_of(mesh.tets[t], opposite);
      const Index least = std::min({face[0], face[1], face[2]}), most = std::max({face[0], face[1], face[2]});
      if (least != lowest) continue;
      const auto middle = static_cast<Index>(std::int64_t{face[0]} + face[1] + face[2] - least - most);
      faces.push_back({static_cast<std::uint64_t>(middle) << 32 | static_cast<std::uint32_t>(most),
                       4 * std::size_t(t) + opposite});
    }
  }
  std::sort(faces.begin(), faces.end());
}

// For every face of every tetrahedron whether it has it alone.
std::vector<unsigned char> lonely_faces(const Context<Space::host>& ctx, const TetMesh& mesh,
                                        const NodeTets& around) {
  std::vector<unsigned char> lonely(4 * mesh.tets.size(), 0);
  constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
  std::size_t crowded = none;
  std::mutex found;
  parallel_ranges(ctx, mesh.node_count(), [&](Index range_begin, Index range_end) {
    std::vector<Face> faces;
    for (Index i = range_begin; i < range_end; ++i) {
      faces_from(mesh, around, i, faces);
      for (std::size_t first = 0, last = 0; first < faces.size(); first = last) {
        while (last < faces.size() && faces[last].others == faces[first].others) ++last;
        if (last - first == 1) lonely[faces[first].place] = 1;
        if (last - first <= 2) continue;
        const std::lock_guard<std::mutex> lock(found);
        crowded = std::min(crowded, faces[first + 2].place);
      }
    }
  });
  if (crowded != none) {
    throw InputError("tetrahedron " + std::to_string(crowded / 4) +
                     " (counted from 0) shares a face with two others, expected at most one neighbour");
  }
  return lonely;
}

// The triangles around each node, ascending.
struct NodeFaces {
  std::vector<Index> begin, faces;
};

NodeFaces node_faces(const TetMesh& mesh, const Surface& surface) {
  NodeFaces around{std::vector<Index>(mesh.nodes.size() + 1, 0), std::vector<Index>(3 * surface.triangles.size())};
  for (const Triangle& t : surface.triangles) {
    for (const Index node : t) ++around.begin[node + 1];
  }
  for (std::size_t i = 0; i < mesh.nodes.size(); ++i) around.begin[i + 1] += around.begin[i];
  std::vector<Index> cursor(around.begin.begin(), around.begin.end() - 1);
  for (Index f = 0; f < surface.size(); ++f) {
    for (const Index node : surface.triangles[f]) around.faces[cursor[node]++] = f;
  }
  return around;
}

// The field times the area of each triangle.
std::vector<double> weigh(const Context<Space::host>& ctx, const TetMesh& mesh, const Surface& surface,
                          const FaceField& field) {
  std::vector<double> weight(surface.triangles.size());
  parallel_for(ctx, surface.size(), [&](Index f) {
    weight[f] = surface.area[f] * field(f, centroid(mesh, surface.triangles[f]), surface.normal[f]);
  });
  return weight;
}

}  // namespace

Point centroid(const TetMesh& mesh, const Triangle& triangle) {
  Point middle{};
  for (const Index node : triangle) {
    for (int axis = 0; axis < 3; ++axis) middle[axis] += mesh.nodes[node][axis] / 3;
  }
  return middle;
}

Surface boundary_surface(const Context<Space::host>& ctx, const TetMesh& mesh) {
  return boundary_surface(ctx, mesh, node_tets(ctx, mesh));
}

Surface boundary_surface(const Context<Space::host>& ctx, const TetMesh& mesh, const NodeTets& around) {
  const std::vector<unsigned char> lonely = lonely_faces(ctx, mesh, around);
  Surface surface;
  for (std::size_t place = 0; place < lonely.size(); ++place) {
    if (lonely[place] == 0) continue;
    surface.tet.push_back(static_cast<Index>(place / 4));
    surface.triangles.push_back(face_of(mesh.tets[place / 4], static_cast<int>(place % 4)));
  }
  surface.area.resize(surface.triangles.size());
  surface.normal.resize(surface.triangles.size());
  parallel_for(ctx, surface.size(), [&](Index f) {
    const Triangle& t = surface.triangles[f];
    const Point& a = mesh.nodes[t[0]];
    const Point twice = detail::cross(detail::minus(mesh.nodes[t[1]], a), detail::minus(mesh.nodes[t[2]], a));
    surface.area[f] = detail::length(twice) / 2;
    surface.normal[f] = detail::normalised(twice);
  });
  return surface;
}

void add_surface_mass(const Context<Space::host>& ctx, const TetMesh& mesh, const Surface& surface,
                      const FaceField& c, HostCsr& a) {
  if (a.rows != mesh.node_count()) {
    throw InputError("the matrix has " + std::to_string(a.rows) + " rows, expected one for each of " +
                     std::to_string(mesh.node_count()) + " nodes");
  }
  const std::vector<double> weight = weigh(ctx, mesh, surface, c);
  const NodeFaces around = node_faces(mesh, surface);
  std::atomic<bool> missing{false};
  parallel_for(ctx, mesh.node_count(), [&](Index i) {
    const Index* first = a.col.data() + a.row_ptr[i];
    const Index* last = a.col.data() + a.row_ptr[i + 1];
    for (Index k = around.begin[i]; k < around.begin[i + 1]; ++k) {
      const Index f = around.faces[k];
      if (weight[f] == 0) continue;
      for (const Index j : surface.triangles[f]) {
        const Index* entry = std::lower_bound(first, last, j);
        if (entry == last || *entry != j) {
          missing = true;
          continue;
        }
        // The integral of N_i N_j over a triangle of area 1.
        a.val[entry - a.col.data()] += weight[f] / (i == j ? 6 : 12);
      }
    }
  });
  if (missing) throw InputError("the matrix lacks an entry between two nodes of the surface");
}

HostVector assemble_surface_load(const Context<Space::host>& ctx, const TetMesh& mesh, const Surface& surface,
                                 const FaceField& g) {
  const std::vector<double> weight = weigh(ctx, mesh, surface, g);
  const NodeFaces around = node_faces(mesh, surface);
  HostVector load(ctx, mesh.node_count());
  parallel_for(ctx, mesh.node_count(), [&](Index i) {
    double sum = 0;
    for (Index k = around.begin[i]; k < around.begin[i + 1]; ++k) sum += weight[around.faces[k]] / 3;
    load[i] = sum;
  });
  return load;
}

}  // namespace newel::fem
