// SPDX-License-Identifier: Apache-2.0
/// A small heart for tests, and the same model a second time: dense matrices, element by element, written from the
/// equations and using nothing of the programs but the mesh.
#pragma once

#include <Eigen/Dense>

#include "apps/heart/monodomain.hpp"
#include "tests/catch.hpp"

namespace newel::testing {

/// A cube of `side` mm with fibres that turn along z, the corner at the origin being stimulated by mark 1. One
/// tetrahedron in nine has no fibre.
inline heart::HeartModel small_heart(Index nodes_per_side, double side) {
  heart::HeartModel model;
  fem::BoxOptions box;
  box.jitter = 0.1;
  box.renumber = true;
  model.mesh = fem::make_cube(Context<Space::host>(), nodes_per_side, box);
  for (fem::Point& node : model.mesh.nodes) {
    for (double& x : node) x *= side;
  }
  for (Index t = 0; t < model.mesh.tet_count(); ++t) {
    fem::Point middle{};
    for (const Index corner : model.mesh.tets[t]) {
      for (int axis = 0; axis < 3; ++axis) middle[axis] += model.mesh.nodes[corner][axis] / 4;
    }
    const double angle = middle[2] / side;
    model.fibers.push_back(t % 9 == 0 ? fem::Point{} : fem::Point{std::cos(angle), std::sin(angle), 0});
    const double distance = std::sqrt(middle[0] * middle[0] + middle[1] * middle[1] + middle[2] * middle[2]);
    model.marks.push_back(distance < side / 2 ? 1u : 0u);
  }
  return model;
}

/// Backward Euler with Newton's method on the residual itself, dense Cholesky, recovery in closed form.
class DenseHeart {
 public:
  explicit DenseHeart(const heart::HeartModel& model) : model_(model) {
    const Index n = model.mesh.node_count();
    conduction_ = Eigen::MatrixXd::Zero(n, n);
    phi = Eigen::VectorXd::Zero(n);
    r = Eigen::VectorXd::Zero(model.mesh.tet_count());
    for (Index t = 0; t < model.mesh.tet_count(); ++t) {
      const fem::Tet& tet = model.mesh.tets[t];
      // Rows of the inverse of [1 x y z] hold the barycentric coordinates' gradients.
      Eigen::Matrix4d corners;
      for (int a = 0; a < 4; ++a) {
        const fem::Point& x = model.mesh.nodes[tet[a]];
        corners.row(a) << 1, x[0], x[1], x[2];
      }
      volume_.push_back(corners.determinant() / 6);
      const Eigen::Matrix<double, 3, 4> gradient = corners.inverse().bottomRows<3>();
      const Eigen::Vector3d fiber(model.fibers[t].data());
      Eigen::Matrix3d d = Eigen::Matrix3d::Identity() * model.conductivity.across;
      if (fiber.norm() > 0) {
        d += (model.conductivity.along - model.conductivity.across) * fiber * fiber.transpose();
      } else {
        d = Eigen::Matrix3d::Identity() * (model.conductivity.along + 2 * model.conductivity.across) / 3;
      }
      const Eigen::Matrix4d local = volume_.back() * gradient.transpose() * d * gradient;
      for (int a = 0; a < 4; ++a) {
        for (int b = 0; b < 4; ++b) conduction_(tet[a], tet[b]) += local(a, b);
      }
    }
  }

  /// Returns Newton's iterations; fails the test where it does not converge.
  int step(double dt, double stimulus) {
    const Eigen::VectorXd old_phi = phi, old_r = r;
    for (int k = 0; k < 30; ++k) {
      const auto [residual, tangent] = linearised(dt, stimulus, old_phi, old_r);
      const Eigen::VectorXd change = tangent.llt().solve(residual);
      phi -= change;
      if (change.cwiseAbs().maxCoeff() < 1e-13) return k + 1;
    }
    FAIL("the reference does not converge");
    return 0;
  }

  struct Linearised {
    Eigen::VectorXd residual;
    Eigen::MatrixXd tangent;
  };

  /// R and dR/dphi at `phi`; r is solved for on the way.
  Linearised linearised(double dt, double stimulus, const Eigen::VectorXd& old_phi, const Eigen::VectorXd& old_r) {
    const heart::Tissue& p = model_.tissue;
    Linearised result{conduction_ * phi, conduction_};
    for (Index t = 0; t < model_.mesh.tet_count(); ++t) {
      const fem::Tet& tet = model_.mesh.tets[t];
      double mean = 0, old_mean = 0;
      for (const Index corner : tet) {
        mean += phi[corner] / 4;
        old_mean += old_phi[corner] / 4;
      }
      const double h = dt / p.time_unit;
      r[t] = recovery(h, mean, old_r[t]);
      // The slope by a difference in complex numbers: exact to rounding, and no derivative is copied from the
      // program.
      constexpr double tiny = 1e-30;
      const std::complex<double> moved(mean, tiny);
      const std::complex<double> f = source(moved, recovery(h, moved, old_r[t])) / p.time_unit;
      const double stimulated = (model_.marks[t] & 1u) != 0 ? stimulus : 0.0;
      const double rate = (mean - old_mean) / dt - f.real() - stimulated;
      const double slope = 1 / dt - f.imag() / tiny;
      for (const Index a : tet) {
        result.residual[a] += volume_[t] / 4 * rate;
        for (const Index b : tet) result.tangent(a, b) += volume_[t] / 16 * slope;
      }
    }
    return result;
  }

  Eigen::VectorXd phi, r;

 private:
  template <class V>
  V source(V u, V v) const {
    const heart::Tissue& p = model_.tissue;
    return p.c * u * (u - p.alpha) * (1.0 - u) - v * u;
  }
  // r - old - h (gamma + mu1 r / (mu2 + u)) (-r - c u (u - b - 1)) = 0, a quadratic equation with one root near
  // `old`.
  template <class V>
  V recovery(double h, V u, double old) const {
    const heart::Tissue& p = model_.tissue;
    const V a = p.mu1 / (p.mu2 + u), s = -p.c * u * (u - p.b - 1.0);
    const V second = h * a, first = 1.0 - h * (a * s - p.gamma), last = -(old + h * p.gamma * s);
    return -2.0 * last / (first + std::sqrt(first * first - 4.0 * second * last));
  }

  const heart::HeartModel& model_;
  Eigen::MatrixXd conduction_;
  std::vector<double> volume_;
};

/// Options under which a small system is solved to the last digits.
inline SystemOptions sharp_options(const std::string& format = "csr", const std::string& precond = "jacobi") {
  SystemOptions options;
  options.spmv.format = format;
  options.precond.name = precond;
  options.solver.name = "cg";
  return options;
}
inline heart::NewtonOptions sharp_newton() {
  heart::NewtonOptions newton;
  newton.tolerance = 1e-12;
  return newton;
}

}  // namespace newel::testing
