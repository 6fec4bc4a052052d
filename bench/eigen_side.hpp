// SPDX-License-Identifier: Apache-2.0
/// Eigen's product and conjugate gradients behind plain arrays, so that its code is compiled with flags of its own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/fem/assembly.hpp"

namespace newel::bench {

/// One matrix in Eigen's hands: SparseMatrix<double, RowMajor> with 32-bit indices.
class EigenSide {
 public:
  /// Copies `a`. Throws InputError where 32 bits cannot number the entries.
  EigenSide(const fem::HostCsr& a, int threads);
  ~EigenSide();

  /// y = A x with y.noalias() = A * x; vectors of A's size, kept inside.
  void set_x(const std::vector<double>& x);
  void multiply();
  std::vector<double> y() const;

  /// `iterations` of ConjugateGradient<..., Lower | Upper, DiagonalPreconditioner<double>> from x = 0; returns how
  /// many were done.
  int solve(const std::vector<double>& b, int iterations);
  std::vector<double> x() const;

  /// "3.4.0", and the instructions that it was compiled for.
  static std::string version();
  static std::string instructions();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace newel::bench
