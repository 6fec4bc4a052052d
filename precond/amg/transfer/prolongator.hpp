// SPDX-License-Identifier: Apache-2.0
/// Prolongators of smoothed aggregation: the near-null space cut into aggregates, then smoothed (P. Vanek, J. Mandel,
/// M. Brezina, "Algebraic multigrid by smoothed aggregation for second and fourth order elliptic problems", Computing
/// 56, 1996). Internal.
#pragma once

#include <vector>

#include "precond/amg/setup/aggregation.hpp"
#include "precond/amg/transfer/near_null.hpp"

namespace newel::detail {

/// In each aggregate an orthonormal basis Q of the near-null vectors there, and the factor R with Q R = B.
template <Space S>
struct Tentative {
  StageArray<double, S> q;  ///< rows x vectors, 0 in nodes left out
  NearNull<S> coarse;       ///< R, vectors x vectors for each aggregate: the near-null space of the coarse matrix
  Index missing = 0;        ///< columns of zeros: vectors that depend on others in their aggregate
};

/// The near-null vectors, 0 in nodes that are left out.
std::vector<double> vectors_in_aggregates(const HostContext& ctx, const Aggregates<Space::host>& aggregates,
                                          int block, const NearNull<Space::host>& near_null);
Array<double, Space::device> vectors_in_aggregates(const DeviceContext& ctx,
                                                   const Aggregates<Space::device>& aggregates, int block,
                                                   const NearNull<Space::device>& near_null);

/// Gram-Schmidt, twice. A vector that the ones before it explain up to 1e-8 of its length in the aggregate gets a
/// column of zeros in Q and a row of zeros in R, so that every aggregate has as many unknowns.
Tentative<Space::host> make_tentative(const HostContext& ctx, const Aggregates<Space::host>& aggregates, int block,
                                      const NearNull<Space::host>& near_null);
Tentative<Space::device> make_tentative(const DeviceContext& ctx, const Aggregates<Space::device>& aggregates,
                                        int block, const NearNull<Space::device>& near_null);
inline constexpr double dependent_length = 1e-8;

/// `a` without the blocks that are not kept, which are added to the diagonal block of their row, so that row sums
/// stay; but not where that would leave a diagonal entry less than a fifth of its value.
BlockCsr<Space::device> filter(const DeviceContext& ctx, const BlockCsr<Space::device>& a,
                               const Array<unsigned char, Space::device>& kept);
inline constexpr double least_lumped_share = 0.2;

/// The pattern of P = (I - omega D^-1 A) Q, nodes by aggregates, with no more than `width` blocks in a row: the
/// largest ones, and that of the node's own aggregate. On the host A is filtered on the way, as `filter` does: `kept`
/// says which of its blocks stay, all of them where it is empty. On a device it has been filtered.
HostBlockPattern smoothed_pattern(const HostContext& ctx, const HostBlockCsr& a,
                                  const std::vector<unsigned char>& kept, double omega,
                                  const Aggregates<Space::host>& aggregates, const Tentative<Space::host>& tentative,
                                  Index width);

/// P = (I - omega D^-1 A) Q on its pattern, D the diagonal of A; rows with 0 there stay as in Q. `p` has its pattern
/// and room for its values. Where the pattern lacks an aggregate (see `smoothed_pattern`), its part goes to those
/// that are there, so that P R is what it would be. `Aggregates::others` are never in the pattern.
void smooth_prolongator(const HostContext& ctx, const HostBlockCsr& a, const std::vector<unsigned char>& kept,
                        double omega, const Aggregates<Space::host>& aggregates,
                        const Tentative<Space::host>& tentative, HostBlockCsr& p);
void smooth_prolongator(const DeviceContext& ctx, const BlockCsr<Space::device>& a, double omega,
                        const Aggregates<Space::device>& aggregates, const Tentative<Space::device>& tentative,
                        BlockCsr<Space::device>& p);

/// That pattern with the values of `smooth_prolongator`, bit for bit, in one pass over A.
void make_prolongator(const HostContext& ctx, const HostBlockCsr& a, const std::vector<unsigned char>& kept,
                      double omega, const Aggregates<Space::host>& aggregates,
                      const Tentative<Space::host>& tentative, Index width, HostBlockCsr& p);
void make_prolongator(const DeviceContext& ctx, const BlockCsr<Space::device>& a, double omega,
                      const Aggregates<Space::device>& aggregates, const Tentative<Space::device>& tentative,
                      Index width, BlockCsr<Space::device>& p);

}  // namespace newel::detail
