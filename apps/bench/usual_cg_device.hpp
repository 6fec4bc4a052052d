// SPDX-License-Identifier: Apache-2.0
/// The measure on the device: CG with Jacobi as one writes it with cuBLAS and cuSPARSE calls and scalars on the host.
#pragma once

#include <memory>
#include <vector>

#include "apps/fem/assembly.hpp"

namespace purlin::bench {

/// One matrix with a stream, handles and vectors of its own; nothing here goes through the library.
class UsualDevice {
 public:
  explicit UsualDevice(const fem::HostCsr& a);
  ~UsualDevice();

  /// `count` products y = A x by cusparseSpMV, analysed once: CUSPARSE_SPMV_CSR_ALG1, or ALG2. Milliseconds for one,
  /// by events.
  float time_products(int count, bool alg2);

  struct Outcome {
    int iterations = 0;
    double recurrence_residual = 0;  ///< over |b|
  };
  /// From x = 0, until |r| <= tolerance |b|. Three scalars an iteration come back to the host.
  Outcome solve_cg(const std::vector<double>& b, int max_iterations, double tolerance);
  std::vector<double> x() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace purlin::bench
