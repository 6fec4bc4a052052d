// SPDX-License-Identifier: Apache-2.0
// Volumes, the tetrahedra around each node, and uniform refinement.
#include "apps/fem/mesh.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include <newel/core/error.hpp>
#include <newel/core/parallel.hpp>

#include "apps/fem/column_numbers.hpp"
#include "apps/fem/geometry.hpp"
#include "apps/fem/node_elements.hpp"

namespace newel::fem {
namespace {

// The edges of a mesh by their lower end: edge k of node i leads to `upper[begin[i] + k]`, ascending.
struct Edges {
  Array<Offset, Space::host> begin;  // nodes + 1
  Array<Index, Space::host> upper;

  Offset number(Index a, Index b) const {
    const Index low = std::min(a, b);
    const Index* first = upper.data() + begin[low];
    const Index* last = upper.data() + begin[low + 1];
    return std::lower_bound(first, last, std::max(a, b)) - upper.data();
  }
};

// The nodes above `node` that share a tetrahedron with it, behind `node` itself.
const std::vector<Index>& upper_neighbours(const TetMesh& mesh, const NodeTets& around, Index node,
                                           detail::ColumnNumbers& found) {
  found.restart(node);
  for (Offset k = around.begin[node]; k < around.begin[node + 1]; ++k) {
    for (const Index other : mesh.tets[around.tets[k]]) {
      if (other > node) (void)found.number(other);
    }
  }
  return found.columns();
}

Edges find_edges(const Context<Space::host>& ctx, const TetMesh& mesh) {
  const NodeTets around = node_tets(ctx, mesh);
  const Index nodes = mesh.node_count();
  Edges edges{Array<Offset, Space::host>(ctx, Offset{nodes} + 1), {}};
  edges.begin[0] = 0;
  parallel_ranges(ctx, nodes, [&](Index range_begin, Index range_end) {
    detail::ColumnNumbers found;
    for (Index i = range_begin; i < range_end; ++i) {
      edges.begin[i + 1] = static_cast<Offset>(upper_neighbours(mesh, around, i, found).size()) - 1;
    }
  });
  for (Index i = 0; i < nodes; ++i) edges.begin[i + 1] += edges.begin[i];
  edges.upper = Array<Index, Space::host>(ctx, edges.begin[nodes]);
  parallel_ranges(ctx, nodes, [&](Index range_begin, Index range_end) {
    detail::ColumnNumbers found;
    for (Index i = range_begin; i < range_end; ++i) {
      const std::vector<Index>& columns = upper_neighbours(mesh, around, i, found);
      Index* const upper = edges.upper.data() + edges.begin[i];
      std::sort(upper, std::copy(columns.begin() + 1, columns.end(), upper));
    }
  });
  return edges;
}

double distance2(const Point& a, const Point& b) {
  return (a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]);
}

// `mid[a][b]` is the midpoint of the edge between corners a and b.
void split(const std::vector<Point>& nodes, const Tet& tet, const Index mid[4][4], Tet* children) {
  *children++ = {tet[0], mid[0][1], mid[0][2], mid[0][3]};
  *children++ = {mid[0][1], tet[1], mid[1][2], mid[1][3]};
  *children++ = {mid[0][2], mid[1][2], tet[2], mid[2][3]};
  *children++ = {mid[0][3], mid[1][3], mid[2][3], tet[3]};

  // Turning corners 1, 2, 3 about corner 0 keeps the orientation and leads from one diagonal to the next:
  // 01-23, 02-31, 03-12.
  constexpr int turned[3][4] = {{0, 1, 2, 3}, {0, 2, 3, 1}, {0, 3, 1, 2}};
  int shortest = 0;
  double shortest_length2 = std::numeric_limits<double>::infinity();
  for (int d = 0; d < 3; ++d) {
    const int* c = turned[d];
    const double length2 = distance2(nodes[mid[c[0]][c[1]]], nodes[mid[c[2]][c[3]]]);
    if (length2 < shortest_length2) {
      shortest_length2 = length2;
      shortest = d;
    }
  }
  const int* c = turned[shortest];
  const Index from = mid[c[0]][c[1]];
  const Index to = mid[c[2]][c[3]];
  const Index ring[4] = {mid[c[0]][c[2]], mid[c[0]][c[3]], mid[c[1]][c[3]], mid[c[1]][c[2]]};
  for (int k = 0; k < 4; ++k) *children++ = {from, to, ring[k], ring[(k + 1) % 4]};
}

}  // namespace

double element_volume(const TetMesh& mesh, Index tet) {
  const Tet& t = mesh.tets[tet];
  const Point& origin = mesh.nodes[t[0]];
  double e[3][3];
  for (int corner = 0; corner < 3; ++corner) {
    for (int axis = 0; axis < 3; ++axis) e[corner][axis] = mesh.nodes[t[corner + 1]][axis] - origin[axis];
  }
  return (e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) + e[0][1] * (e[1][2] * e[2][0] - e[1][0] * e[2][2]) +
          e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0])) /
         6;
}

Index first_inverted(const Context<Space::host>& ctx, const TetMesh& mesh) {
  const Index tets = mesh.tet_count();
  const Index first = parallel_reduce(
      ctx, tets, tets,
      [&](Index t, Index& least) {
        if (!(element_volume(mesh, t) > 0)) least = std::min(least, t);
      },
      [](Index& least, Index mine) { least = std::min(least, mine); });
  return first == tets ? -1 : first;
}

NodeTets node_tets(const Context<Space::host>& ctx, const TetMesh& mesh) {
  return detail::node_elements(ctx, mesh.node_count(), mesh.tets);
}

TetMesh refine(const Context<Space::host>& ctx, const TetMesh& mesh, std::vector<std::array<Index, 2>>* parents) {
  const Index old_nodes = mesh.node_count();
  const Index old_tets = mesh.tet_count();
  const Edges edges = find_edges(ctx, mesh);
  const Offset nodes = old_nodes + edges.upper.size();
  constexpr Offset most = std::numeric_limits<Index>::max();
  if (nodes > most || 8 * Offset{old_tets} > most) {
    throw InputError("refining gives " + std::to_string(nodes) + " nodes and " +
                     std::to_string(8 * Offset{old_tets}) + " tetrahedra, which exceeds 32-bit numbers");
  }
  TetMesh fine;
  fine.nodes.resize(static_cast<std::size_t>(nodes));
  fine.tets.resize(8 * mesh.tets.size());
  if (parents != nullptr) parents->resize(static_cast<std::size_t>(nodes));
  parallel_for(ctx, old_nodes, [&](Index i) {
    const Point& low = mesh.nodes[i];
    fine.nodes[i] = low;
    if (parents != nullptr) (*parents)[i] = {i, i};
    for (Offset k = edges.begin[i]; k < edges.begin[i + 1]; ++k) {
      const Point& high = mesh.nodes[edges.upper[k]];
      fine.nodes[old_nodes + k] = {(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, (low[2] + high[2]) / 2};
      if (parents != nullptr) (*parents)[old_nodes + k] = {i, edges.upper[k]};
    }
  });
  parallel_for(ctx, old_tets, [&](Index t) {
    const Tet& tet = mesh.tets[t];
    Index mid[4][4];
    for (int a = 0; a < 4; ++a) {
      for (int b = a + 1; b < 4; ++b) {
        mid[a][b] = mid[b][a] = static_cast<Index>(old_nodes + edges.number(tet[a], tet[b]));
      }
    }
    split(fine.nodes, tet, mid, fine.tets.data() + 8 * std::size_t(t));
  });
  return fine;
}

using detail::cross;
using detail::dot;

TetGeometry tet_geometry(const TetMesh& mesh, Index tet) {
  const Tet& corner = mesh.tets[tet];
  std::array<Point, 3> edge;
  for (int k = 0; k < 3; ++k) {
    for (int axis = 0; axis < 3; ++axis) {
      edge[k][axis] = mesh.nodes[corner[k + 1]][axis] - mesh.nodes[corner[0]][axis];
    }
  }
  TetGeometry g;
  const Point normal = cross(edge[1], edge[2]);
  const double determinant = dot(edge[0], normal);
  const double scale = 1 / determinant;
  g.volume = determinant / 6;
  g.gradient[1] = normal;
  g.gradient[2] = cross(edge[2], edge[0]);
  g.gradient[3] = cross(edge[0], edge[1]);
  for (int axis = 0; axis < 3; ++axis) {
    for (int k = 1; k < 4; ++k) g.gradient[k][axis] *= scale;
    g.gradient[0][axis] = -(g.gradient[1][axis] + g.gradient[2][axis] + g.gradient[3][axis]);
  }
  return g;
}

Point tet_centroid(const TetMesh& mesh, Index tet) {
  Point sum{};
  for (const Index corner : mesh.tets[tet]) {
    for (int axis = 0; axis < 3; ++axis) sum[axis] += mesh.nodes[corner][axis] / 4;
  }
  return sum;
}

}  // namespace newel::fem
