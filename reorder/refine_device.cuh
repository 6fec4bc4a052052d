// SPDX-License-Identifier: Apache-2.0
/// Better parts on the device, and what they cost. Internal.
#pragma once

#include "reorder/graph_device.cuh"

namespace newel::detail {

namespace {

// The part that a vertex had better be in, or -1. Parts with fewer rows than `least_rows` keep theirs: moved all at
// once, the last few would leave the part empty. up: only parts of larger numbers, else only of smaller ones, so that
// no two neighbours change places. `inflow` becomes the weight of those that want to come.
template <class View>
__global__ void __launch_bounds__(vertex_threads)
    propose_kernel(View g, const Index* part, const Index* rows, Index least_rows, Index most_rows, bool up,
                   Index* choice, Index* inflow) {
  for_each_vertex(g.vertices, [&](Index v) {
    choice[v] = -1;
    const Index own = part[v], weight = g.weight(v);
    if (rows[own] < least_rows) return;
    const Offset first = g.first(v);
    const int degree = g.degree(v);
    Offset own_ties = 0;
    bool outside = false;
    for (int k = 0; k < degree; ++k) {
      const Index u = g.neighbour(first, k);
      if (part[u] != own) {
        outside = true;
      } else if (u != v) {
        own_ties += g.edge(first, k);
      }
    }
    Index best = -1;
    Offset best_ties = 0;
    for (int k = 0; outside && k < degree; ++k) {
      const Index other = part[g.neighbour(first, k)];
      if (other == own || (other > own) != up || Offset{rows[other]} + weight > most_rows) continue;
      bool met = false;
      Offset ties = 0;
      for (int t = 0; t < degree && !met; ++t) {
        if (part[g.neighbour(first, t)] != other) continue;
        met = t < k;
        ties += g.edge(first, t);
      }
      if (met) continue;
      const bool better = best < 0                    ? true
                          : ties != best_ties         ? ties > best_ties
                          : rows[other] != rows[best] ? rows[other] < rows[best]
                                                      : other < best;
      if (better) {
        best = other;
        best_ties = ties;
      }
    }
    if (best < 0) return;
    if (best_ties < own_ties || (best_ties == own_ties && rows[best] + weight >= rows[own])) return;
    choice[v] = best;
    atomicAdd(&inflow[best], weight);
  });
}

// Moves those that there is room for: all, or a share of them by their mixed numbers. `rows` are as they were before,
// `next` as they become.
template <class View>
__global__ void __launch_bounds__(vertex_threads)
    move_kernel(View g, const Index* choice, const Index* inflow, const Index* rows, Index most_rows,
                std::uint32_t salt, Index* part, Index* next) {
  for_each_vertex(g.vertices, [&](Index v) {
    const Index to = choice[v];
    if (to < 0) return;
    const Index room = most_rows - rows[to], wanted = inflow[to];
    if (wanted > room && static_cast<Index>(mixed(static_cast<std::uint32_t>(v) ^ salt) %
                                            static_cast<std::uint32_t>(wanted)) >= room) {
      return;
    }
    const Index weight = g.weight(v);
    atomicAdd(&next[to], weight);
    atomicAdd(&next[part[v]], -weight);
    part[v] = to;
  });
}

template <class View>
__global__ void __launch_bounds__(vertex_threads) rows_of_parts_kernel(View g, const Index* part, Index* rows) {
  for_each_vertex(g.vertices, [&](Index v) { atomicAdd(&rows[part[v]], g.weight(v)); });
}

__global__ void __launch_bounds__(vertex_threads)
    spread_kernel(Index vertices, const Index* coarse, const Index* coarse_of_fine, Index* fine) {
  for_each_vertex(vertices, [&](Index v) { fine[v] = coarse[coarse_of_fine[v]]; });
}

// For each vertex, the parts other than its own around it: each reads the vertex from outside, the graph being
// symmetric.
template <class View>
__global__ void __launch_bounds__(vertex_threads)
    halo_kernel(View g, const Index* part, Index* halo, unsigned long long* cut) {
  for_each_vertex(g.vertices, [&](Index v) {
    const Index own = part[v];
    const Offset first = g.first(v);
    const int degree = g.degree(v);
    unsigned long long others = 0;
    for (int k = 0; k < degree; ++k) {
      const Index other = part[g.neighbour(first, k)];
      if (other == own) continue;
      ++others;
      bool met = false;
      for (int t = 0; t < k && !met; ++t) met = part[g.neighbour(first, t)] == other;
      if (!met) atomicAdd(&halo[other], 1);
    }
    if (others > 0) atomicAdd(cut, others);
  });
}

}  // namespace

/// `passes` times up and down: vertices move to the part that they are tied to most, all at once, where less is cut
/// or sizes come closer. Parts stay below `most_rows` but for what chance brings where more want to come than there
/// is room for. Symmetric graphs; the same on every run. Queued, nothing is waited for.
template <class View>
void refine_on_device(const Context<Space::device>& ctx, const View& g, Index parts, Index most_rows, int passes,
                      Array<Index, Space::device>& part) {
  const cudaStream_t stream = ctx.state().stream();
  const unsigned blocks = vertex_blocks(ctx, g.vertices);
  Array<Index, Space::device> choice(ctx, g.vertices), inflow(ctx, parts), rows(ctx, parts), next(ctx, parts);
  NEWEL_CHECK_CUDA(cudaMemsetAsync(rows.data(), 0, rows.bytes(), stream));
  rows_of_parts_kernel<<<blocks, vertex_threads, 0, stream>>>(g, part.data(), rows.data());
  NEWEL_CHECK_LAUNCH();
  for (int pass = 0; pass < 2 * passes; ++pass) {
    const bool up = pass % 2 == 0;
    const std::uint32_t salt = 0x9e3779b9u * static_cast<std::uint32_t>(pass + 1);
    NEWEL_CHECK_CUDA(cudaMemsetAsync(inflow.data(), 0, inflow.bytes(), stream));
    copy<Index>(ctx, rows.cspan(), next.span());
    propose_kernel<<<blocks, vertex_threads, 0, stream>>>(g, part.data(), rows.data(), most_rows / 4, most_rows, up,
                                                          choice.data(), inflow.data());
    NEWEL_CHECK_LAUNCH();
    move_kernel<<<blocks, vertex_threads, 0, stream>>>(g, choice.data(), inflow.data(), rows.data(), most_rows, salt,
                                                       part.data(), next.data());
    NEWEL_CHECK_LAUNCH();
    rows.swap(next);
  }
}

}  // namespace newel::detail
