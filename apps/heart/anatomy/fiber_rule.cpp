// SPDX-License-Identifier: Apache-2.0
// Fibres by rule: a harmonic depth between the surfaces, a frame from its gradient, a helix that turns with depth.
#include <algorithm>
#include <cmath>
#include <limits>

#include <newel/config.hpp>
#include <newel/core/error.hpp>
#include <newel/core/parallel.hpp>
#include <newel/solver/linear_system.hpp>

#include "apps/fem/geometry.hpp"
#include "apps/heart/anatomy/fibers.hpp"
#include "apps/heart/anatomy/wall_faces.hpp"

namespace newel::fem {
namespace {

using detail::cross;
using detail::dot;
using detail::minus;
using detail::plus;
using detail::Side;

// Nodes where the depth is given, and its value there.
struct Given {
  std::vector<unsigned char> mask;
  std::vector<double> value;
};

Given given_depth(const TetMesh& mesh, const Surface& surface, const std::vector<Side>& side) {
  std::vector<unsigned char> inner(mesh.nodes.size(), 0), outer(mesh.nodes.size(), 0);
  for (Index f = 0; f < surface.size(); ++f) {
    if (side[f] == Side::insulated) continue;
    for (const Index node : surface.triangles[f]) (side[f] == Side::inner ? inner : outer)[node] = 1;
  }
  Given given{std::vector<unsigned char>(mesh.nodes.size(), 0), std::vector<double>(mesh.nodes.size(), 0)};
  for (std::size_t i = 0; i < mesh.nodes.size(); ++i) {
    given.mask[i] = inner[i] != outer[i] ? 1 : 0;  // where both meet the depth is left to the equation
    given.value[i] = outer[i] != 0 && inner[i] == 0 ? 1 : 0;
  }
  return given;
}

// The matrix of the equation at the nodes that are not given: of a given node's row and column the diagonal alone
// stays. What an assembly with these nodes clamped gives, without computing every element again.
HostCsr without_given(const Context<Space::host>& ctx, const HostCsr& whole,
                      const std::vector<unsigned char>& given) {
  const auto stays = [&](Index i, Index j) { return i == j || (given[i] == 0 && given[j] == 0); };
  HostCsr a;
  a.rows = a.cols = whole.rows;
  a.row_ptr = Array<Offset, Space::host>(ctx, Offset{a.rows} + 1);
  a.row_ptr[0] = 0;
  parallel_for(ctx, a.rows, [&](Index i) {
    Offset count = 0;
    for (Offset k = whole.row_ptr[i]; k < whole.row_ptr[i + 1]; ++k) count += stays(i, whole.col[k]) ? 1 : 0;
    a.row_ptr[i + 1] = count;
  });
  for (Index i = 0; i < a.rows; ++i) a.row_ptr[i + 1] += a.row_ptr[i];
  a.col = Array<Index, Space::host>(ctx, a.row_ptr[a.rows]);
  a.val = Array<double, Space::host>(ctx, a.row_ptr[a.rows]);
  parallel_for(ctx, a.rows, [&](Index i) {
    Offset at = a.row_ptr[i];
    for (Offset k = whole.row_ptr[i]; k < whole.row_ptr[i + 1]; ++k) {
      if (!stays(i, whole.col[k])) continue;
      a.col[at] = whole.col[k];
      a.val[at++] = whole.val[k];
    }
  });
  return a;
}

// x of A x = b, solved in the memory of `ctx`, with what is fastest there. A piece of a body without inner surface
// has no unique depth: CG then returns what it has, and any depth will do.
template <Space S>
std::vector<double> solution(const Context<S>& ctx, const CsrView<double, Space::host>& a,
                             const std::vector<double>& b, double tolerance, int* iterations) {
  SystemOptions options;
  options.solver.name = "cg";
  options.stop.rel_tol = tolerance;
  const Array<double, S> right = make_array(ctx, b);
  Array<double, S> x(ctx, a.rows);
  const auto solve = [&](const auto& matrix) {
    LinearSystem<double, S> system(ctx, matrix, options);
    *iterations = system.solve(right.cspan(), x.span(), {}, InitialGuess::zero).iterations;
  };
  if constexpr (S == Space::host) {
    solve(a);
  } else {
    solve(make_csr(ctx, a));
  }
  return to_vector(ctx, x.cspan());
}

// Solves the Laplace equation with the given values: x = value + w, where w vanishes at the given nodes.
template <Space S>
std::vector<double> harmonic(const Context<Space::host>& ctx, const Context<S>& place, const TetMesh& mesh,
                             const NodeTets& around, const Given& given, double tolerance, int* iterations) {
  HostCsr whole = assemble_diffusion(ctx, mesh, around);
  std::vector<double> b(mesh.nodes.size(), 0);
  parallel_for(ctx, mesh.node_count(), [&](Index i) {
    if (given.mask[i] != 0) return;
    for (Offset k = whole.row_ptr[i]; k < whole.row_ptr[i + 1]; ++k) b[i] -= whole.val[k] * given.value[whole.col[k]];
  });
  const HostCsr matrix = without_given(ctx, whole, given.mask);
  whole = {};
  std::vector<double> w = solution(place, CsrView<double, Space::host>(matrix), b, tolerance, iterations);
  for (std::size_t i = 0; i < w.size(); ++i) w[i] = std::clamp(w[i] + given.value[i], 0.0, 1.0);
  return w;
}

// The gradient on every node: that of the tetrahedra around it, averaged by volume. One on each tetrahedron is too
// rough where walls have few layers.
std::vector<Point> node_gradients(const Context<Space::host>& ctx, const TetMesh& mesh, const NodeTets& around,
                                  const std::vector<double>& x) {
  std::vector<Point> moment(mesh.tets.size());  // gradient times volume
  parallel_for(ctx, mesh.tet_count(), [&](Index t) {
    const Tet& tet = mesh.tets[t];
    const Point& a = mesh.nodes[tet[0]];
    const Point e[3] = {minus(mesh.nodes[tet[1]], a), minus(mesh.nodes[tet[2]], a), minus(mesh.nodes[tet[3]], a)};
    for (int k = 0; k < 3; ++k) {
      moment[t] = plus(moment[t], (x[tet[k + 1]] - x[tet[0]]) / 6, cross(e[(k + 1) % 3], e[(k + 2) % 3]));
    }
  });
  std::vector<Point> gradient(mesh.nodes.size());
  parallel_for(ctx, mesh.node_count(), [&](Index i) {
    for (Offset k = around.begin[i]; k < around.begin[i + 1]; ++k) {
      gradient[i] = plus(gradient[i], 1, moment[around.tets[k]]);
    }
    gradient[i] = detail::normalised(gradient[i]);
  });
  return gradient;
}

// Along the wall, as far up the axis as it goes; where wall and axis are square to each other any way along it.
Point up_the_wall(const Point& outwards, const Point& axis) {
  for (const Point& way : {axis, Point{1, 0, 0}, Point{0, 1, 0}, Point{0, 0, 1}}) {
    const Point up = plus(way, -dot(way, outwards), outwards);
    if (detail::length(up) > 1e-3) return detail::normalised(up);
  }
  return axis;
}

// The sides of a surface's triangles as the surface of the mesh has them that was refined: a triangle lies in that
// face of its tetrahedron's ancestor from whose plane its middle is least far, in heights.
std::vector<Side> inherited_sides(const Context<Space::host>& ctx, const TetMesh& mesh, const Surface& surface,
                                  const TetMesh& first, const Surface& first_surface,
                                  const std::vector<Side>& first_sides) {
  const Index children = mesh.tet_count() / first.tet_count();  // those of a tetrahedron follow each other
  std::vector<Side> sides(surface.triangles.size());
  parallel_for(ctx, surface.size(), [&](Index f) {
    const Index ancestor = surface.tet[f] / children;
    const Tet& tet = first.tets[ancestor];
    const Point middle = centroid(mesh, surface.triangles[f]);
    const auto candidates = std::equal_range(first_surface.tet.begin(), first_surface.tet.end(), ancestor);
    double least = std::numeric_limits<double>::max();
    for (auto at = candidates.first; at != candidates.second; ++at) {
      const auto g = static_cast<std::size_t>(at - first_surface.tet.begin());
      const Triangle& face = first_surface.triangles[g];
      const Point& corner = first.nodes[face[0]];
      double height = 0;  // of the corner opposite the face
      for (const Index node : tet) {
        height = std::max(height, std::fabs(dot(minus(first.nodes[node], corner), first_surface.normal[g])));
      }
      const double distance = std::fabs(dot(minus(middle, corner), first_surface.normal[g])) / height;
      if (distance < least) {
        least = distance;
        sides[f] = first_sides[g];
      }
    }
  });
  return sides;
}

// The surface is classified where it has the fewest triangles: refinement changes neither its shape nor its sides.
detail::WallFaces wall_of(const Context<Space::host>& ctx, const TetMesh& mesh, const Surface& surface,
                          const TetMesh* unrefined) {
  if (unrefined == nullptr) return detail::classify_faces(ctx, mesh, surface);
  const Surface first = boundary_surface(ctx, *unrefined);
  detail::WallFaces wall = detail::classify_faces(ctx, *unrefined, first);
  wall.side = inherited_sides(ctx, mesh, surface, *unrefined, first, wall.side);
  return wall;
}

}  // namespace

RuleFibers make_fibers(const Context<Space::host>& ctx, const TetMesh& mesh, const FiberRule& rule) {
  return make_fibers(ctx, ctx, mesh, node_tets(ctx, mesh), nullptr, rule);
}

template <Space S>
RuleFibers make_fibers(const Context<Space::host>& ctx, const Context<S>& place, const TetMesh& mesh,
                       const NodeTets& around, const TetMesh* unrefined, const FiberRule& rule) {
  if (const Index t = first_inverted(ctx, mesh); t >= 0) {
    throw InputError("tetrahedron " + std::to_string(t) + " (counted from 0) has volume " +
                     std::to_string(element_volume(mesh, t)) + ", expected a positive one");
  }
  const Surface surface = boundary_surface(ctx, mesh, around);
  const detail::WallFaces wall = wall_of(ctx, mesh, surface, unrefined);
  RuleFibers result;
  result.axis = wall.axis;
  result.cavities = wall.cavities;
  result.transmural =
      harmonic(ctx, place, mesh, around, given_depth(mesh, surface, wall.side), rule.tolerance, &result.iterations);
  const std::vector<Point> gradient = node_gradients(ctx, mesh, around, result.transmural);
  result.fibers.resize(mesh.tets.size());
  const double radians = std::acos(-1.0) / 180;
  parallel_for(ctx, mesh.tet_count(), [&](Index t) {
    Point outwards{};
    double depth = 0;
    for (const Index corner : mesh.tets[t]) {
      outwards = plus(outwards, 0.25, gradient[corner]);
      depth += result.transmural[corner] / 4;
    }
    outwards = detail::normalised(outwards);
    const Point up = up_the_wall(outwards, wall.axis);
    // Without a gradient (depth constant around) any direction across `up` is taken.
    Point circling = detail::normalised(cross(up, outwards));
    if (detail::length(circling) == 0) circling = up_the_wall(up, Point{1, 0, 0});
    const double angle = radians * (rule.inner_degrees + depth * (rule.outer_degrees - rule.inner_degrees));
    const Point zero{};
    result.fibers[t] = detail::normalised(plus(plus(zero, std::cos(angle), circling), std::sin(angle), up));
  });
  return result;
}

#define X(S)                                                                                                       \
  template RuleFibers make_fibers(const Context<Space::host>&, const Context<S>&, const TetMesh&, const NodeTets&, \
                                  const TetMesh*, const FiberRule&);
X(Space::host)
#if NEWEL_HAS_CUDA
X(Space::device)
#endif
#undef X

}  // namespace newel::fem
