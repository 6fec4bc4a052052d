// SPDX-License-Identifier: Apache-2.0
// Fibres from files and by rule, against directions that are known.
#include "tests/catch.hpp"

#include "apps/heart/anatomy/fibers.hpp"
#include "apps/heart/anatomy/ventricle.hpp"

using namespace newel::fem;

namespace {

const double degrees = 180 / std::acos(-1.0);

// Between two directions of length 1, whose signs mean nothing.
double angle(const Point& a, const Point& b) {
  return degrees * std::acos(std::min(1.0, std::fabs(a[0] * b[0] + a[1] * b[1] + a[2] * b[2])));
}

// The angles between two fields, ascending.
std::vector<double> angles(const std::vector<Point>& a, const std::vector<Point>& b) {
  REQUIRE(a.size() == b.size());
  std::vector<double> result;
  for (std::size_t t = 0; t < a.size(); ++t) result.push_back(angle(a[t], b[t]));
  std::sort(result.begin(), result.end());
  return result;
}

double quantile(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

// Two tetrahedra, read from a file whose third node of six belongs to none.
MeshFile two_tets(const TemporaryFolder& folder) {
  return read_mesh(
      folder.write("two.mesh",
                   "MeshVersionFormatted 2\nDimension 3\nVertices\n6\n0 0 0 0\n1 0 0 0\n9 9 9 0\n0 1 0 0\n0 0 1 0\n"
                   "1 1 1 0\nTetrahedra\n2\n1 2 4 5 0\n2 6 4 5 0\nEnd\n"));
}

std::string complaint(const Context<Space::host>& ctx, const std::string& path, const MeshFile& file) {
  try {
    read_fibers(ctx, path, file);
  } catch (const InputError& error) {
    const std::string message = error.what();
    REQUIRE(message.rfind(path, 0) == 0);
    return message.substr(path.size());
  }
  return "accepted";
}

}  // namespace

TEST_ON_HOST("vectors on nodes are averaged as directions without signs", "[fem][fibers]") {
  const TetMesh tet{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {{0, 1, 2, 3}}};
  const auto fiber = [&](const std::vector<Point>& at_nodes) { return fibers_from_nodes(ctx, tet, at_nodes)[0]; };
  REQUIRE(angle(fiber({{5, 0, 0}, {-1, 0, 0}, {2, 0, 0}, {-3, 0, 0}}), {1, 0, 0}) < 1e-6);
  // Lengths do not count: twice x, twice y.
  REQUIRE(angle(fiber({{5, 0, 0}, {1, 0, 0}, {0, 2, 0}, {0, 9, 0}}), {std::sqrt(0.5), std::sqrt(0.5), 0}) < 1e-6);
  REQUIRE(angle(fiber({{0, 0, 0}, {0, 0, 4}, {0, 0, 0}, {0, 0, 0}}), {0, 0, 1}) < 1e-6);
  REQUIRE(fiber({{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}}) == Point{0, 0, 0});
  REQUIRE_THROWS_AS(fibers_from_nodes(ctx, tet, {{1, 0, 0}}), InputError);
}

TEST_ON_HOST("a file of columns falls on nodes or tetrahedra by its count", "[fem][fibers]") {
  const TemporaryFolder folder;
  const MeshFile file = two_tets(folder);
  REQUIRE(file.dropped_nodes() == 1);
  const auto by_tets = read_fibers(ctx, folder.write("tets.txt", "# x y z\n0 0 2\n\n0 -3 0 # second\n"), file);
  REQUIRE(by_tets == std::vector<Point>{{0, 0, 1}, {0, -1, 0}});
  // The unused node's vector is passed over.
  const auto by_nodes =
      read_fibers(ctx, folder.write("nodes.txt", "0 0 1\n0 0 1\n7 7 7\n0 0 1\n0 0 1\n0 0 1\n"), file);
  REQUIRE(by_nodes == std::vector<Point>{{0, 0, 1}, {0, 0, 1}});
  const auto with_zeros = read_fibers(ctx, folder.write("zero.txt", "0 0 0\n1 0 0\n"), file);
  REQUIRE(count_zero(with_zeros) == 1);
}

TEST_ON_HOST("fibres that do not fit are refused with the place and the count", "[fem][fibers]") {
  const TemporaryFolder folder;
  const MeshFile file = two_tets(folder);
  const auto complaint_of = [&](const std::string& text) {
    return complaint(ctx, folder.write("f.txt", text), file);
  };
  REQUIRE(complaint_of("0 0 1\n0 0 1\n0 0 1\n") ==
          ": expected a vector for each of 6 nodes or 2 tetrahedra, found 3");
  REQUIRE(complaint_of("0 0 1\n0 x 1\n") == ":2: expected a component, found 'x'");
  REQUIRE(complaint_of("0 0 1\n0 nan 1\n") == ":2: expected a finite component, found 'nan or inf'");
  REQUIRE(complaint_of("0 0 1 4\n0 0 1\n") == ":1: expected three numbers a line, found '4'");
  REQUIRE(complaint_of("0 0 1\n0 0") == ":2: expected a component, found the end of the file");
  REQUIRE(complaint_of("") == ": expected three numbers a line, found none");
  REQUIRE_THROWS_AS(read_fibers(ctx, folder.file("none.txt"), file), InputError);
}

TEST_ON_HOST("a mesh file's vectors are fibres, its own or another's", "[fem][fibers]") {
  const TemporaryFolder folder;
  const MeshFile plain = two_tets(folder);
  REQUIRE(fibers_from_mesh_file(ctx, plain).empty());
  const std::string points =
      "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 6 double\n"
      "0 0 0 1 0 0 9 9 9 0 1 0 0 0 1 1 1 1\nCELLS 2 10\n4 0 1 3 4\n4 1 5 3 4\nCELL_TYPES 2\n10 10\n";
  const std::string path = folder.write("f.vtk", points + "CELL_DATA 2\nVECTORS f double\n0 0 2\n3 0 0\n");
  REQUIRE(read_fibers(ctx, path, plain) == std::vector<Point>{{0, 0, 1}, {1, 0, 0}});
  REQUIRE(fibers_from_mesh_file(ctx, read_mesh(path)) == std::vector<Point>{{0, 0, 1}, {1, 0, 0}});
  REQUIRE(complaint(ctx, folder.write("bare.vtk", points), plain) ==
          ": expected vectors on nodes or tetrahedra, found none");
}

TEST_CASE("fibres are inherited by the children of a refinement", "[fem][fibers]") {
  const std::vector<Point> fine = refine_fibers({{1, 0, 0}, {0, 1, 0}});
  REQUIRE(fine.size() == 16);
  for (int t = 0; t < 16; ++t) REQUIRE(fine[t] == (t < 8 ? Point{1, 0, 0} : Point{0, 1, 0}));
}

TEST_ON_HOST("rule-based fibres of a ventricle are near those in closed form", "[fem][fibers]") {
  const Ventricle ventricle = make_ventricle(ctx, 5000);
  const RuleFibers rule = make_fibers(ctx, ventricle.mesh);
  REQUIRE(rule.cavities == 1);
  REQUIRE(angle(rule.axis, {0, 0, 1}) < 2);
  const auto differences = angles(rule.fibers, ventricle.fibers);
  REQUIRE(quantile(differences, 0.5) < 6);
  REQUIRE(quantile(differences, 0.9) < 10);
  for (Index i = 0; i < ventricle.mesh.node_count(); ++i) {
    const bool on_rim = (ventricle.sides[i] & on_base) != 0;
    if ((ventricle.sides[i] & on_inner) != 0 && !on_rim) REQUIRE(rule.transmural[i] == 0);
    if ((ventricle.sides[i] & on_outer) != 0 && !on_rim) REQUIRE(rule.transmural[i] == 1);
  }
}

TEST_ON_HOST("rule-based fibres turn with the body", "[fem][fibers]") {
  Ventricle ventricle = make_ventricle(ctx, 2000);
  const RuleFibers upright = make_fibers(ctx, ventricle.mesh);
  const double s = std::sin(0.8), c = std::cos(0.8);
  const auto turn = [&](const Point& p) { return Point{p[0], c * p[1] - s * p[2], s * p[1] + c * p[2]}; };
  for (Point& p : ventricle.mesh.nodes) p = turn(p);
  const RuleFibers turned = make_fibers(ctx, ventricle.mesh);
  std::vector<Point> expected;
  for (const Point& f : upright.fibers) expected.push_back(turn(f));
  const auto differences = angles(turned.fibers, expected);
  REQUIRE(quantile(differences, 0.95) < 3);  // rays start from other directions, so the axis moves a little
}

TEST_ON_HOST("a slab's fibres turn through its thickness around its longest side", "[fem][fibers]") {
  const TetMesh slab = make_beam(ctx, 9, 21, 41, 3, 7, 20);
  const RuleFibers rule = make_fibers(ctx, slab);
  REQUIRE(rule.cavities == 0);
  for (Index i = 0; i < slab.node_count(); ++i) {
    // Depth is linear in x; which face is inner is left to the rule.
    const double share = slab.nodes[i][0] / 3;
    REQUIRE(std::min(std::fabs(rule.transmural[i] - share), std::fabs(rule.transmural[i] - 1 + share)) < 1e-5);
  }
  for (Index t = 0; t < slab.tet_count(); ++t) {
    double depth = 0;
    for (const Index corner : slab.tets[t]) depth += rule.transmural[corner] / 4;
    REQUIRE(std::fabs(rule.fibers[t][0]) < 1e-4);
    REQUIRE(angle(rule.fibers[t], {0, 0, 1}) == Approx(std::fabs(60 - 120 * depth)).margin(0.01));
  }
}

TEST_ON_HOST("the surfaces of a refined body are those of the body that it was refined from", "[fem][fibers]") {
  const int times = GENERATE(1, 2);
  const Ventricle ventricle = make_ventricle(ctx, 1500);
  TetMesh fine = ventricle.mesh;
  for (int k = 0; k < times; ++k) fine = refine(ctx, fine);
  const NodeTets around = node_tets(ctx, fine);
  const RuleFibers coarse = make_fibers(ctx, ventricle.mesh);
  const RuleFibers inherited = make_fibers(ctx, ctx, fine, around, &ventricle.mesh);
  REQUIRE(inherited.cavities == 1);
  REQUIRE(inherited.axis == coarse.axis);
  // A corner of an inner triangle is one of its children too, and nothing else is exactly 0 or 1.
  for (Index i = 0; i < ventricle.mesh.node_count(); ++i) {
    REQUIRE((inherited.transmural[i] == 0) == (coarse.transmural[i] == 0));
    REQUIRE((inherited.transmural[i] == 1) == (coarse.transmural[i] == 1));
  }
  // Rays from the small triangles see the same.
  const RuleFibers seen = make_fibers(ctx, ctx, fine, around);
  Index differ = 0;
  for (Index i = 0; i < fine.node_count(); ++i) {
    differ += std::fabs(inherited.transmural[i] - seen.transmural[i]) < 1e-3 ? 0 : 1;
  }
  REQUIRE(differ < fine.node_count() / 50);
}

TEST_ON_HOST("helices are right-handed within and left-handed without, whatever the axis' sign", "[fem][fibers]") {
  for (const double flip : {1.0, -1.0}) {
    Ventricle ventricle = make_ventricle(ctx, 3000);
    for (Point& p : ventricle.mesh.nodes) p = {p[0], flip * p[1], flip * p[2]};  // half a turn about x
    const RuleFibers rule = make_fibers(ctx, ventricle.mesh);
    for (Index t = 0; t < ventricle.mesh.tet_count(); ++t) {
      Point at{};
      double depth = 0;
      for (const Index corner : ventricle.mesh.tets[t]) {
        for (int k = 0; k < 3; ++k) at[k] += ventricle.mesh.nodes[corner][k] / 4;
        depth += rule.transmural[corner] / 4;
      }
      const Point& f = rule.fibers[t];
      // Moving counterclockwise seen from +z, a right-handed helix rises.
      const double around = -at[1] * f[0] + at[0] * f[1];
      if (depth < 0.25 && std::fabs(at[2]) < 5) REQUIRE(around * f[2] > 0);
      if (depth > 0.75 && std::fabs(at[2]) < 5) REQUIRE(around * f[2] < 0);
    }
  }
}

TEST_CASE("fibres that came with real hearts are met by the rule, where the data is there", "[fem][fibers][data]") {
  if (newel::testing::skipped_without_data()) return;
  const std::string folder = newel::testing::data_folder();
  const Context<Space::host> ctx;
  const MeshFile file = read_mesh(folder + "/meshes/heart_biVentMedium.mesh.gz");
  const auto given = read_fibers(ctx, folder + "/meshes/heart_biVentMedium.fibers.txt.gz", file);
  REQUIRE(count_zero(given) == 0);
  const RuleFibers rule = make_fibers(ctx, file.mesh);
  REQUIRE(rule.cavities == 2);
  const auto differences = angles(rule.fibers, given);
  REQUIRE(quantile(differences, 0.5) < 2);
  REQUIRE(quantile(differences, 0.9) < 10);
}
