// SPDX-License-Identifier: Apache-2.0
/// The Galerkin product P^T A P by a sparse matrix product of our own: patterns once, values as often as they change.
/// Internal.
#pragma once

#include <purlin/precond/amg/block_csr.hpp>

namespace purlin::detail {

/// The pattern of A B, columns ascending: rows in parallel, their columns collected in a table.
BlockPattern product_pattern(const HostContext& ctx, const BlockPattern& a, const BlockPattern& b);

/// The values of C = A B on a pattern that has every entry of the product; sums in the order of A's entries.
void product_values(const HostContext& ctx, const BlockCsr& a, const BlockCsr& b, BlockCsr& c);

/// P^T A P for one level.
class GalerkinProduct {
 public:
  GalerkinProduct() = default;
  /// The symbolic phase, and the values. `a` and `p` keep their patterns.
  GalerkinProduct(const HostContext& ctx, const BlockCsr& a, const BlockCsr& p, BlockCsr& coarse);

  /// The numeric phase: new values of `coarse` from those of `a` and `p`.
  void compute(const HostContext& ctx, const BlockCsr& a, const BlockCsr& p, BlockCsr& coarse);

  std::uint64_t bytes() const { return ap_.bytes() + transposed_.pattern.bytes() + transposed_.source.bytes(); }

 private:
  BlockCsr ap_;
  TransposedPattern transposed_;  ///< of P
};

}  // namespace purlin::detail
