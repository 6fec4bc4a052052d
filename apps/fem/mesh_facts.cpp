// SPDX-License-Identifier: Apache-2.0
// Pieces by union and find of all threads at once, edges by their lower end, angles from the gradients of the
// barycentric coordinates.
#include "apps/fem/mesh_facts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <newel/core/parallel.hpp>

#include "apps/fem/column_numbers.hpp"
#include "apps/fem/geometry.hpp"
#include "apps/fem/surface.hpp"

namespace newel::fem {
namespace {

using detail::cross;
using detail::dot;
using detail::length;
using detail::minus;

constexpr double infinity = std::numeric_limits<double>::infinity();

// Chunks of nodes whose sums are added in order: the bits do not depend on the number of threads.
constexpr Index chunk = 4096;

struct EdgeSum {
  double least = infinity, sum = 0, most = 0;
  std::int64_t count = 0;
};

EdgeSum sum_edges(const TetMesh& mesh, const NodeTets& around, Index first, Index last) {
  EdgeSum result;
  detail::ColumnNumbers upper;
  for (Index i = first; i < last; ++i) {
    upper.restart(i);
    for (Offset k = around.begin[i]; k < around.begin[i + 1]; ++k) {
      for (const Index other : mesh.tets[around.tets[k]]) {
        if (other > i) (void)upper.number(other);
      }
    }
    for (std::size_t k = 1; k < upper.columns().size(); ++k) {
      const double l = length(minus(mesh.nodes[i], mesh.nodes[upper.columns()[k]]));
      result.least = std::min(result.least, l);
      result.most = std::max(result.most, l);
      result.sum += l;
      ++result.count;
    }
  }
  return result;
}

void find_edges(const Context<Space::host>& ctx, const TetMesh& mesh, const NodeTets& around, MeshFacts& facts) {
  const Index chunks = (mesh.node_count() + chunk - 1) / chunk;
  std::vector<EdgeSum> sums(static_cast<std::size_t>(chunks));
  parallel_tasks(ctx, chunks, [&](Index c) {
    sums[c] = sum_edges(mesh, around, c * chunk, std::min(mesh.node_count(), (c + 1) * chunk));
  });
  EdgeSum total;
  for (const EdgeSum& s : sums) {
    total.least = std::min(total.least, s.least);
    total.most = std::max(total.most, s.most);
    total.sum += s.sum;
    total.count += s.count;
  }
  if (total.count == 0) return;
  facts.edge_min = total.least;
  facts.edge_mean = total.sum / static_cast<double>(total.count);
  facts.edge_max = total.most;
}

// The largest and the smallest cosine among the six dihedral angles: the outward normals of two faces that meet
// under the angle a enclose pi - a.
void widen(const TetMesh& mesh, const Tet& tet, double& greatest_cosine, double& least_cosine) {
  constexpr int face[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
  Point normal[4];
  for (int f = 0; f < 4; ++f) {
    const Point& origin = mesh.nodes[tet[face[f][0]]];
    normal[f] = detail::normalised(
        cross(minus(mesh.nodes[tet[face[f][1]]], origin), minus(mesh.nodes[tet[face[f][2]]], origin)));
  }
  for (int a = 0; a < 4; ++a) {
    for (int b = a + 1; b < 4; ++b) {
      const double cosine = -dot(normal[a], normal[b]);
      greatest_cosine = std::max(greatest_cosine, cosine);
      least_cosine = std::min(least_cosine, cosine);
    }
  }
}

struct CosineRange {
  double greatest = -1, least = 1;
};

void find_volumes(const Context<Space::host>& ctx, const TetMesh& mesh, MeshFacts& facts) {
  if (mesh.tets.empty()) return;
  std::vector<double> volumes(mesh.tets.size());
  const CosineRange cosines = parallel_reduce(
      ctx, mesh.tet_count(), CosineRange{},
      [&](Index t, CosineRange& mine) {
        volumes[t] = element_volume(mesh, t);
        widen(mesh, mesh.tets[t], mine.greatest, mine.least);
      },
      [](CosineRange& total, const CosineRange& mine) {
        total.greatest = std::max(total.greatest, mine.greatest);
        total.least = std::min(total.least, mine.least);
      });
  facts.tet_volume_min = infinity;
  for (const double volume : volumes) {  // in order: the bits do not depend on the number of threads
    facts.volume += volume;
    facts.tet_volume_min = std::min(facts.tet_volume_min, volume);
    facts.tet_volume_max = std::max(facts.tet_volume_max, volume);
  }
  const double degrees = 180 / std::acos(-1.0);
  facts.dihedral_min = degrees * std::acos(std::min(1.0, cosines.greatest));
  facts.dihedral_max = degrees * std::acos(std::max(-1.0, cosines.least));
}

// A forest over the nodes whose roots are the lowest nodes of its trees. Threads join trees at once: a root is hung
// under a lower node by compare and swap, so that in the end each tree is a piece, whatever the order.
class Roots {
 public:
  explicit Roots(Index nodes) : above_(static_cast<std::size_t>(nodes)) {
    std::iota(above_.begin(), above_.end(), 0);
  }

  Index of(Index i) {
    for (;;) {
      const Index up = __atomic_load_n(&above_[i], __ATOMIC_RELAXED);
      if (up == i) return i;
      const Index next = __atomic_load_n(&above_[up], __ATOMIC_RELAXED);
      if (next != up) atomic_write(above_[i], next);  // an ancestor, whoever writes
      i = up;
    }
  }
  void join(Index a, Index b) {
    for (;;) {
      a = of(a);
      b = of(b);
      if (a == b) return;
      if (a < b) std::swap(a, b);
      Index root = a;
      if (__atomic_compare_exchange_n(&above_[a], &root, b, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return;
    }
  }

 private:
  std::vector<Index> above_;
};

}  // namespace

double MeshFacts::extent() const { return std::max({high[0] - low[0], high[1] - low[1], high[2] - low[2]}); }

std::vector<Index> component_of_node(const Context<Space::host>& ctx, const TetMesh& mesh) {
  Roots roots(mesh.node_count());
  parallel_for(ctx, mesh.tet_count(), [&](Index t) {
    const Tet& tet = mesh.tets[t];
    for (int corner = 1; corner < 4; ++corner) roots.join(tet[0], tet[corner]);
  });
  std::vector<Index> lowest(mesh.nodes.size());
  parallel_for(ctx, mesh.node_count(), [&](Index i) { lowest[i] = roots.of(i); });
  // A lowest node has its number before others of the piece ask for it.
  std::vector<Index> component(lowest.size());
  Index count = 0;
  for (Index i = 0; i < mesh.node_count(); ++i) {
    component[i] = lowest[i] == i ? count++ : component[lowest[i]];
  }
  return component;
}

MeshFacts mesh_facts(const Context<Space::host>& ctx, const TetMesh& mesh) {
  return mesh_facts(ctx, mesh, node_tets(ctx, mesh));
}

MeshFacts mesh_facts(const Context<Space::host>& ctx, const TetMesh& mesh, const NodeTets& around) {
  MeshFacts facts;
  facts.nodes = mesh.node_count();
  facts.tets = mesh.tet_count();
  if (mesh.nodes.empty()) return facts;
  for (const Index c : component_of_node(ctx, mesh)) {
    if (static_cast<std::size_t>(c) >= facts.component_nodes.size()) facts.component_nodes.resize(c + 1, 0);
    ++facts.component_nodes[c];
  }
  std::sort(facts.component_nodes.begin(), facts.component_nodes.end(), std::greater<>());
  facts.low = facts.high = mesh.nodes[0];
  for (const Point& p : mesh.nodes) {
    for (int axis = 0; axis < 3; ++axis) {
      facts.low[axis] = std::min(facts.low[axis], p[axis]);
      facts.high[axis] = std::max(facts.high[axis], p[axis]);
    }
  }
  find_edges(ctx, mesh, around, facts);
  find_volumes(ctx, mesh, facts);
  return facts;
}

std::string_view name_of(MeshUnit unit) { return unit == MeshUnit::mm ? "mm" : unit == MeshUnit::cm ? "cm" : "m"; }

double metres_of(MeshUnit unit) { return unit == MeshUnit::mm ? 1e-3 : unit == MeshUnit::cm ? 1e-2 : 1.0; }

BodySize body_size(const Context<Space::host>& ctx, const TetMesh& mesh) {
  const NodeTets around = node_tets(ctx, mesh);
  const MeshFacts facts = mesh_facts(ctx, mesh, around);
  BodySize size;
  size.extent = facts.extent();
  size.edge = facts.edge_mean;
  const std::vector<double> areas = boundary_surface(ctx, mesh, around).area;
  const double surface = std::accumulate(areas.begin(), areas.end(), 0.0);
  if (surface > 0) size.wall = 2 * facts.volume / surface;
  return size;
}

MeshUnit guess_unit(const BodySize& size, BodyKind kind) {
  if (kind == BodyKind::part) return size.extent <= 5 ? MeshUnit::m : MeshUnit::mm;
  constexpr double middle[] = {45e-3, 5e-3, 0.8e-3};  // metres: between a rat's heart and a human's
  const double lengths[] = {size.extent, size.wall, size.edge};
  MeshUnit best = MeshUnit::mm;
  double least = infinity;
  for (const MeshUnit unit : {MeshUnit::mm, MeshUnit::cm, MeshUnit::m}) {
    double distance = 0;
    for (int i = 0; i < 3; ++i) {
      const double factors = std::log(lengths[i] * metres_of(unit) / middle[i]);
      distance += factors * factors;
    }
    if (distance >= least) continue;
    least = distance;
    best = unit;
  }
  return best;
}

}  // namespace newel::fem
