// SPDX-License-Identifier: Apache-2.0
/// EigenCg: Eigen's conjugate gradients with Jacobi on a caller's CSR values, to an absolute tolerance.
#pragma once

#include <memory>
#include <string>

#include "apps/fem/assembly.hpp"

namespace newel::bench {

/// ConjugateGradient<SparseMatrix<double, RowMajor>, Lower | Upper, DiagonalPreconditioner<double>> as a time loop
/// would use it: compiled with flags of its own, see CMakeLists.txt.
class EigenCg {
 public:
  struct Outcome {
    int iterations = 0;
    bool converged = false;
    double rhs_norm = 0;
    double initial_residual = 0;
    double final_residual = 0;  ///< of the recurrence
    double seconds = 0;         ///< preconditioner and solve
    double uncounted_seconds =
        0;  ///< |b| and the initial residual, which Eigen computes internally but does not report
  };

  /// Works on `values`, which belong to the entries of `pattern` and may change between solves; they and the columns
  /// of `pattern` outlive it. Sets Eigen's global number of threads. Throws InputError where 32 bits cannot number
  /// the entries.
  EigenCg(const fem::HostCsr& pattern, const double* values, int threads);
  ~EigenCg();

  /// A x = b from the guess in x, until the recurrence's |b - A x| is below `tolerance`.
  Outcome solve(const double* b, double* x, double tolerance, int most_iterations);

  /// "3.4.0, compiled for AVX2, ...": its version and the instructions that it was compiled for.
  static std::string version();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace newel::bench
