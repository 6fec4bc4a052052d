// SPDX-License-Identifier: Apache-2.0
// Assembled matrices against element matrices in another form, kernels, clamping and reproducibility.
#include "tests/catch.hpp"

#include <Eigen/Dense>

#include "tests/apps/fem_test_tools.hpp"

using namespace newel::fem;

namespace {

const Context<Space::host> ctx(2);

TetMesh skew_tet() {
  TetMesh mesh;
  mesh.nodes = {{0.1, -0.2, 0.3}, {1.2, 0.1, 0.2}, {0.3, 0.9, -0.1}, {0.2, 0.4, 1.1}};
  mesh.tets = {{0, 1, 2, 3}};
  return mesh;
}

// Column a holds the coefficients of N_a = c0 + c1 x + c2 y + c3 z: the inverse of the matrix of monomials.
Eigen::Matrix4d shape_coefficients(const TetMesh& mesh) {
  Eigen::Matrix4d monomials;
  for (int a = 0; a < 4; ++a) {
    monomials.row(a) << 1, mesh.nodes[a][0], mesh.nodes[a][1], mesh.nodes[a][2];
  }
  return monomials.inverse();
}

double tet_volume(const TetMesh& mesh) { return 1 / (6 * shape_coefficients(mesh).determinant()); }

void require_close(const fem::HostCsr& a, const Eigen::MatrixXd& expected) {
  const Eigen::MatrixXd dense = to_eigen(a);
  REQUIRE(dense.rows() == expected.rows());
  REQUIRE((dense - expected).cwiseAbs().maxCoeff() <= 1e-13 * expected.cwiseAbs().maxCoeff());
}

Tensor skew_conductivity(Index, const Point& at) {
  return {{{2 + at[0], 0.3, -0.2}, {0.3, 1.5, 0.4}, {-0.2, 0.4, 1 + at[1] * at[1]}}};
}

}  // namespace

TEST_CASE("a node in which hundreds of tetrahedra meet has a row of all its neighbours", "[fem]") {
  // A double cone around the z axis: the tetrahedra k = (0, ring k, ring k + 1, 1) have equal volumes.
  constexpr Index ring = 300;
  TetMesh mesh;
  mesh.nodes = {{0, 0, 0}, {0, 0, 1}};
  for (Index k = 0; k < ring; ++k) {
    const double angle = 2 * std::acos(-1.0) * k / ring;
    mesh.nodes.push_back({std::cos(angle), std::sin(angle), 0.5});
  }
  for (Index k = 0; k < ring; ++k) mesh.tets.push_back({0, 2 + k, 2 + (k + 1) % ring, 1});
  const double volume = std::sin(2 * std::acos(-1.0) / ring) / 6;
  const fem::HostCsr mass = assemble_mass(ctx, mesh);
  REQUIRE(mass.row_ptr[1] == ring + 2);
  for (Index j = 0; j < ring + 2; ++j) {
    REQUIRE(mass.col[j] == j);
    const double expected = volume * (j == 0 ? ring * 0.1 : j == 1 ? ring * 0.05 : 2 * 0.05);
    REQUIRE(std::fabs(mass.val[j] - expected) <= 1e-12 * expected);
  }
  REQUIRE(mass.nnz() == 2 * (ring + 2) + ring * 5);
}

TEST_CASE("the diffusion matrix of one tetrahedron agrees with gradients from inverted monomials", "[fem]") {
  const TetMesh mesh = skew_tet();
  const auto gradients = shape_coefficients(mesh).bottomRows<3>().eval();
  const double volume = tet_volume(mesh);
  require_close(assemble_diffusion(ctx, mesh), volume * gradients.transpose() * gradients);

  Point center{};
  for (const Point& p : mesh.nodes) {
    for (int axis = 0; axis < 3; ++axis) center[axis] += 0.25 * p[axis];
  }
  const Tensor k = skew_conductivity(0, center);
  Eigen::Matrix3d conductivity;
  for (int i = 0; i < 3; ++i) conductivity.row(i) << k[i][0], k[i][1], k[i][2];
  Eigen::Matrix4d mass = Eigen::Matrix4d::Constant(volume / 20);
  mass.diagonal() *= 2;
  DiffusionOptions options;
  options.conductivity = skew_conductivity;
  options.reaction = 3;
  require_close(assemble_diffusion(ctx, mesh, options),
                volume * gradients.transpose() * conductivity * gradients + 3 * mass);
}

TEST_CASE("the mass matrix of one tetrahedron agrees with a four-point quadrature", "[fem]") {
  // Exact for products of linear functions; the weights are equal.
  const TetMesh mesh = skew_tet();
  const double near = (5 + 3 * std::sqrt(5.0)) / 20;
  const double far = (5 - std::sqrt(5.0)) / 20;
  Eigen::Matrix4d mass = Eigen::Matrix4d::Zero();
  for (int point = 0; point < 4; ++point) {
    Eigen::Vector4d shapes = Eigen::Vector4d::Constant(far);
    shapes[point] = near;
    mass += tet_volume(mesh) / 4 * shapes * shapes.transpose();
  }
  require_close(assemble_mass(ctx, mesh), mass);
}

TEST_CASE("the stiffness of one tetrahedron agrees with strains and Hooke's law in Voigt notation", "[fem]") {
  const TetMesh mesh = skew_tet();
  const auto gradients = shape_coefficients(mesh).bottomRows<3>().eval();
  const double e = 3.5, nu = 0.28;
  Eigen::Matrix<double, 6, 12> strain = Eigen::Matrix<double, 6, 12>::Zero();
  for (int a = 0; a < 4; ++a) {
    const Eigen::Vector3d g = gradients.col(a);
    strain.block<6, 3>(0, 3 * a) << g[0], 0, 0, 0, g[1], 0, 0, 0, g[2], g[1], g[0], 0, 0, g[2], g[1], g[2], 0, g[0];
  }
  Eigen::Matrix<double, 6, 6> compliance = Eigen::Matrix<double, 6, 6>::Zero();
  compliance.topLeftCorner<3, 3>().setConstant(-nu / e);
  for (int i = 0; i < 3; ++i) {
    compliance(i, i) = 1 / e;
    compliance(i + 3, i + 3) = 2 * (1 + nu) / e;
  }
  require_close(assemble_elasticity(ctx, mesh, e, nu),
                tet_volume(mesh) * strain.transpose() * compliance.inverse() * strain);
}

TEST_CASE("the convection matrix of one tetrahedron agrees with integrals over volume and faces", "[fem]") {
  const TetMesh mesh = skew_tet();
  const auto gradients = shape_coefficients(mesh).bottomRows<3>().eval();
  const double volume = tet_volume(mesh);
  const Eigen::Vector3d wind(0.7, -1.3, 2.1);
  const Eigen::Vector4d along = gradients.transpose() * wind;
  for (const double diffusivity : {1e-3, 0.4, 1e4}) {
    const double length = 2 * wind.norm() / along.cwiseAbs().sum();
    const double peclet = wind.norm() * length / (2 * diffusivity);
    const double langevin =
        peclet < 1e-3 ? peclet / 3 : (1 + std::exp(-2 * peclet)) / (1 - std::exp(-2 * peclet)) - 1 / peclet;
    const double time = length / (2 * wind.norm()) * langevin;
    Eigen::Matrix4d expected = volume * diffusivity * gradients.transpose() * gradients;
    expected += volume / 4 * Eigen::Vector4d::Ones() * along.transpose();
    expected += volume * time * along * along.transpose();
    for (int a = 0; a < 4; ++a) {
      // A face opposite to corner b has the outward area vector -3 volume grad N_b, a third of it belongs to a.
      double outflow = 0;
      for (int b = 0; b < 4; ++b) {
        if (b != a) outflow += -volume * along[b];
      }
      expected(a, a) += std::max(0.0, -outflow);
    }
    const VectorField field = [&](Index, const Point&) { return Point{wind[0], wind[1], wind[2]}; };
    require_close(assemble_convection_diffusion(ctx, mesh, field, diffusivity), expected);
  }
}

TEST_CASE("constants cost no diffusion and linear functions none inside", "[fem]") {
  const TetMesh mesh = rough_cube(ctx, 9);
  const auto a = to_eigen(assemble_diffusion(ctx, mesh));
  const Eigen::VectorXd sums = a * Eigen::VectorXd::Ones(a.cols());
  REQUIRE(sums.cwiseAbs().maxCoeff() < 1e-14);
  Eigen::VectorXd linear(a.cols());
  for (Index i = 0; i < mesh.node_count(); ++i) {
    linear[i] = 2 * mesh.nodes[i][0] - 3 * mesh.nodes[i][1] + 0.5 * mesh.nodes[i][2] + 1;
  }
  const Eigen::VectorXd flux = a * linear;
  for (Index i = 0; i < mesh.node_count(); ++i) {
    if (!on_cube_surface(mesh.nodes[i])) REQUIRE(std::fabs(flux[i]) < 1e-14);
  }
  // The energy of a linear function is |gradient|^2 times the volume.
  REQUIRE(linear.dot(flux) == Approx(4 + 9 + 0.25));
}

TEST_CASE("the entries of the mass matrix sum to the volume", "[fem]") {
  const auto mass = assemble_mass(ctx, make_beam(ctx, 6, 4, 3, 3.0, 0.5, 0.7));
  double sum = 0;
  for (const double value : mass.val) sum += value;
  REQUIRE(sum == Approx(3.0 * 0.5 * 0.7));
}

TEST_CASE("rigid motions cost no elastic energy and stretching costs what Hooke says", "[fem]") {
  const TetMesh mesh = rough_cube(ctx, 8);
  const double e = 2, nu = 0.3;
  const auto a = to_eigen(assemble_elasticity(ctx, mesh, e, nu));
  const auto field = [&](auto&& displacement) {
    Eigen::VectorXd u(a.cols());
    for (Index i = 0; i < mesh.node_count(); ++i) u.segment<3>(3 * i) = displacement(mesh.nodes[i]);
    return u;
  };
  for (int axis = 0; axis < 3; ++axis) {
    const Eigen::Vector3d direction = Eigen::Vector3d::Unit(axis);
    const Eigen::VectorXd shift = field([&](const Point&) { return direction; });
    const Eigen::VectorXd turn =
        field([&](const Point& p) -> Eigen::Vector3d { return direction.cross(Eigen::Vector3d(p[0], p[1], p[2])); });
    REQUIRE((a * shift).cwiseAbs().maxCoeff() < 1e-13);
    REQUIRE((a * turn).cwiseAbs().maxCoeff() < 1e-13);
  }
  // Uniaxial stress: strain 1 along x, -nu across; twice the energy is E.
  const Eigen::VectorXd bar = field([&](const Point& p) { return Eigen::Vector3d(p[0], -nu * p[1], -nu * p[2]); });
  REQUIRE(bar.dot(a * bar) == Approx(e));
}

TEST_CASE("symmetric forms are symmetric bit for bit", "[fem]") {
  const TetMesh mesh = rough_cube(ctx, 12);
  const NodeFilter floor = [](Index, const Point& at) { return at[2] == 0; };
  DiffusionOptions options;
  options.conductivity = skew_conductivity;
  options.reaction = 0.7;
  options.clamped = floor;
  REQUIRE(symmetric_bit_for_bit(assemble_diffusion(ctx, mesh)));
  REQUIRE(symmetric_bit_for_bit(assemble_diffusion(ctx, mesh, options)));
  REQUIRE(symmetric_bit_for_bit(assemble_mass(ctx, mesh)));
  REQUIRE(symmetric_bit_for_bit(assemble_elasticity(ctx, mesh, 1, 0.3, floor)));
}

TEST_CASE("assembly gives the same bits for any number of threads", "[fem]") {
  const TetMesh mesh = rough_cube(ctx, 11);
  const Context<Space::host> one(1), five(5);
  const NodeFilter floor = [](Index, const Point& at) { return at[2] == 0; };
  const VectorField wind = [](Index, const Point& at) { return Point{at[1], -at[0], 1}; };
  REQUIRE(same_bits(assemble_diffusion(one, mesh), assemble_diffusion(five, mesh)));
  REQUIRE(same_bits(assemble_mass(one, mesh), assemble_mass(five, mesh)));
  const NodeTets around = node_tets(five, mesh);
  REQUIRE(same_bits(assemble_diffusion(one, mesh), assemble_diffusion(five, mesh, around)));
  REQUIRE(same_bits(assemble_mass(one, mesh), assemble_mass(five, mesh, around)));
  REQUIRE(same_bits(assemble_elasticity(one, mesh, 1, 0.3, floor), assemble_elasticity(five, mesh, 1, 0.3, floor)));
  REQUIRE(same_bits(assemble_convection_diffusion(one, mesh, wind, 0.01, floor),
                    assemble_convection_diffusion(five, mesh, wind, 0.01, floor)));
  const ScalarSource source = [](const Point& at) { return std::sin(at[0]); };
  REQUIRE(same_bits(assemble_load(one, mesh, source), assemble_load(five, mesh, source)));
}

TEST_CASE("clamping keeps the free part and the diagonal blocks, and nothing else", "[fem]") {
  const TetMesh mesh = rough_cube(ctx, 6);
  const NodeFilter floor = [](Index, const Point& at) { return at[2] == 0; };
  const fem::HostCsr clamped = assemble_elasticity(ctx, mesh, 1, 0.3, floor);
  Eigen::MatrixXd expected = to_eigen(assemble_elasticity(ctx, mesh, 1, 0.3));
  for (Index row = 0; row < clamped.rows; ++row) {
    for (Index col = 0; col < clamped.cols; ++col) {
      if (row != col && (floor(0, mesh.nodes[row / 3]) || floor(0, mesh.nodes[col / 3]))) expected(row, col) = 0;
    }
  }
  REQUIRE(Eigen::MatrixXd(to_eigen(clamped)) == expected);
  for (Index row = 0; row < clamped.rows; ++row) {
    const Offset begin = clamped.row_ptr[row], end = clamped.row_ptr[row + 1];
    if (floor(0, mesh.nodes[row / 3])) REQUIRE(end - begin == 3);
    // Full blocks: columns in threes, the same in the three rows of a node.
    REQUIRE((end - begin) % 3 == 0);
    for (Offset k = begin; k < end; k += 3) {
      REQUIRE(clamped.col[k] % 3 == 0);
      REQUIRE(clamped.col[k + 1] == clamped.col[k] + 1);
      REQUIRE(clamped.col[k + 2] == clamped.col[k] + 2);
      REQUIRE(clamped.col[k] == clamped.col[clamped.row_ptr[row - row % 3] + k - begin]);
      if (k > begin) REQUIRE(clamped.col[k] > clamped.col[k - 1]);
    }
  }
}

TEST_CASE("a node without tetrahedra gets ones on its diagonal and no load", "[fem]") {
  TetMesh mesh = skew_tet();
  mesh.nodes.insert(mesh.nodes.begin() + 2, Point{9, 9, 9});
  mesh.tets = {{0, 1, 3, 4}};
  const Eigen::MatrixXd scalar = to_eigen(assemble_diffusion(ctx, mesh));
  REQUIRE(scalar.row(2) == Eigen::RowVectorXd::Unit(5, 2));
  const Eigen::MatrixXd elastic = to_eigen(assemble_elasticity(ctx, mesh, 1, 0.3));
  REQUIRE(elastic.block(6, 6, 3, 3) == Eigen::Matrix3d::Identity());
  REQUIRE(assemble_load(ctx, mesh, [](const Point&) { return 1.0; })[2] == 0);
}

TEST_CASE("loads sum to the integral of the source and vanish at clamped nodes", "[fem]") {
  const TetMesh mesh = rough_cube(ctx, 7);
  const HostVector load = assemble_load(ctx, mesh, [](const Point& at) { return 1 + at[0] - 3 * at[2]; });
  REQUIRE(to_eigen(load).sum() == Approx(0.0).margin(1e-14));
  const HostVector weight = assemble_body_force(ctx, mesh, [](const Point&) { return Point{1, -2, 9.81}; });
  Eigen::Vector3d total = Eigen::Vector3d::Zero();
  for (Index i = 0; i < mesh.node_count(); ++i) total += to_eigen(weight).segment<3>(3 * i);
  REQUIRE((total - Eigen::Vector3d(1, -2, 9.81)).norm() < 1e-12);
  const NodeFilter floor = [](Index, const Point& at) { return at[2] == 0; };
  const HostVector held = assemble_body_force(
      ctx, mesh,
      [](const Point&) {
        return Point{1, 1, 1};
      },
      floor);
  for (Index row = 0; row < 3 * mesh.node_count(); ++row) {
    REQUIRE((held[row] == 0) == floor(0, mesh.nodes[row / 3]));
  }
}

TEST_CASE("the 7-point grid couples each point with its neighbours along the axes", "[fem]") {
  for (const Index n : {1, 2, 5}) {
    const fem::HostCsr a = grid7(ctx, n);
    const Eigen::MatrixXd dense = to_eigen(a);
    REQUIRE(a.nnz() == 7 * Offset{n} * n * n - 6 * Offset{n} * n);
    for (Index i = 0; i < a.rows; ++i) {
      for (Index j = 0; j < a.rows; ++j) {
        const Index distance =
            std::abs(i % n - j % n) + std::abs(i / n % n - j / n % n) + std::abs(i / (n * n) - j / (n * n));
        REQUIRE(dense(i, j) == (distance == 0 ? 6 : distance == 1 ? -1 : 0));
      }
    }
  }
  REQUIRE_THROWS_AS(grid7(ctx, 0), InputError);
  REQUIRE_THROWS_AS(grid7(ctx, 1291), InputError);
}

TEST_CASE("inverted tetrahedra and impossible materials are refused", "[fem]") {
  TetMesh mesh = rough_cube(ctx, 4);
  const VectorField still = [](Index, const Point&) { return Point{}; };
  REQUIRE_THROWS_AS(assemble_elasticity(ctx, mesh, 0, 0.3), InputError);
  REQUIRE_THROWS_AS(assemble_elasticity(ctx, mesh, 1, 0.5), InputError);
  REQUIRE_THROWS_AS(assemble_elasticity(ctx, mesh, 1, -1), InputError);
  REQUIRE_THROWS_AS(assemble_convection_diffusion(ctx, mesh, still, 0), InputError);
  std::swap(mesh.tets[31][0], mesh.tets[31][1]);
  try {
    assemble_diffusion(ctx, mesh);
    FAIL("accepted");
  } catch (const InputError& error) {
    REQUIRE(contains(std::string(error.what()), "tetrahedron 31 "));
  }
}
