// SPDX-License-Identifier: Apache-2.0
/// ILU(0) and its triangular solves by cuSPARSE.
#pragma once

#include <memory>

#include <newel/core/csr.hpp>

namespace newel::bench {

/// Factors of a square matrix with a full diagonal, in double, by csrilu02; applied by SpSV. Pivots of 0 are
/// replaced.
class CusparseFactors {
 public:
  /// Analyses the pattern and factorises. Throws where cuSPARSE fails, or the matrix has 2^31 entries or more.
  CusparseFactors(const Context<Space::device>& ctx, const CsrView<double, Space::device>& a);
  ~CusparseFactors();

  /// Takes the values again and factorises; queued on the context's stream.
  void factorise(Span<const double, Space::device> values);
  /// y = U^-1 L^-1 x with the factors of the constructor; queued on the context's stream.
  void solve(Span<const double, Space::device> x, Span<double, Space::device> y);

  double setup_seconds() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace newel::bench
