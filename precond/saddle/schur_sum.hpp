// SPDX-License-Identifier: Apache-2.0
/// SchurSum: the Schur complement of a saddle point with the diagonal of its first block in place of that block.
/// Internal.
#pragma once

#include <vector>

#include "precond/saddle/saddle_blocks.hpp"

namespace newel::detail {

/// The values of the blocks on the host.
struct SaddleValues {
  std::vector<double> diagonal;  ///< of the primal block
  std::vector<double> coupling;  ///< in the order of its pattern, as the others
  std::vector<double> transposed;
  std::vector<double> constraint;
};

/// N = s (G D^-1 F - E) for [A F; G E], where D is the diagonal of A and s = 1 or -1. With G = F^T and -E positive
/// semidefinite s = 1; with G = -F^T it is -1.
class SchurSum {
 public:
  SchurSum() = default;
  /// Keeps the patterns, which must outlive it. With `whole` the pattern of N is found too, at the price of the
  /// product; its rows have all diagonal entries.
  SchurSum(const Context<Space::host>& ctx, const SaddlePatterns& patterns, bool whole);

  /// The diagonal of G D^-1 F - E, and the sign of most of it as `sign`.
  std::vector<double> diagonal(const Context<Space::host>& ctx, const SaddleValues& values, double* sign) const;
  /// The values of N, for `sign`, in the order of the pattern. A diagonal entry of 0 becomes 1.
  Array<double, Space::host> values(const Context<Space::host>& ctx, const SaddleValues& of, double sign) const;

  /// The multiplications that the values of the product of the patterns take.
  static double work(const SaddlePatterns& patterns);

  /// The pattern of N; empty unless `whole`.
  Pattern<Space::host> pattern() const;

 private:
  const SaddlePatterns* of_ = nullptr;
  Array<Offset, Space::host> row_ptr_;
  Array<Index, Space::host> col_;
};

}  // namespace newel::detail
