// SPDX-License-Identifier: Apache-2.0
/// Prolongators of smoothed aggregation: the near-null space cut into aggregates, then smoothed (P. Vanek, J. Mandel,
/// M. Brezina, "Algebraic multigrid by smoothed aggregation for second and fourth order elliptic problems", Computing
/// 56, 1996). Internal.
#pragma once

#include <vector>

#include <purlin/precond/amg/aggregation.hpp>
#include <purlin/precond/amg/near_null.hpp>

namespace purlin::detail {

/// In each aggregate an orthonormal basis Q of the near-null vectors there, and the factor R with Q R = B.
struct Tentative {
  std::vector<double> q;  ///< rows x vectors, 0 in nodes left out
  NearNull coarse;        ///< R, vectors x vectors for each aggregate: the near-null space of the coarse matrix
  Index missing = 0;      ///< columns of zeros: vectors that depend on others in their aggregate
};

/// Gram-Schmidt, twice. A vector that the ones before it explain up to 1e-8 of its length in the aggregate gets a
/// column of zeros in Q and a row of zeros in R, so that every aggregate has as many unknowns.
Tentative make_tentative(const HostContext& ctx, const Aggregates& aggregates, int block, const NearNull& near_null);

/// `a` without the blocks that are not kept, which are added to the diagonal block of their row, so that row sums
/// stay; but not where that would leave a diagonal entry less than a fifth of its value.
BlockCsr filter(const HostContext& ctx, const BlockCsr& a, const std::vector<unsigned char>& kept);

/// The pattern of (I - omega D^-1 A) Q: nodes by aggregates.
BlockPattern prolongator_pattern(const HostContext& ctx, const BlockPattern& a, const Aggregates& aggregates);

/// P = (I - omega D^-1 A) Q on its pattern, D the diagonal of A; rows with 0 there stay as in Q. `p` has its pattern
/// and room for its values. Where the pattern lacks an aggregate (see `narrowed`), its part goes to those that are
/// there, so that P R is what it would be.
void smooth_prolongator(const HostContext& ctx, const BlockCsr& a, double omega, const Aggregates& aggregates,
                        const Tentative& tentative, BlockCsr& p);

/// The pattern of P with no more than `width` blocks in a row: the largest ones, and that of the node's own
/// aggregate.
BlockPattern narrowed(const HostContext& ctx, const BlockCsr& p, const Aggregates& aggregates, Index width);

}  // namespace purlin::detail
