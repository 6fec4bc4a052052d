// SPDX-License-Identifier: Apache-2.0
/// Nodes that flat elements tie to each other, and the pattern on which FSAI smooths them together. Internal.
#pragma once

#include <optional>
#include <vector>

#include "precond/amg/blocks/block_csr.hpp"
#include "precond/amg/setup/strength.hpp"

namespace newel::detail {

/// A node is tied where |A_ij|^2 / (|A_ii| |A_jj|), in Frobenius norms, sums to at least this over its neighbours j:
/// the first of these that ties few nodes, if one does. Sound tetrahedra give 0.16 for diffusion and 0.3 for
/// elasticity, for which the lower one adds nodes and saves no iteration; two nodes at an edge that is far shorter
/// than the others around it 1, four that a sliver dominates 3.
inline Span<const double, Space::host> tied_couplings(int node_rows) {
  static constexpr double all[] = {0.45, 0.5};
  return node_rows == 1 ? Span<const double, Space::host>(all, 2) : Span<const double, Space::host>(all + 1, 1);
}

/// For each node, whether it is tied by that coupling. Rounded to 16 bits before it is compared. `diagonal`:
/// diagonal_norms.
std::vector<unsigned char> tied_nodes(const HostContext& ctx, const HostBlockCsr& a,
                                      const std::vector<double>& diagonal, double coupling);

/// How strongly a block ties two nodes: |A_ij| / sqrt(|A_ii| |A_jj|), no more than 1, and more than 0 for every block
/// that is not zero. Rounded to 16 bits, so that paths are compared alike whatever the order of sums. `scale` =
/// |A_ii| |A_jj|.
NEWEL_HD float tie_of(double squared_norm, double scale) {
  constexpr double least = 1.0 / (1 << 20);
  if (scale == 0 || squared_norm >= scale) return 1;
  const double tie = rounded_to_16_bits(sqrt(squared_norm / scale));
  return static_cast<float>(tie > least ? tie : least);
}

/// The sum of a node's paths, with those that lead to it over a node whose sum is `before`. Products are exact in
/// double, so the result does not depend on whether a compiler contracts them with the sum.
NEWEL_HD float with_paths_over(float paths, float before, float tie) {
  constexpr double most = 1e30;
  const double sum = paths + static_cast<double>(before) * tie;
  return static_cast<float>(sum < most ? sum : most);
}

/// Neighbourhoods in which errors remain that couplings to single neighbours do not show: refined flat elements allow
/// motions, such as a linear one along the element, that have little energy beside the diagonal and that a sparse
/// smoother damps only where it sees the group. Groups consist of tied nodes and their neighbours, connected. The
/// result has, for each node of a group, what is nearest to it in the group, or what it is among the nearest of: all
/// of the group where that has no more than `reached_rows`. Symmetric where the pattern of `a` is. None where no
/// nodes are tied, or so many that what ties them are not single elements. O(entries) besides the groups. On a device
/// waits for the stream, once where there is no such pattern.
///
/// The nearest nodes are found one by one, always the one with the largest sum over all paths that lead to it over
/// nodes found before, where a path counts the product of its ties; of equal sums the one with the smallest number.
/// No more than most_met() nodes are compared. The sums are terms of the series of the scaled inverse, whose large
/// entries FSAI needs: on heart_human60 of elasticity, refined twice, they save half of the iterations that a search
/// breadth first along large ties leaves.
///
/// On the host other nodes stand alone: the pattern of `a` would save them no iteration for what its setup takes. On
/// a device, where that takes little and each product a launch, the result has that pattern too, so that half as many
/// steps of the smoother do: groups alone, with all of the degree, take a tenth to a third longer in a solve there
/// (H200, 12 meshes).
std::optional<HostBlockPattern> tied_pattern(const HostContext& ctx, const HostBlockCsr& a);
std::optional<BlockPattern<Space::device>> tied_pattern(const DeviceContext& ctx, const BlockCsr<Space::device>& a);

/// Whether nodes outside of groups stand alone there.
template <Space S>
inline constexpr bool groups_alone = S == Space::host;

/// Whether so many of `rows` nodes are tied that there is a pattern.
inline bool few_are_tied(Offset tied, Index rows) {
  constexpr double most_tied = 0.05;
  return tied > 0 && static_cast<double>(tied) <= most_tied * rows;
}

/// How many rows of its group a row sees: 48 to 256, and no more than leaves FSAI's local problems, m^3 / 3
/// operations for a node of m rows in sight, at 5,000 operations for each of all `rows`, of which `members` nodes are
/// in groups.
Index reached_rows(Index rows, Index members);
inline constexpr Index most_reached = 256;
/// Nodes that are looked at to find `most` that are nearest to one: six for each of few, and four for each of the
/// most that can be asked for. Tetrahedra take about three.
inline constexpr int least_met = 512;
inline int most_met(Index most) { return 6 * most <= least_met ? least_met : 4 * most_reached; }

/// The same in nodes of `a`, at least 2.
template <Space S>
Index reached_nodes(const BlockCsr<S>& a, Index members) {
  const Index nodes = reached_rows(static_cast<Index>(a.scalar_rows()), members) / a.row_block;
  return nodes < 2 ? 2 : nodes;
}

}  // namespace newel::detail
