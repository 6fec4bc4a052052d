// SPDX-License-Identifier: Apache-2.0
// The choice between the two numberings.
#include "precond/amg/setup/node_numbering.hpp"

#include <algorithm>

#include <newel/core/error.hpp>

namespace newel::detail {

Index sample_stride(Index nodes) {
  constexpr Index enough = 1024;
  return std::max<Index>(1, nodes / enough);
}

std::optional<NodeNumbering> numbering_said(AmgNumbering asked, int node_rows, Index rows) {
  if (node_rows == 0 || (asked == AmgNumbering::automatic && node_rows <= largest_node)) return std::nullopt;
  const bool by_component = asked == AmgNumbering::by_component && node_rows > 1;
  return NodeNumbering{node_rows, by_component ? rows / node_rows : 0};
}

NodeNumbering numbering_of_samples(const NodeSample (&samples)[largest_node + 1], Index rows, AmgNumbering asked,
                                   int node_rows) {
  if (node_rows > 0) {
    const NodeSample& found = samples[node_rows];
    return {node_rows, found.by_component < found.by_node ? rows / node_rows : 0};
  }
  for (int size = largest_node; size > 1; --size) {
    const NodeSample& found = samples[size];
    const auto block = static_cast<unsigned long long>(size) * static_cast<unsigned long long>(size);
    if (found.entries > 0 && found.entries == block * found.by_component) return {size, rows / size};
  }
  if (asked == AmgNumbering::by_component) {
    throw InputError(
        "AMG: the rows are numbered component by component, and the pattern does not show which rows form a node: "
        "pass the coordinates of the nodes");
  }
  return {};
}

}  // namespace newel::detail
