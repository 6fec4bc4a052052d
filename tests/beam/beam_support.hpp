// SPDX-License-Identifier: Apache-2.0
/// What the tests of newel-beam share: small bars, and the modes of a body by Eigen.
#pragma once

#include <Eigen/Dense>
#include <Eigen/SparseCholesky>

#include "apps/beam/beam_body.hpp"
#include "apps/beam/shapes.hpp"
#include "tests/apps/fem_test_tools.hpp"
#include "tests/catch.hpp"

namespace newel::testing {

inline constexpr double pi = 3.14159265358979323846;

/// A mesh as a run would have it.
inline transient::MeshInput input_of(fem::TetMesh mesh) {
  transient::MeshInput input;
  input.mesh = std::move(mesh);
  return input;
}

/// A bar along x of cells of about equal sides, held at x = 0 and struck at its end.
inline beam::BeamBody small_bar(const beam::BeamParams& params, int strikes = 1) {
  const Context<Space::host> ctx(2);
  return beam::make_body(ctx, input_of(fem::make_beam(ctx, 7, 2, 2, 0.06, 0.01, 0.01)), params, strikes, {});
}

inline beam::BeamParams bar_params() {
  beam::BeamParams params;
  params.up = {1, 0, 0};
  params.struck = "ball";
  params.ball_centre = {0.06, 0.005, 0.01};
  params.last_centre = {0.02, 0.005, 0.01};
  params.radius = 0.003;
  params.force = {0, 0, -50};
  params.strike_seconds = 1e-4;
  return params;
}

struct Modes {
  Eigen::VectorXd omega;   ///< rad / s, ascending
  Eigen::MatrixXd shapes;  ///< a column each, M-orthonormal
};

/// The lowest modes of K x = omega^2 M x, by subspace iteration with Eigen's Cholesky factors.
inline Modes modes_of(const beam::ElasticBody& body, int count) {
  const EigenMatrix k = to_eigen(body.stiffness), m = to_eigen(body.mass);
  const Eigen::SimplicialLDLT<EigenMatrix> factors(k);
  REQUIRE(factors.info() == Eigen::Success);
  const int width = 2 * count + 4;
  std::srand(7);  // of Eigen's Random
  Eigen::MatrixXd x = Eigen::MatrixXd::Random(k.rows(), width);
  Eigen::VectorXd values;
  for (int i = 0; i < 25; ++i) {
    x = factors.solve(m * x).eval();
    const Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd> small(x.transpose() * (k * x),
                                                                          x.transpose() * (m * x));
    x = x * small.eigenvectors();
    values = small.eigenvalues();
  }
  return {values.head(count).cwiseSqrt(), x.leftCols(count)};
}

inline std::vector<double> to_std(const Eigen::VectorXd& x) { return {x.data(), x.data() + x.size()}; }

}  // namespace newel::testing
