// SPDX-License-Identifier: Apache-2.0
/// How much of a matrix's softest motions the rounding of single precision would hide. Internal.
#pragma once

#include <vector>

#include "precond/amg/cycle/hierarchy.hpp"

namespace newel::detail {

/// For the nodes of a level: the largest diagonal block (Frobenius norm) of the first level's nodes that belong to
/// each, and how many there are. 0 nodes where none does.
template <Space S>
struct FineScale {
  StageArray<double, S> largest, nodes;
};

/// A diagonal entry of no more than this share of the first level's is rounding, as that of a body that nothing
/// holds.
inline constexpr double least_energy = 1e-13;

/// Of the first level.
FineScale<Space::host> fine_scale(const HostContext& ctx, const HostBlockCsr& a);
FineScale<Space::device> fine_scale(const DeviceContext& ctx, const BlockCsr<Space::device>& a);
/// Of the level that `aggregates` of nodes with `scale` make.
FineScale<Space::host> coarse_scale(const HostContext& ctx, const Aggregates<Space::host>& aggregates,
                                    const FineScale<Space::host>& scale);
FineScale<Space::device> coarse_scale(const DeviceContext& ctx, const Aggregates<Space::device>& aggregates,
                                      const FineScale<Space::device>& scale);
/// The largest rounding of a coarse unknown's residual over its energy, both of a vector of length 1: `largest` over
/// the root of `nodes`, over a diagonal entry. Entries that are rounding themselves do not count.
double largest_rounding(const HostContext& ctx, const HostBlockCsr& a, const FineScale<Space::host>& scale);
double largest_rounding(const DeviceContext& ctx, const BlockCsr<Space::device>& a,
                        const FineScale<Space::device>& scale);
/// The diagonal of the dense inverse of `rows` rows.
std::vector<double> inverse_diagonal(const HostContext& ctx, const std::vector<double>& inverse, Index rows);
std::vector<double> inverse_diagonal(const DeviceContext& ctx, const Array<double, Space::device>& inverse,
                                     Index rows);

/// What a rounding of 1, relative to each entry of A, does to the energy of the softest vectors that the hierarchy
/// represents, relative to that energy: times the rounding of single precision it says whether a cycle in single
/// precision still knows them. A stiff body in soft surroundings has such a vector, the body's translation; a penalty
/// on single rows makes none. Roundings are taken for random, so that those of many nodes cancel in part. O(nodes).
template <Space S>
double rounding_of_soft_vectors(const Context<S>& ctx, const AmgHierarchy<S>& hierarchy);
/// The same of a hierarchy whose first matrix is a coarse one, to whose nodes `scale` belongs.
template <Space S>
double rounding_of_soft_vectors(const Context<S>& ctx, const AmgHierarchy<S>& hierarchy, FineScale<S> scale);

}  // namespace newel::detail
