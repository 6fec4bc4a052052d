// SPDX-License-Identifier: Apache-2.0
// Rays against the surface of a cube, which is met where the ray passes between its three pairs of planes.
#include "tests/catch.hpp"

#include "apps/fem/surface.hpp"
#include "apps/heart/anatomy/rays.hpp"
#include "apps/heart/anatomy/surface_neighbours.hpp"

using namespace newel::fem;
using newel::fem::detail::RayCaster;

namespace {

// Whether the ray passes the cube of side 1 at the origin, away from its edges by more than rounding.
bool meets_cube(const Point& origin, const Point& direction) {
  double enter = 0, leave = 1e300;
  for (int axis = 0; axis < 3; ++axis) {
    if (direction[axis] == 0) {
      if (origin[axis] < 0 || origin[axis] > 1) return false;
      continue;
    }
    const double one = -origin[axis] / direction[axis], two = (1 - origin[axis]) / direction[axis];
    enter = std::max(enter, std::min(one, two));
    leave = std::min(leave, std::max(one, two));
  }
  return enter < leave;
}

Point point(testing::Random& random, double size) {
  return {size * random.value(), size * random.value(), size * random.value()};
}

}  // namespace

TEST_CASE("Rays from one origin meet a cube as each of them alone would", "[heart][rays]") {
  const Context<Space::host> ctx(1);
  const TetMesh cube = make_cube(ctx, 7);
  const Surface surface = boundary_surface(ctx, cube);
  const RayCaster caster(ctx, cube, surface);
  testing::Random random(1);
  int met = 0, missed = 0;
  for (const std::size_t count : {1, 2, 23, 24, 31, 32}) {
    for (int k = 0; k < 100; ++k) {
      const Point origin = point(random, 2);
      std::vector<Point> directions(count);
      for (Point& d : directions) d = point(random, 1);
      const std::uint32_t meeting = caster.which_meet(origin, directions, -1);
      for (std::size_t ray = 0; ray < count; ++ray) {
        const bool expected = meets_cube(origin, directions[ray]);
        CHECK((meeting >> ray & 1) == (expected ? 1u : 0u));
        CHECK((caster.first_hit(origin, directions[ray], -1).face >= 0) == expected);
        ++(expected ? met : missed);
      }
      CHECK(std::uint64_t{meeting} >> count == 0);
    }
  }
  CHECK(met > 500);
  CHECK(missed > 1000);
}

TEST_CASE("Rays along the axes and from a triangle of the surface find what lies on their side", "[heart][rays]") {
  const Context<Space::host> ctx(1);
  const TetMesh cube = make_cube(ctx, 4);
  const Surface surface = boundary_surface(ctx, cube);
  const RayCaster caster(ctx, cube, surface);
  const std::vector<Point> axes = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
  CHECK(caster.which_meet({0.41, 0.52, 0.33}, axes, -1) == 63);
  CHECK(caster.which_meet({-1, 0.52, 0.33}, axes, -1) == 1);
  CHECK(caster.which_meet({0.41, 0.52, 1.5}, axes, -1) == 32);
  CHECK(caster.which_meet({2, 2, 2}, axes, -1) == 0);
  for (Index f = 0; f < surface.size(); ++f) {
    const Point& n = surface.normal[f];
    CHECK(caster.which_meet(centroid(cube, surface.triangles[f]), {n, {-n[0], -n[1], -n[2]}}, f) == 2);
  }
}

TEST_CASE("the tree over a surface is the same for any number of threads", "[heart][rays]") {
  BoxOptions rough;
  rough.jitter = 0.15;
  const TetMesh cube = make_cube(Context<Space::host>(1), 20, rough);  // 4332 triangles
  const Surface surface = boundary_surface(Context<Space::host>(1), cube);
  const RayCaster one(Context<Space::host>(1), cube, surface), five(Context<Space::host>(5), cube, surface);
  REQUIRE(one.in_space() == five.in_space());
  testing::Random random(5);
  int met = 0;
  for (int k = 0; k < 500; ++k) {
    const Point origin = point(random, 2), direction = point(random, 1);
    const RayCaster::Hit hit = one.first_hit(origin, direction, -1), same = five.first_hit(origin, direction, -1);
    CHECK(hit.face == same.face);
    if (hit.face < 0) continue;
    CHECK(hit.distance == same.distance);
    ++met;
  }
  CHECK(met > 20);
}

TEST_CASE("each triangle of a closed surface has a neighbour across each side, and that has it", "[heart][rays]") {
  BoxOptions rough;
  rough.renumber = true;
  const Context<Space::host> one(1), five(5);
  TetMesh cube = make_cube(one, 9, rough);
  const Surface surface = boundary_surface(one, cube);
  const fem::detail::Neighbours around = fem::detail::neighbours(five, cube, surface);
  CHECK(around == fem::detail::neighbours(one, cube, surface));
  const auto side = [&](Index f, int corner) {
    const Index a = surface.triangles[f][(corner + 1) % 3], b = surface.triangles[f][(corner + 2) % 3];
    return std::make_pair(std::min(a, b), std::max(a, b));
  };
  for (Index f = 0; f < surface.size(); ++f) {
    for (int corner = 0; corner < 3; ++corner) {
      const Index g = around[f][corner];
      REQUIRE(g >= 0);
      REQUIRE(g != f);
      int shared = 0;
      for (int other = 0; other < 3; ++other) {
        if (around[g][other] == f && side(g, other) == side(f, corner)) ++shared;
      }
      CHECK(shared == 1);
    }
  }
  // A surface with a hole: the sides around it have none.
  Surface open = surface;
  open.triangles.pop_back();
  const fem::detail::Neighbours rim = fem::detail::neighbours(five, cube, open);
  int missing = 0;
  for (const std::array<Index, 3>& across : rim)
    missing += static_cast<int>(std::count(across.begin(), across.end(), -1));
  CHECK(missing == 3);
}
