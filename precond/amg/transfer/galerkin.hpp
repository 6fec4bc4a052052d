// SPDX-License-Identifier: Apache-2.0
/// The Galerkin product P^T A P by a sparse matrix product of our own: patterns once, values as often as they change.
/// Internal.
#pragma once

#include "precond/amg/blocks/block_csr.hpp"

namespace newel::detail {

/// The pattern of A B, columns ascending: rows in parallel, their columns collected in a table.
HostBlockPattern product_pattern(const HostContext& ctx, const HostBlockPattern& a, const HostBlockPattern& b);
BlockPattern<Space::device> product_pattern(const DeviceContext& ctx, const BlockPattern<Space::device>& a,
                                            const BlockPattern<Space::device>& b);

/// The values of C = A B on a pattern that has every entry of the product; sums in the order of A's entries.
void product_values(const HostContext& ctx, const HostBlockCsr& a, const HostBlockCsr& b, HostBlockCsr& c);
void product_values(const DeviceContext& ctx, const BlockCsr<Space::device>& a, const BlockCsr<Space::device>& b,
                    BlockCsr<Space::device>& c);

/// The values of C = P^T B, P given with its transposed pattern; sums in the order of P's rows.
void transposed_product_values(const HostContext& ctx, const HostBlockCsr& p,
                               const TransposedPattern<Space::host>& pt, const HostBlockCsr& b, HostBlockCsr& c);
void transposed_product_values(const DeviceContext& ctx, const BlockCsr<Space::device>& p,
                               const TransposedPattern<Space::device>& pt, const BlockCsr<Space::device>& b,
                               BlockCsr<Space::device>& c);

/// C = A B and C = P^T B with their patterns, in blocks of the sizes that C says: the bits of the values above.
void make_product(const HostContext& ctx, const HostBlockCsr& a, const HostBlockCsr& b, HostBlockCsr& c);
void make_transposed_product(const HostContext& ctx, const HostBlockCsr& p, const TransposedPattern<Space::host>& pt,
                             const HostBlockCsr& b, HostBlockCsr& c);

/// P^T A P for one level.
template <Space S>
class GalerkinProduct {
 public:
  GalerkinProduct() = default;
  /// The symbolic phase, and the values. `a` and `p` keep their patterns.
  GalerkinProduct(const Context<S>& ctx, const BlockCsr<S>& a, const BlockCsr<S>& p, BlockCsr<S>& coarse)
      : GalerkinProduct(ctx, a, p, p, coarse) {}
  /// The same for rows of a larger matrix: `of_columns` has the rows of the prolongator for the columns of `a`, and
  /// `p` those for its rows. The columns of `coarse` are those of `of_columns`.
  GalerkinProduct(const Context<S>& ctx, const BlockCsr<S>& a, const BlockCsr<S>& p, const BlockCsr<S>& of_columns,
                  BlockCsr<S>& coarse)
      : transposed_(transpose(ctx, p.pattern)) {
    ap_.row_block = a.row_block;
    ap_.col_block = coarse.row_block = coarse.col_block = p.col_block;
    if constexpr (S == Space::host) {
      make_product(ctx, a, of_columns, ap_);
      make_transposed_product(ctx, p, transposed_, ap_, coarse);
    } else {
      ap_.pattern = product_pattern(ctx, a.pattern, of_columns.pattern);
      coarse.pattern = product_pattern(ctx, transposed_.pattern, ap_.pattern);
      ap_.val = Array<double, S>(ctx, ap_.pattern.blocks() * ap_.block_size());
      coarse.val = Array<double, S>(ctx, coarse.pattern.blocks() * coarse.block_size());
      compute(ctx, a, p, of_columns, coarse);
    }
  }

  /// The numeric phase: new values of `coarse` from those of `a` and `p`.
  void compute(const Context<S>& ctx, const BlockCsr<S>& a, const BlockCsr<S>& p, BlockCsr<S>& coarse) {
    compute(ctx, a, p, p, coarse);
  }
  void compute(const Context<S>& ctx, const BlockCsr<S>& a, const BlockCsr<S>& p, const BlockCsr<S>& of_columns,
               BlockCsr<S>& coarse) {
    product_values(ctx, a, of_columns, ap_);
    transposed_product_values(ctx, p, transposed_, ap_, coarse);
  }

  /// The transpose of P.
  const TransposedPattern<S>& transposed() const { return transposed_; }
  std::uint64_t bytes() const { return ap_.bytes() + transposed_.pattern.bytes() + transposed_.source.bytes(); }

 private:
  BlockCsr<S> ap_;
  TransposedPattern<S> transposed_;  ///< of P
};

}  // namespace newel::detail
