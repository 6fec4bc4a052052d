// SPDX-License-Identifier: Apache-2.0
// Eigen on the caller's arrays, without a copy of the values.
#include "eigen_cg.hpp"

#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseCore>

#include <limits>
#include <vector>

#include <newel/core/error.hpp>

#include "measure.hpp"

namespace newel::bench {
namespace {

using Matrix = Eigen::SparseMatrix<double, Eigen::RowMajor>;
using Solver = Eigen::ConjugateGradient<Matrix, Eigen::Lower | Eigen::Upper, Eigen::DiagonalPreconditioner<double>>;
using ConstVector = Eigen::Map<const Eigen::VectorXd>;

std::vector<int> in_32_bits(const fem::HostCsr& pattern) {
  if (pattern.nnz() > std::numeric_limits<int>::max()) {
    throw InputError("Eigen's 32-bit indices cannot number the entries");
  }
  return {pattern.row_ptr.begin(), pattern.row_ptr.end()};
}

}  // namespace

struct EigenCg::State {
  State(const fem::HostCsr& pattern, const double* values)
      : row_ptr(in_32_bits(pattern)),
        matrix(pattern.rows, pattern.cols, pattern.nnz(), row_ptr.data(), pattern.col.data(), values),
        residual(pattern.rows) {}

  std::vector<int> row_ptr;
  Eigen::Map<const Matrix> matrix;
  Eigen::VectorXd residual;
  Solver solver;
};

EigenCg::EigenCg(const fem::HostCsr& pattern, const double* values, int threads)
    : state_(std::make_unique<State>(pattern, values)) {
  Eigen::setNbThreads(threads);
}

EigenCg::~EigenCg() = default;

std::string EigenCg::version() {
  return std::to_string(EIGEN_WORLD_VERSION) + "." + std::to_string(EIGEN_MAJOR_VERSION) + "." +
         std::to_string(EIGEN_MINOR_VERSION) + ", compiled for " + Eigen::SimdInstructionSetsInUse();
}

EigenCg::Outcome EigenCg::solve(const double* b, double* x, double tolerance, int most_iterations) {
  State& s = *state_;
  const ConstVector rhs(b, s.residual.size());
  Eigen::Map<Eigen::VectorXd> solution(x, s.residual.size());
  Outcome result;
  result.uncounted_seconds = seconds_of([&] {
    s.residual = rhs;
    s.residual.noalias() -= s.matrix * solution;
    result.initial_residual = s.residual.norm();
    result.rhs_norm = rhs.norm();
  });
  result.seconds = seconds_of([&] {
    s.solver.compute(s.matrix);
    s.solver.setTolerance(result.rhs_norm > 0 ? tolerance / result.rhs_norm : 0);
    s.solver.setMaxIterations(most_iterations);
    solution = s.solver.solveWithGuess(rhs, solution);
  });
  result.converged = s.solver.info() == Eigen::Success;
  // Eigen does not count the iteration in which it converges.
  const bool iterated = result.rhs_norm > 0 && result.initial_residual >= tolerance;
  result.iterations = static_cast<int>(s.solver.iterations()) + (result.converged && iterated ? 1 : 0);
  result.final_residual = s.solver.error() * result.rhs_norm;
  return result;
}

}  // namespace newel::bench
