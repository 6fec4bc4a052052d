// SPDX-License-Identifier: Apache-2.0
// Rays distinguish inner from outer triangles; neighbours decide uncertain ones; connected inner triangles are
// cavities.
#include "apps/heart/anatomy/wall_faces.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <newel/core/parallel.hpp>

#include "apps/fem/geometry.hpp"
#include "apps/heart/anatomy/rays.hpp"
#include "apps/heart/anatomy/surface_neighbours.hpp"

namespace newel::fem::detail {
namespace {

// Rays per triangle: 24 give the share of a hemisphere to about 0.1.
constexpr int rays = 24;
// A triangle is inner where more of its rays than this share meet the body. Half of those from a cavity's rim do,
// nearly all from its bottom; from a convex outside none, from the grooves of a heart up to a quarter.
constexpr double inner_share = 0.35;
// Pieces of inner surface below this share of the whole surface are dents.
constexpr double least_cavity = 0.02;
// Triangles whose normals are within 45 degrees of a direction face it.
const double facing = std::sqrt(0.5);

// Directions above the xy plane, as many per solid angle as the cosine to z says (a sunflower's spiral).
std::array<Point, rays> hemisphere() {
  std::array<Point, rays> directions;
  const double golden_angle = std::acos(-1.0) * (3 - std::sqrt(5.0));
  for (int k = 0; k < rays; ++k) {
    const double r2 = (k + 0.5) / rays;
    directions[k] = {std::sqrt(r2) * std::cos(golden_angle * k), std::sqrt(r2) * std::sin(golden_angle * k),
                     std::sqrt(1 - r2)};
  }
  return directions;
}

// Two directions that complete a third to a frame.
std::array<Point, 2> across(const Point& n) {
  const Point other = std::fabs(n[0]) < 0.5 ? Point{1, 0, 0} : Point{0, 1, 0};
  const Point one = normalised(cross(n, other));
  return {one, cross(n, one)};
}

using Flags = std::vector<unsigned char>;

// A triangle whose three neighbours agree against it joins them, twice over.
void settle(const Neighbours& around, Flags& flags) {
  for (int round = 0; round < 2; ++round) {
    const Flags before = flags;
    for (std::size_t f = 0; f < flags.size(); ++f) {
      int others = 0;
      for (const Index g : around[f]) others += g >= 0 && before[g] != before[f] ? 1 : 0;
      if (others >= 2) flags[f] = before[f] == 0 ? 1 : 0;
    }
  }
}

// Connected triangles among those that are flagged: a number for each, -1 for the others; and the area of each piece.
std::vector<Index> pieces(const Surface& surface, const Neighbours& around, const Flags& flags,
                          std::vector<double>& areas) {
  std::vector<Index> piece(flags.size(), -1);
  std::vector<Index> front;
  for (Index start = 0; start < surface.size(); ++start) {
    if (flags[start] == 0 || piece[start] >= 0) continue;
    const auto number = static_cast<Index>(areas.size());
    areas.push_back(0);
    front.assign(1, start);
    piece[start] = number;
    while (!front.empty()) {
      const Index f = front.back();
      front.pop_back();
      areas[number] += surface.area[f];
      for (const Index g : around[f]) {
        if (g < 0 || flags[g] == 0 || piece[g] >= 0) continue;
        piece[g] = number;
        front.push_back(g);
      }
    }
  }
  return piece;
}

struct Exposure {
  Flags inner;
  std::vector<Point> escape;  // the sum of the directions that meet nothing
};

Exposure find_exposure(const Context<Space::host>& ctx, const TetMesh& mesh, const Surface& surface,
                       const RayCaster& caster) {
  const auto directions = hemisphere();
  Exposure result{Flags(surface.triangles.size(), 0), std::vector<Point>(surface.triangles.size(), Point{})};
  std::vector<std::vector<Point>> of_member(static_cast<std::size_t>(ctx.threads()));
  parallel_blocks(ctx, surface.size(), 64, [&](Index k, int member) {
    const Index f = caster.in_space()[static_cast<std::size_t>(k)];
    const Point origin = centroid(mesh, surface.triangles[f]);
    const auto frame = across(surface.normal[f]);
    std::vector<Point>& turned = of_member[static_cast<std::size_t>(member)];
    turned.clear();
    for (const Point& d : directions) {
      turned.push_back(plus(plus(plus(Point{}, d[0], frame[0]), d[1], frame[1]), d[2], surface.normal[f]));
    }
    const std::uint32_t meeting = caster.which_meet(origin, turned, f);
    int met = 0;
    for (int ray = 0; ray < rays; ++ray) {
      if ((meeting >> ray & 1) != 0) {
        ++met;
      } else {
        result.escape[f] = plus(result.escape[f], 1, turned[static_cast<std::size_t>(ray)]);
      }
    }
    result.inner[f] = met > inner_share * rays ? 1 : 0;
  });
  return result;
}

// The principal axes of the nodes, longest extent first (Jacobi's rotations on the covariance).
std::array<Point, 3> principal_axes(const TetMesh& mesh) {
  Point mean{};
  for (const Point& p : mesh.nodes) mean = plus(mean, 1.0 / mesh.node_count(), p);
  Tensor c{};
  for (const Point& p : mesh.nodes) {
    const Point d = minus(p, mean);
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) c[i][j] += d[i] * d[j];
    }
  }
  std::array<Point, 3> axes{Point{1, 0, 0}, Point{0, 1, 0}, Point{0, 0, 1}};
  for (int sweep = 0; sweep < 30; ++sweep) {
    for (int p = 0; p < 2; ++p) {
      for (int q = p + 1; q < 3; ++q) {
        if (std::fabs(c[p][q]) <= 1e-12 * (c[0][0] + c[1][1] + c[2][2])) continue;
        const double angle = 0.5 * std::atan2(2 * c[p][q], c[q][q] - c[p][p]);
        const double cosine = std::cos(angle), sine = std::sin(angle);
        for (int k = 0; k < 3; ++k) {
          const double kp = c[k][p], kq = c[k][q];
          c[k][p] = cosine * kp - sine * kq;
          c[k][q] = sine * kp + cosine * kq;
        }
        for (int k = 0; k < 3; ++k) {
          const double pk = c[p][k], qk = c[q][k];
          c[p][k] = cosine * pk - sine * qk;
          c[q][k] = sine * pk + cosine * qk;
        }
        const Point one = axes[p], two = axes[q];
        for (int k = 0; k < 3; ++k) {
          axes[p][k] = cosine * one[k] - sine * two[k];
          axes[q][k] = sine * one[k] + cosine * two[k];
        }
      }
    }
  }
  std::array<int, 3> order{0, 1, 2};
  std::sort(order.begin(), order.end(), [&](int a, int b) { return c[a][a] > c[b][b]; });
  return {axes[order[0]], axes[order[1]], axes[order[2]]};
}

// A slab: inner and outer are what faces either way along the shortest extent.
WallFaces classify_slab(const TetMesh& mesh, const Surface& surface) {
  const auto axes = principal_axes(mesh);
  WallFaces wall;
  wall.axis = axes[1];
  wall.side.resize(surface.triangles.size());
  for (Index f = 0; f < surface.size(); ++f) {
    const double along = dot(surface.normal[f], axes[2]);
    wall.side[f] = along < -facing ? Side::inner : along > facing ? Side::outer : Side::insulated;
  }
  return wall;
}

// Outer triangles that face the axis and are connected to a cavity's rim by others that do.
void insulate_base(const Surface& surface, const Neighbours& around, const Flags& inner, WallFaces& wall) {
  const auto faces_base = [&](Index f) { return inner[f] == 0 && dot(surface.normal[f], wall.axis) > facing; };
  std::vector<Index> front;
  const auto reach = [&](Index f) {
    if (!faces_base(f) || wall.side[f] == Side::insulated) return;
    wall.side[f] = Side::insulated;
    front.push_back(f);
  };
  for (Index f = 0; f < surface.size(); ++f) {
    if (inner[f] == 0) continue;
    for (const Index g : around[f]) {
      if (g >= 0) reach(g);
    }
  }
  while (!front.empty()) {
    const Index f = front.back();
    front.pop_back();
    for (const Index g : around[f]) {
      if (g >= 0) reach(g);
    }
  }
}

// With several cavities: what lies behind each inner triangle shows the thickest wall, whose cavity is the left one,
// and the septum, where other cavities' triangles have the left one behind them.
void find_septum(const Context<Space::host>& ctx, const TetMesh& mesh, const Surface& surface,
                 const RayCaster& caster, const Neighbours& around, const std::vector<Index>& cavity, int cavities,
                 WallFaces& wall) {
  std::vector<RayCaster::Hit> behind(surface.triangles.size());
  parallel_blocks(ctx, surface.size(), 64, [&](Index k) {
    const Index f = caster.in_space()[static_cast<std::size_t>(k)];
    if (cavity[f] < 0) return;
    const Point inwards = plus(Point{}, -1, surface.normal[f]);
    behind[f] = caster.first_hit(centroid(mesh, surface.triangles[f]), inwards, f);
  });
  std::vector<double> area(cavities, 0), thickness(cavities, 0);
  for (Index f = 0; f < surface.size(); ++f) {
    if (cavity[f] < 0 || behind[f].face < 0 || cavity[behind[f].face] >= 0) continue;
    area[cavity[f]] += surface.area[f];
    thickness[cavity[f]] += surface.area[f] * behind[f].distance;
  }
  int left = 0;
  for (int c = 0; c < cavities; ++c) {
    thickness[c] = area[c] > 0 ? thickness[c] / area[c] : 0;
    if (thickness[c] > thickness[left]) left = c;
  }
  Flags septal(surface.triangles.size(), 0);
  for (Index f = 0; f < surface.size(); ++f) {
    const bool other = cavity[f] >= 0 && cavity[f] != left;
    septal[f] = other && behind[f].face >= 0 && cavity[behind[f].face] == left ? 1 : 0;
  }
  settle(around, septal);
  for (Index f = 0; f < surface.size(); ++f) {
    if (septal[f] != 0 && cavity[f] >= 0 && cavity[f] != left) wall.side[f] = Side::outer;
  }
}

}  // namespace

WallFaces classify_faces(const Context<Space::host>& ctx, const TetMesh& mesh, const Surface& surface) {
  const RayCaster caster(ctx, mesh, surface);
  const Neighbours around = neighbours(ctx, mesh, surface);
  Exposure seen = find_exposure(ctx, mesh, surface, caster);
  settle(around, seen.inner);

  std::vector<double> areas;
  std::vector<Index> piece = pieces(surface, around, seen.inner, areas);
  const double whole = std::accumulate(surface.area.begin(), surface.area.end(), 0.0);
  std::vector<int> cavity_of_piece(areas.size(), -1);
  int cavities = 0;
  for (std::size_t k = 0; k < areas.size(); ++k) {
    if (areas[k] >= least_cavity * whole) cavity_of_piece[k] = cavities++;
  }
  if (cavities == 0) return classify_slab(mesh, surface);

  WallFaces wall;
  wall.cavities = cavities;
  wall.side.assign(surface.triangles.size(), Side::outer);
  Point way_out{};
  double inner_area = 0;
  for (Index f = 0; f < surface.size(); ++f) {
    piece[f] = piece[f] < 0 ? -1 : cavity_of_piece[piece[f]];
    seen.inner[f] = piece[f] >= 0 ? 1 : 0;
    if (piece[f] < 0) continue;
    wall.side[f] = Side::inner;
    way_out = plus(way_out, surface.area[f] / rays, seen.escape[f]);
    inner_area += surface.area[f];
  }
  // A hundredth: rays that leave through cracks, or evenly to all sides, say nothing.
  wall.axis = length(way_out) > 0.01 * inner_area ? normalised(way_out) : principal_axes(mesh)[0];
  insulate_base(surface, around, seen.inner, wall);
  if (cavities > 1) find_septum(ctx, mesh, surface, caster, around, piece, cavities, wall);
  return wall;
}

}  // namespace newel::fem::detail
