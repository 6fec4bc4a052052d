// SPDX-License-Identifier: Apache-2.0
// The surface of a mesh and the integrals over it, against areas and polynomials done by hand.
#include "tests/catch.hpp"

#include "apps/fem/surface.hpp"
#include "tests/apps/fem_test_tools.hpp"

using namespace newel::fem;

namespace {

double sum_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return sum;
}

double one(Index, const Point&, const Point&) { return 1; }

// 1 on the face z = 1 of the unit cube.
double top(Index, const Point& at, const Point&) { return at[2] > 1 - 1e-12 ? 1 : 0; }

}  // namespace

TEST_ON_HOST("one tetrahedron is bounded by its four faces, seen from outside", "[fem][surface]") {
  const TetMesh tet{{{0, 0, 0}, {2, 0, 0}, {0, 2, 0}, {0, 0, 2}}, {{0, 1, 2, 3}}};
  const Surface surface = boundary_surface(ctx, tet);
  REQUIRE(surface.size() == 4);
  const double slant = 1 / std::sqrt(3.0);
  const std::vector<Point> normals{{slant, slant, slant}, {-1, 0, 0}, {0, -1, 0}, {0, 0, -1}};
  for (int f = 0; f < 4; ++f) {
    REQUIRE(surface.tet[f] == 0);
    REQUIRE(surface.area[f] == Approx(f == 0 ? 2 * std::sqrt(3.0) : 2));
    for (int axis = 0; axis < 3; ++axis) REQUIRE(surface.normal[f][axis] == Approx(normals[f][axis]));
  }
}

TEST_ON_HOST("a cube's surface is closed, has area 6 and points outwards", "[fem][surface]") {
  const TetMesh cube = rough_cube(ctx, 6);
  const Surface surface = boundary_surface(ctx, cube);
  REQUIRE(surface.size() == 6 * 2 * 5 * 5);
  REQUIRE(sum_of(surface.area) == Approx(6).epsilon(1e-13));
  double volume = 0;  // the divergence theorem for the field x / 3
  for (Index f = 0; f < surface.size(); ++f) {
    const Point middle = centroid(cube, surface.triangles[f]);
    for (int axis = 0; axis < 3; ++axis) volume += surface.area[f] * surface.normal[f][axis] * middle[axis] / 3;
    for (const Index node : surface.triangles[f]) REQUIRE(on_cube_surface(cube.nodes[node]));
  }
  REQUIRE(volume == Approx(1).epsilon(1e-13));
}

TEST_ON_HOST("a face with three tetrahedra is refused", "[fem][surface]") {
  const TetMesh fan{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}, {0.2, 0.2, 0.5}},
                    {{0, 1, 2, 3}, {0, 1, 2, 4}, {0, 1, 2, 5}}};
  REQUIRE_THROWS_AS(boundary_surface(ctx, fan), InputError);
}

TEST_ON_HOST("a surface mass integrates products of linear functions exactly", "[fem][surface]") {
  const TetMesh cube = rough_cube(ctx, 5);
  const Surface surface = boundary_surface(ctx, cube);
  fem::HostCsr a = assemble_mass(ctx, cube);
  for (Offset k = 0; k < a.nnz(); ++k) a.val[k] = 0;
  add_surface_mass(ctx, cube, surface, top, a);
  REQUIRE(symmetric_bit_for_bit(a));
  const EigenMatrix m = to_eigen(a);
  Eigen::VectorXd u(cube.node_count()), v(cube.node_count());
  for (Index i = 0; i < cube.node_count(); ++i) {
    const Point& p = cube.nodes[i];
    u[i] = 1 + p[0] + 2 * p[1];
    v[i] = 2 - p[0] + p[2];
  }
  // The integral of (1 + x + 2y)(3 - x) over the unit square: 3 + 3/2 + 3 - 1/2 - 1/3 - 1/2.
  REQUIRE(v.dot(m * u) == Approx(3 + 1.5 + 3 - 0.5 - 1.0 / 3 - 0.5).epsilon(1e-12));
}

TEST_ON_HOST("a surface load integrates linear functions, and is the mass times ones", "[fem][surface]") {
  const TetMesh cube = rough_cube(ctx, 5);
  const Surface surface = boundary_surface(ctx, cube);
  const auto field = [](Index, const Point& at, const Point& normal) {
    return 1 + at[0] + (normal[1] > 0.5 ? 3 : 0);
  };
  const Eigen::VectorXd load = to_eigen(assemble_surface_load(ctx, cube, surface, field));
  fem::HostCsr a = assemble_mass(ctx, cube);
  for (Offset k = 0; k < a.nnz(); ++k) a.val[k] = 0;
  add_surface_mass(ctx, cube, surface, field, a);
  const Eigen::VectorXd lumped = to_eigen(a) * Eigen::VectorXd::Ones(cube.node_count());
  REQUIRE((load - lumped).lpNorm<Eigen::Infinity>() < 1e-15);
  // Over the six faces of the cube: the integral of 1 + x is 9, that of 3 on one face 3.
  REQUIRE(load.sum() == Approx(12).epsilon(1e-12));
}

TEST_CASE("convection on one face of a rod gives the profile on paper", "[fem][surface]") {
  // -u'' = 0, u = 0 at z = 0, -u' = h (u - 1) at z = 1: u = h z / (1 + h), which P1 holds exactly.
  const Context<Space::host> ctx;
  const TetMesh cube = rough_cube(ctx, 5);
  const Surface surface = boundary_surface(ctx, cube);
  const double h = 3;
  const auto convection = [&](Index f, const Point& at, const Point& n) { return h * top(f, at, n); };
  fem::HostCsr a = assemble_diffusion(ctx, cube);
  add_surface_mass(ctx, cube, surface, convection, a);
  const Eigen::VectorXd load = to_eigen(assemble_surface_load(ctx, cube, surface, convection));
  Eigen::VectorXd u(cube.node_count());
  for (Index i = 0; i < cube.node_count(); ++i) u[i] = h / (1 + h) * cube.nodes[i][2];
  const Eigen::VectorXd residual = load - to_eigen(a) * u;
  for (Index i = 0; i < cube.node_count(); ++i) {
    if (cube.nodes[i][2] > 0) REQUIRE(std::fabs(residual[i]) < 1e-13);
  }
}

TEST_CASE("surface integrals have the same bits for any number of threads", "[fem][surface]") {
  const TetMesh cube = rough_cube(Context<Space::host>(1), 7);
  const auto run = [&](int threads) {
    const Context<Space::host> ctx(threads);
    const Surface surface = boundary_surface(ctx, cube);
    fem::HostCsr a = assemble_mass(ctx, cube);
    add_surface_mass(ctx, cube, surface, one, a);
    return std::make_pair(std::move(a), assemble_surface_load(ctx, cube, surface, one));
  };
  const auto alone = run(1);
  const auto three = run(3);
  REQUIRE(same_bits(alone.first, three.first));
  REQUIRE(same_bits(alone.second, three.second));
}

TEST_ON_HOST("a matrix of another pattern is refused", "[fem][surface]") {
  const TetMesh cube = make_cube(ctx, 4);
  const Surface surface = boundary_surface(ctx, cube);
  DiffusionOptions options;
  options.clamped = [](Index, const Point& at) { return at[2] == 0; };
  fem::HostCsr a = assemble_diffusion(ctx, cube, options);
  REQUIRE_THROWS_AS(add_surface_mass(ctx, cube, surface, one, a), InputError);
  fem::HostCsr other = assemble_mass(ctx, make_cube(ctx, 3));
  REQUIRE_THROWS_AS(add_surface_mass(ctx, cube, surface, one, other), InputError);
}

TEST_CASE("the surface is the same with the tetrahedra around the nodes at hand and for any number of threads",
          "[fem][surface]") {
  BoxOptions rough;
  rough.jitter = 0.15;
  rough.renumber = true;
  const TetMesh cube = make_cube(Context<Space::host>(1), 12, rough);
  const Surface whole = boundary_surface(Context<Space::host>(1), cube);
  REQUIRE(whole.size() == 6 * 2 * 11 * 11);
  const Context<Space::host> five(5);
  const Surface handed = boundary_surface(five, cube, node_tets(five, cube));
  REQUIRE(handed.triangles == whole.triangles);
  REQUIRE(handed.tet == whole.tet);
  REQUIRE(handed.area == whole.area);
}
