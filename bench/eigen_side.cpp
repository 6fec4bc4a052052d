// SPDX-License-Identifier: Apache-2.0
// The measure on the host: Eigen, as its users call it.
#include "eigen_side.hpp"

#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseCore>

#include <limits>

#include <newel/core/error.hpp>

namespace newel::bench {

using Matrix = Eigen::SparseMatrix<double, Eigen::RowMajor>;
using Solver = Eigen::ConjugateGradient<Matrix, Eigen::Lower | Eigen::Upper, Eigen::DiagonalPreconditioner<double>>;

struct EigenSide::State {
  Matrix matrix;
  Solver solver;
  Eigen::VectorXd x, y;
};

EigenSide::EigenSide(const fem::HostCsr& a, int threads) : state_(std::make_unique<State>()) {
  if (a.nnz() > std::numeric_limits<int>::max()) throw InputError("Eigen's 32-bit indices cannot number the entries");
  Eigen::setNbThreads(threads);
  std::vector<int> row_ptr(a.row_ptr.begin(), a.row_ptr.end());
  state_->matrix = Eigen::Map<const Matrix>(a.rows, a.cols, a.nnz(), row_ptr.data(), a.col.data(), a.val.data());
  state_->solver.compute(state_->matrix);
  state_->y.setZero(a.rows);
}

EigenSide::~EigenSide() = default;

void EigenSide::set_x(const std::vector<double>& x) {
  state_->x = Eigen::Map<const Eigen::VectorXd>(x.data(), static_cast<Eigen::Index>(x.size()));
}

void EigenSide::multiply() { state_->y.noalias() = state_->matrix * state_->x; }

std::vector<double> EigenSide::y() const { return {state_->y.begin(), state_->y.end()}; }

int EigenSide::solve(const std::vector<double>& b, int iterations) {
  const Eigen::Map<const Eigen::VectorXd> rhs(b.data(), static_cast<Eigen::Index>(b.size()));
  state_->solver.setMaxIterations(iterations);
  state_->solver.setTolerance(0);
  state_->x = state_->solver.solve(rhs);
  return static_cast<int>(state_->solver.iterations());
}

std::vector<double> EigenSide::x() const { return {state_->x.begin(), state_->x.end()}; }

std::string EigenSide::version() {
  return std::to_string(EIGEN_WORLD_VERSION) + "." + std::to_string(EIGEN_MAJOR_VERSION) + "." +
         std::to_string(EIGEN_MINOR_VERSION);
}

std::string EigenSide::instructions() { return Eigen::SimdInstructionSetsInUse(); }

}  // namespace newel::bench
