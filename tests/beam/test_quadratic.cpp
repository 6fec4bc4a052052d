// SPDX-License-Identifier: Apache-2.0
// Quadratic tetrahedra: midpoints, and energies of fields that they represent exactly.
#include "tests/beam/beam_support.hpp"

using namespace newel::beam;

namespace {

const Material steel{206e9, 0.3, 7850};

struct Rough {
  QuadraticMesh mesh;
  ElasticBody body;
};

const Rough& rough() {
  static const Rough made = [] {
    const Context<Space::host> ctx(2);
    Rough r;
    r.mesh = make_quadratic(ctx, rough_cube(ctx, 4));
    r.body = assemble_body(ctx, r.mesh, steel, std::vector<unsigned char>(r.mesh.nodes.size(), 0));
    return r;
  }();
  return made;
}

template <class Field>
Eigen::VectorXd nodal(const QuadraticMesh& mesh, const Field& field) {
  Eigen::VectorXd u(3 * mesh.node_count());
  for (Index i = 0; i < mesh.node_count(); ++i) {
    const fem::Point value = field(mesh.nodes[static_cast<std::size_t>(i)]);
    for (int axis = 0; axis < 3; ++axis) u[3 * i + axis] = value[static_cast<std::size_t>(axis)];
  }
  return u;
}

}  // namespace

TEST_CASE("nodes 4 to 9 of a quadratic tetrahedron halve its edges, each edge has one", "[beam]") {
  const QuadraticMesh& mesh = rough().mesh;
  constexpr int ends[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
  std::map<std::pair<Index, Index>, Index> middle_of;
  for (const QuadraticTet& tet : mesh.tets) {
    for (std::size_t e = 0; e < 6; ++e) {
      const Index a = tet[static_cast<std::size_t>(ends[e][0])], b = tet[static_cast<std::size_t>(ends[e][1])];
      for (std::size_t axis = 0; axis < 3; ++axis) {
        CHECK(mesh.nodes[tet[4 + e]][axis] == 0.5 * (mesh.nodes[a][axis] + mesh.nodes[b][axis]));
      }
      const Index middle = middle_of.emplace(std::minmax(a, b), tet[4 + e]).first->second;
      CHECK(middle == tet[4 + e]);
    }
  }
  CHECK(middle_of.size() + 64 == mesh.nodes.size());
}

TEST_CASE("stiffness and mass are symmetric bit for bit, on one pattern", "[beam]") {
  const ElasticBody& body = rough().body;
  CHECK(symmetric_bit_for_bit(body.stiffness));
  CHECK(symmetric_bit_for_bit(body.mass));
  CHECK(same_bits(body.stiffness.row_ptr, body.mass.row_ptr));
  CHECK(same_bits(body.stiffness.col, body.mass.col));
}

TEST_CASE("rigid motion of a free body costs no energy", "[beam]") {
  const EigenMatrix k = to_eigen(rough().body.stiffness);
  const double scale = k.coeffs().cwiseAbs().maxCoeff();
  const std::vector<Eigen::VectorXd> motions = {nodal(rough().mesh,
                                                      [](const fem::Point&) {
                                                        return fem::Point{1, -2, 3};
                                                      }),
                                                nodal(rough().mesh, [](const fem::Point& x) {
                                                  return fem::Point{x[1] - 2 * x[2], -x[0], 2 * x[0]};
                                                })};
  for (const Eigen::VectorXd& u : motions) CHECK((k * u).cwiseAbs().maxCoeff() < 1e-12 * scale);
}

TEST_CASE("the energy of pure bending is exact, on a rough mesh too", "[beam]") {
  // u = (x z, nu y z, -x^2/2 + nu (z^2 - y^2)/2) has the strains z, -nu z, -nu z along the axes with the sign of nu
  // chosen so, and no shear: the stress is E z along x alone. Energy: E/2 times the integral of z^2 over the unit
  // cube.
  const double nu = steel.poisson_ratio;
  const Eigen::VectorXd u = nodal(rough().mesh, [nu](const fem::Point& x) {
    return fem::Point{x[0] * x[2], -nu * x[1] * x[2], -0.5 * x[0] * x[0] + 0.5 * nu * (x[1] * x[1] - x[2] * x[2])};
  });
  const double energy = 0.5 * u.dot(to_eigen(rough().body.stiffness) * u);
  CHECK(energy == Approx(steel.youngs_modulus / 6).epsilon(1e-11));
}

TEST_CASE("the kinetic energy of a quadratic field is exact", "[beam]") {
  const EigenMatrix m = to_eigen(rough().body.mass);
  const Eigen::VectorXd v = nodal(rough().mesh, [](const fem::Point& x) {
    return fem::Point{1, x[0] * x[0], x[1] * x[2]};
  });
  // The integrals of 1, x^4 and y^2 z^2 over the unit cube.
  CHECK(v.dot(m * v) == Approx(steel.density * (1 + 1.0 / 5 + 1.0 / 9)).epsilon(1e-12));
}

TEST_CASE("a clamped node keeps its diagonal and nothing else", "[beam]") {
  const Context<Space::host> ctx(2);
  const QuadraticMesh& mesh = rough().mesh;
  std::vector<unsigned char> clamped(mesh.nodes.size(), 0);
  clamped[5] = 1;
  const ElasticBody body = assemble_body(ctx, mesh, steel, clamped);
  for (const fem::HostCsr* a : {&body.stiffness, &body.mass}) {
    for (Index row = 0; row < a->rows; ++row) {
      for (Offset e = a->row_ptr[row]; e < a->row_ptr[row + 1]; ++e) {
        const bool own = row / 3 == 5, couples = a->col[e] / 3 == 5;
        if (own != couples) FAIL("row " << row << ", column " << a->col[e]);
        if (own) CHECK((a->val[e] != 0) == (a->col[e] == row));
      }
    }
  }
}

TEST_CASE("a material that is none, and a body that is inside out, are refused", "[beam]") {
  const Context<Space::host> ctx(1);
  QuadraticMesh mesh = rough().mesh;
  const std::vector<unsigned char> free(mesh.nodes.size(), 0);
  CHECK(contains(message_of<InputError>([&] {
                   (void)assemble_body(ctx, mesh, {-1, 0.3, 1}, free);
                 }),
                 "Young's modulus must be positive"));
  CHECK(contains(message_of<InputError>([&] {
                   (void)assemble_body(ctx, mesh, {1, 0.5, 1}, free);
                 }),
                 "Poisson's ratio must be between"));
  CHECK(contains(message_of<InputError>([&] {
                   (void)assemble_body(ctx, mesh, {1, 0.3, 0}, free);
                 }),
                 "density must be positive"));
  std::swap(mesh.tets[3][0], mesh.tets[3][1]);
  CHECK(contains(message_of<InputError>([&] { (void)assemble_body(ctx, mesh, steel, free); }),
                 "tetrahedron 3 (counted from 0)"));
}
