// SPDX-License-Identifier: Apache-2.0
// Locally dominant matching, then contraction with a small hash table per thread.
#include "reorder/coarsen.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>

#include <newel/core/parallel.hpp>
#include "core/threads/per_thread.hpp"
#include "reorder/exclusive_sum.hpp"
#include "reorder/numbering.hpp"

namespace newel::detail {
namespace {

constexpr int chunk_vertices = 256;
// Each pass matches about half of what can still be matched.
constexpr int matching_passes = 6;

// The same from both ends: among equal weights, whom to prefer.
std::uint64_t edge_hash(Index u, Index v) {
  std::uint64_t h =
      (std::uint64_t{static_cast<std::uint32_t>(std::min(u, v))} << 32) | static_cast<std::uint32_t>(std::max(u, v));
  h *= 0x9e3779b97f4a7c15u;
  h ^= h >> 32;
  h *= 0xbf58476d1ce4e5b9u;
  return h ^ (h >> 29);
}

// The heaviest edge to a free neighbour that is not too heavy itself; -1 where there is none.
Index favourite(const Graph& g, const Array<Index, Space::host>& mate, Index v, Index most_weight) {
  Index best = -1, best_weight = 0;
  std::uint64_t best_hash = 0;
  for (Offset k = g.begin[v]; k < g.begin[v + 1]; ++k) {
    const Index u = g.neighbour[k];
    const Index weight = g.edge_weight[k];
    if (weight < best_weight || mate[u] >= 0) continue;
    if (Offset{g.vertex_weight[u]} + g.vertex_weight[v] > most_weight) continue;
    const std::uint64_t hash = edge_hash(u, v);
    if (weight > best_weight || hash > best_hash || (hash == best_hash && u < best)) {
      best = u;
      best_weight = weight;
      best_hash = hash;
    }
  }
  return best;
}

// mate[v] of every vertex, itself where it stays alone.
Array<Index, Space::host> match(const Context<Space::host>& ctx, const Graph& g, Index most_weight) {
  Array<Index, Space::host> mate(ctx, g.vertices), choice(ctx, g.vertices);
  parallel_for(ctx, g.vertices, [&](Index v) { mate[v] = -1; });
  for (int pass = 0; pass < matching_passes; ++pass) {
    parallel_blocks(ctx, g.vertices, chunk_vertices, [&](Index v) {
      // What was heaviest among more neighbours and is still free is so among fewer; where there was none, none
      // comes.
      if (pass > 0 && (choice[v] < 0 || (mate[v] < 0 && mate[choice[v]] < 0))) return;
      choice[v] = mate[v] >= 0 ? -1 : favourite(g, mate, v, most_weight);
    });
    parallel_for(ctx, g.vertices, [&](Index v) {
      if (choice[v] >= 0 && choice[choice[v]] == v) mate[v] = choice[v];
    });
  }
  parallel_for(ctx, g.vertices, [&](Index v) { mate[v] = mate[v] < 0 ? v : mate[v]; });
  return mate;
}

// A neighbour with the weight of its edge, in one number that sorts by neighbour.
std::uint64_t packed(Index vertex, Index weight) {
  return std::uint64_t{static_cast<std::uint32_t>(vertex)} << 32 | static_cast<std::uint32_t>(weight);
}
Index vertex_of(std::uint64_t edge) { return static_cast<Index>(edge >> 32); }
Index weight_of(std::uint64_t edge) { return static_cast<Index>(edge & 0xffffffffu); }

Index sum_of(Offset a, Offset b) {
  return static_cast<Index>(std::min<Offset>(a + b, std::numeric_limits<Index>::max()));
}

// Sorts the edges and adds up those to one neighbour; returns how many are left.
Offset sum_by_sorting(std::uint64_t* first, std::uint64_t* last) {
  std::sort(first, last);
  std::uint64_t* out = first;
  for (std::uint64_t* from = first; from != last; ++out) {
    *out = *from;
    while (++from != last && vertex_of(*from) == vertex_of(*out)) {
      *out = packed(vertex_of(*out), sum_of(weight_of(*out), weight_of(*from)));
    }
  }
  return out - first;
}

// Does the same for short lists, several times faster: a hash table of places in the list, which stays in the
// processor's first cache and is never cleared. Neighbours stay in the order in which they first came.
class SumByHashing {
 public:
  static constexpr Offset longest_list = 512;

  Offset operator()(std::uint64_t* first, std::uint64_t* last) {
    if (++list_ == 0) {
      slots_.fill({});
      list_ = 1;
    }
    std::uint64_t* out = first;
    for (std::uint64_t* edge = first; edge != last; ++edge) {
      const Index vertex = vertex_of(*edge);
      std::uint32_t at = (static_cast<std::uint32_t>(vertex) * 0x9e3779b1u) >> (32 - slot_bits);
      while (slots_[at].list == list_ && vertex_of(first[slots_[at].place]) != vertex) at = (at + 1) % slots;
      if (slots_[at].list == list_) {
        std::uint64_t& sum = first[slots_[at].place];
        sum = packed(vertex, sum_of(weight_of(sum), weight_of(*edge)));
      } else {
        slots_[at] = {list_, static_cast<std::uint32_t>(out - first)};
        *out++ = *edge;
      }
    }
    return out - first;
  }

 private:
  static constexpr int slot_bits = 10;
  static constexpr std::uint32_t slots = 1u << slot_bits;
  static_assert(slots >= 2 * longest_list, "half of the slots stay free");

  struct Slot {
    std::uint32_t list = 0;  // the list that the place belongs to
    std::uint32_t place = 0;
  };
  std::array<Slot, slots> slots_{};
  std::uint32_t list_ = 0;
};

Graph contract(const Context<Space::host>& ctx, const Graph& fine, const Array<Index, Space::host>& mate,
               const Array<Index, Space::host>& first, const Array<Index, Space::host>& coarse_of_fine,
               EdgeRoom& edges) {
  Graph g;
  g.vertices = static_cast<Index>(first.size());
  g.begin = Array<Offset, Space::host>(ctx, Offset{g.vertices} + 1);
  g.vertex_weight = Array<Index, Space::host>(ctx, g.vertices);
  // Room for the edges of both members, summed up in place and then moved together.
  Array<Offset, Space::host> room(ctx, Offset{g.vertices} + 1);
  parallel_for(ctx, g.vertices, [&](Index c) {
    const Index v = first[c], w = mate[v];
    room[c] = fine.begin[v + 1] - fine.begin[v] + (w != v ? fine.begin[w + 1] - fine.begin[w] : 0);
    g.vertex_weight[c] = fine.vertex_weight[v] + (w != v ? fine.vertex_weight[w] : 0);
  });
  room[g.vertices] = g.begin[g.vertices] = 0;
  exclusive_sum(ctx, room);
  if (edges.size() < room[g.vertices]) edges = EdgeRoom(ctx, room[g.vertices]);
  PerThread<SumByHashing> sum_by_hashing(ctx);
  parallel_blocks(ctx, g.vertices, chunk_vertices, [&](Index c, int member) {
    std::uint64_t* list = edges.data() + room[c];
    std::uint64_t* last = list;
    const auto add_edges_of = [&](Index v) {
      for (Offset k = fine.begin[v]; k < fine.begin[v + 1]; ++k) {
        const Index other = coarse_of_fine[fine.neighbour[k]];
        if (other != c) *last++ = packed(other, fine.edge_weight[k]);
      }
    };
    add_edges_of(first[c]);
    if (mate[first[c]] != first[c]) add_edges_of(mate[first[c]]);
    const bool is_short = last - list <= SumByHashing::longest_list;
    g.begin[c] = is_short ? sum_by_hashing.of(member)(list, last) : sum_by_sorting(list, last);
  });
  exclusive_sum(ctx, g.begin);
  g.neighbour = Array<Index, Space::host>(ctx, g.begin[g.vertices]);
  g.edge_weight = Array<Index, Space::host>(ctx, g.begin[g.vertices]);
  parallel_blocks(ctx, g.vertices, chunk_vertices, [&](Index c) {
    const std::uint64_t* from = edges.data() + room[c];
    for (Offset k = g.begin[c]; k < g.begin[c + 1]; ++k, ++from) {
      g.neighbour[k] = vertex_of(*from);
      g.edge_weight[k] = weight_of(*from);
    }
  });
  return g;
}

}  // namespace

CoarseLevel coarsen_once(const Context<Space::host>& ctx, const Graph& fine, Index most_weight) {
  EdgeRoom edges;
  return coarsen_once(ctx, fine, most_weight, edges);
}

CoarseLevel coarsen_once(const Context<Space::host>& ctx, const Graph& fine, Index most_weight, EdgeRoom& edges) {
  const Array<Index, Space::host> mate = match(ctx, fine, most_weight);
  CoarseLevel level;
  const auto leader = [&](Index v) { return std::min(v, mate[v]); };
  const Array<Index, Space::host> first = number_groups(ctx, fine.vertices, leader, level.coarse_of_fine);
  level.graph = contract(ctx, fine, mate, first, level.coarse_of_fine, edges);
  return level;
}

std::vector<CoarseLevel> coarsen(const Context<Space::host>& ctx, const Graph& graph, int rounds,
                                 Index fewest_vertices, Offset most_neighbours) {
  std::vector<CoarseLevel> levels;
  const auto most_weight = static_cast<Index>(std::min<Offset>(
      3 * graph.rows() / std::max<Index>(fewest_vertices, 1) + 1, std::numeric_limits<Index>::max()));
  const Graph* coarsest = &graph;
  EdgeRoom edges;
  for (int round = 0;; ++round) {
    const bool wanted = round < rounds && coarsest->vertices / 2 >= fewest_vertices;
    if (!wanted && coarsest->neighbours() <= most_neighbours) break;
    CoarseLevel level = coarsen_once(ctx, *coarsest, most_weight, edges);
    if (level.graph.vertices > coarsest->vertices - coarsest->vertices / 10) break;
    levels.push_back(std::move(level));
    coarsest = &levels.back().graph;
  }
  return levels;
}

}  // namespace newel::detail
