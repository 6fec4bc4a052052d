// SPDX-License-Identifier: Apache-2.0
/// The elements around each node, for elements of any number of nodes. Included by what makes meshes.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include <newel/core/parallel.hpp>

#include "apps/fem/mesh.hpp"

namespace newel::fem::detail {

/// For each of `nodes` nodes the elements that have it, ascending. Two passes over the elements per thread, each
/// keeping the nodes of its own range.
template <std::size_t N>
NodeTets node_elements(const Context<Space::host>& ctx, Index nodes,
                       const std::vector<std::array<Index, N>>& elements) {
  const auto count = static_cast<Index>(elements.size());
  NodeTets around{Array<Offset, Space::host>(ctx, Offset{nodes} + 1),
                  Array<Index, Space::host>(ctx, static_cast<Offset>(N) * count)};
  // cursor[i] first counts, then walks from the beginning of node i to its end, which is the beginning of i + 1.
  Offset* cursor = around.begin.data() + 1;
  around.begin[0] = 0;
  const auto for_corners = [&](Index first, Index last, auto&& f) {  // those whose node is in [first, last)
    for (Index e = 0; e < count; ++e) {
      for (const Index node : elements[static_cast<std::size_t>(e)]) {
        if (node >= first && node < last) f(node, e);
      }
    }
  };
  parallel_ranges(ctx, nodes, [&](Index first, Index last) {
    std::fill(cursor + first, cursor + last, 0);
    for_corners(first, last, [&](Index node, Index) { ++cursor[node]; });
  });
  Offset begin = 0;
  for (Index i = 0; i < nodes; ++i) {
    const Offset size = cursor[i];
    cursor[i] = begin;
    begin += size;
  }
  parallel_ranges(ctx, nodes, [&](Index first, Index last) {
    for_corners(first, last, [&](Index node, Index e) { around.tets[cursor[node]++] = e; });
  });
  return around;
}

}  // namespace newel::fem::detail
