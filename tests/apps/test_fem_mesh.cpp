// SPDX-License-Identifier: Apache-2.0
// Generated boxes and their refinement: volumes, conformity, numbering, reproducibility.
#include "tests/catch.hpp"

#include "apps/fem/mesh.hpp"

using namespace newel::fem;

namespace {

const Context<Space::host> ctx(2);

double total_volume(const TetMesh& mesh) {
  double sum = 0;
  for (Index t = 0; t < mesh.tet_count(); ++t) sum += element_volume(mesh, t);
  return sum;
}

double smallest_volume(const TetMesh& mesh) {
  double smallest = element_volume(mesh, 0);
  for (Index t = 1; t < mesh.tet_count(); ++t) smallest = std::min(smallest, element_volume(mesh, t));
  return smallest;
}

// How many tetrahedra have each face, by its sorted corners.
std::map<std::array<Index, 3>, int> faces_of(const TetMesh& mesh) {
  std::map<std::array<Index, 3>, int> faces;
  for (const Tet& tet : mesh.tets) {
    for (int left_out = 0; left_out < 4; ++left_out) {
      std::array<Index, 3> face{};
      int k = 0;
      for (int corner = 0; corner < 4; ++corner) {
        if (corner != left_out) face[k++] = tet[corner];
      }
      std::sort(face.begin(), face.end());
      ++faces[face];
    }
  }
  return faces;
}

std::size_t count_outer_faces(const TetMesh& mesh) {
  std::size_t outer = 0;
  for (const auto& [face, count] : faces_of(mesh)) {
    REQUIRE(count <= 2);
    outer += count == 1 ? 1 : 0;
  }
  return outer;
}

std::set<std::array<Index, 2>> edges_of(const TetMesh& mesh) {
  std::set<std::array<Index, 2>> edges;
  for (const Tet& tet : mesh.tets) {
    for (int a = 0; a < 4; ++a) {
      for (int b = a + 1; b < 4; ++b) edges.insert({std::min(tet[a], tet[b]), std::max(tet[a], tet[b])});
    }
  }
  return edges;
}

// Volume over the cube of the longest edge: 0.118 for the regular tetrahedron, 0 for a flat one.
double worst_shape(const TetMesh& mesh) {
  double worst = 1;
  for (Index t = 0; t < mesh.tet_count(); ++t) {
    double longest = 0;
    for (const Index a : mesh.tets[t]) {
      for (const Index b : mesh.tets[t]) {
        const Point& p = mesh.nodes[a];
        const Point& q = mesh.nodes[b];
        longest = std::max(longest, std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]));
      }
    }
    worst = std::min(worst, element_volume(mesh, t) / (longest * longest * longest));
  }
  return worst;
}

BoxOptions rough(double jitter) {
  BoxOptions options;
  options.jitter = jitter;
  options.renumber = true;
  return options;
}

}  // namespace

TEST_CASE("a cube of n nodes per side has six tetrahedra per cell that fill it", "[fem]") {
  for (const Index n : {2, 3, 9, 10, 18}) {
    for (const bool renumber : {false, true}) {
      BoxOptions options;
      options.renumber = renumber;
      const TetMesh mesh = make_cube(ctx, n, options);
      REQUIRE(mesh.node_count() == n * n * n);
      REQUIRE(mesh.tet_count() == 6 * (n - 1) * (n - 1) * (n - 1));
      const double volume = 1.0 / mesh.tet_count();
      for (Index t = 0; t < mesh.tet_count(); ++t) REQUIRE(element_volume(mesh, t) == Approx(volume));
    }
  }
}

TEST_CASE("generated tetrahedra meet face to face", "[fem]") {
  REQUIRE(count_outer_faces(make_cube(ctx, 10, rough(0.15))) == 6 * 2 * 9 * 9);
  REQUIRE(count_outer_faces(make_beam(ctx, 10, 3, 4, 3, 1, 1)) == 2 * 2 * (9 * 2 + 9 * 3 + 2 * 3));
}

TEST_CASE("jitter moves interior nodes only and keeps every volume positive", "[fem]") {
  const Index n = 21;
  BoxOptions options;
  options.jitter = 0.1666;
  options.seed = 7;
  const TetMesh straight = make_cube(ctx, n);
  const TetMesh mesh = make_cube(ctx, n, options);
  REQUIRE(smallest_volume(mesh) > 0);
  REQUIRE(total_volume(mesh) == Approx(1));
  double largest = 0;
  for (Index i = 0; i < mesh.node_count(); ++i) {
    const Point& from = straight.nodes[i];
    const bool inside = std::all_of(from.begin(), from.end(), [](double x) { return x > 0 && x < 1; });
    for (int axis = 0; axis < 3; ++axis) {
      const double moved = std::fabs(mesh.nodes[i][axis] - from[axis]) * (n - 1);
      if (!inside) REQUIRE(moved == 0);
      REQUIRE(moved <= options.jitter * (1 + 1e-12));
      largest = std::max(largest, moved);
    }
  }
  REQUIRE(largest > 0.99 * options.jitter);
}

TEST_CASE("renumbering permutes the nodes, leaves no grid line and keeps neighbours near", "[fem]") {
  const Index n = 24;
  BoxOptions options;
  options.renumber = true;
  TetMesh plain = make_cube(ctx, n);
  TetMesh mesh = make_cube(ctx, n, options);
  double mean_distance = 0;
  std::size_t followed_by_grid_neighbour = 0;
  const auto edges = edges_of(mesh);
  for (const auto& edge : edges) {
    mean_distance += static_cast<double>(edge[1] - edge[0]) / static_cast<double>(edges.size());
    followed_by_grid_neighbour += edge[1] - edge[0] == 1 ? 1 : 0;
  }
  REQUIRE(followed_by_grid_neighbour < mesh.nodes.size() / 10);
  REQUIRE(mean_distance < mesh.node_count() / 8.0);
  std::sort(plain.nodes.begin(), plain.nodes.end());
  std::sort(mesh.nodes.begin(), mesh.nodes.end());
  REQUIRE(plain.nodes == mesh.nodes);
}

TEST_CASE("the same seed gives the same mesh for any number of threads, another seed another", "[fem]") {
  BoxOptions options = rough(0.15);
  const TetMesh mesh = make_cube(Context<Space::host>(1), 19, options);
  const TetMesh again = make_cube(Context<Space::host>(3), 19, options);
  REQUIRE(mesh.nodes == again.nodes);
  REQUIRE(mesh.tets == again.tets);
  options.seed = 2;
  REQUIRE(mesh.nodes != make_cube(ctx, 19, options).nodes);
}

TEST_CASE("a beam has the lengths asked for", "[fem]") {
  const TetMesh mesh = make_beam(ctx, 8, 3, 5, 7.0, 0.3, 1.1, rough(0.1));
  Point high{};
  for (const Point& p : mesh.nodes) {
    for (int axis = 0; axis < 3; ++axis) {
      REQUIRE(p[axis] >= 0);
      high[axis] = std::max(high[axis], p[axis]);
    }
  }
  REQUIRE(high == Point{7.0, 0.3, 1.1});
  REQUIRE(total_volume(mesh) == Approx(7.0 * 0.3 * 1.1));
}

TEST_CASE("a box without cells, without length or with too much jitter is refused", "[fem]") {
  REQUIRE_THROWS_AS(make_cube(ctx, 1), InputError);
  REQUIRE_THROWS_AS(make_cube(ctx, 712), InputError);
  REQUIRE_THROWS_AS(make_cube(ctx, 1 << 30), InputError);
  REQUIRE_THROWS_AS(make_beam(ctx, 2, 2, 2, 1, 0, 1), InputError);
  REQUIRE_THROWS_AS(make_beam(ctx, 2, 2, 2, 1, std::nan(""), 1), InputError);
  REQUIRE_THROWS_AS(make_cube(ctx, 3, rough(0.17)), InputError);
  REQUIRE_THROWS_AS(make_cube(ctx, 3, rough(-0.1)), InputError);
}

TEST_CASE("refinement cuts each tetrahedron into eight equal volumes that meet face to face", "[fem]") {
  const TetMesh mesh = make_cube(ctx, 5, rough(0.16));
  const auto edges = edges_of(mesh);
  std::vector<std::array<Index, 2>> parents;
  const TetMesh fine = refine(ctx, mesh, &parents);
  REQUIRE(fine.tet_count() == 8 * mesh.tet_count());
  REQUIRE(fine.nodes.size() == mesh.nodes.size() + edges.size());
  for (Index t = 0; t < fine.tet_count(); ++t) {
    REQUIRE(element_volume(fine, t) == Approx(element_volume(mesh, t / 8) / 8));
  }
  REQUIRE(count_outer_faces(fine) == 4 * count_outer_faces(mesh));

  REQUIRE(parents.size() == fine.nodes.size());
  std::set<std::array<Index, 2>> halved;
  for (Index i = 0; i < fine.node_count(); ++i) {
    const auto [low, high] = parents[i];
    if (i < mesh.node_count()) {
      REQUIRE((low == i && high == i));
      REQUIRE(fine.nodes[i] == mesh.nodes[i]);
    } else {
      halved.insert({low, high});
      for (int axis = 0; axis < 3; ++axis) {
        REQUIRE(fine.nodes[i][axis] == Approx((mesh.nodes[low][axis] + mesh.nodes[high][axis]) / 2).margin(1e-15));
      }
    }
  }
  REQUIRE(halved == edges);
  REQUIRE(refine(Context<Space::host>(3), mesh).tets == fine.tets);
}

TEST_CASE("repeated refinement does not flatten tetrahedra", "[fem]") {
  TetMesh mesh;
  mesh.nodes = {{0, 0, 0}, {1, 0, 0}, {0.3, 0.8, 0}, {0.2, 0.3, 0.9}};
  mesh.tets = {{0, 1, 2, 3}};
  mesh = refine(ctx, mesh);
  const double once = worst_shape(mesh);
  for (int level = 0; level < 4; ++level) mesh = refine(ctx, mesh);
  REQUIRE(worst_shape(mesh) > 0.99 * once);
}

TEST_CASE("the first inverted tetrahedron is found", "[fem]") {
  TetMesh mesh = make_cube(ctx, 6);
  REQUIRE(first_inverted(ctx, mesh) == -1);
  std::swap(mesh.tets[400][1], mesh.tets[400][2]);
  std::swap(mesh.tets[77][0], mesh.tets[77][3]);
  REQUIRE(first_inverted(ctx, mesh) == 77);
  mesh.tets[5][0] = mesh.tets[5][1];
  REQUIRE(first_inverted(ctx, mesh) == 5);
}

TEST_CASE("each node knows the tetrahedra around it in ascending order", "[fem]") {
  TetMesh mesh = make_cube(ctx, 7, rough(0));
  mesh.nodes.push_back({5, 5, 5});
  for (const int threads : {1, 2, 5}) {
    const NodeTets around = node_tets(Context<Space::host>(threads), mesh);
    std::vector<std::vector<Index>> expected(mesh.nodes.size());
    for (Index t = 0; t < mesh.tet_count(); ++t) {
      for (const Index node : mesh.tets[t]) expected[node].push_back(t);
    }
    for (Index i = 0; i < mesh.node_count(); ++i) {
      const std::vector<Index> found(around.tets.data() + around.begin[i], around.tets.data() + around.begin[i + 1]);
      REQUIRE(found == expected[i]);
    }
  }
}
