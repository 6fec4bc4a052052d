// SPDX-License-Identifier: Apache-2.0
// Matching, refinement and limits on graphs.
#include "tests/catch.hpp"

#include "reorder/balance.hpp"
#include "reorder/coarsen.hpp"
#include "reorder/pattern_graph.hpp"
#include "reorder/refine.hpp"

#include "tests/reorder/patterns.hpp"

namespace {

constexpr Offset any_length = std::numeric_limits<Offset>::max();

detail::Graph graph_of(const Context<Space::host>& ctx, const HostCsr& a) {
  return std::move(detail::make_pattern_graph(ctx, pattern_of(a), 1).graph);
}

Offset total(const Array<Index, Space::host>& values) {
  return std::accumulate(values.begin(), values.end(), Offset{0});
}

Offset cut_of(const detail::Graph& g, const std::vector<Index>& part) {
  Offset cut = 0;
  for (Index v = 0; v < g.vertices; ++v) {
    for (Offset k = g.begin[v]; k < g.begin[v + 1]; ++k)
      cut += part[v] != part[g.neighbour[k]] ? g.edge_weight[k] : 0;
  }
  return cut;
}

std::vector<Index> sizes_of(const detail::Graph& g, const std::vector<Index>& part, Index parts) {
  std::vector<Index> rows(static_cast<std::size_t>(parts), 0);
  for (Index v = 0; v < g.vertices; ++v) rows[part[v]] += g.vertex_weight[v];
  return rows;
}

}  // namespace

TEST_CASE("The heaviest edge of a path is contracted first", "[reorder]") {
  // 0 - 1 = 2 - 3: the middle edge has two entries, the others one.
  const Context<Space::host> ctx(2);
  const HostCsr a = pattern_matrix({{1}, {2}, {1, 3}, {}}, 4);
  const auto level = detail::coarsen_once(ctx, graph_of(ctx, a), 10);
  CHECK(level.coarse_of_fine[1] == level.coarse_of_fine[2]);
  CHECK(level.graph.vertices == 3);
  CHECK(total(level.graph.vertex_weight) == 4);
  CHECK(total(level.graph.edge_weight) == 4);
  const auto limited = detail::coarsen_once(ctx, graph_of(ctx, a), 1);
  CHECK(limited.graph.vertices == 4);
}

TEST_CASE("Coarse graphs keep weights, and edges between their vertices", "[reorder]") {
  // The arrow has lists too long for the hash table.
  for (const HostCsr& a : {fem_matrix("generate:diffusion:9"), power_law_matrix(3000), arrow_matrix(3000)}) {
    const Context<Space::host> ctx(4);
    const detail::Graph fine = graph_of(ctx, a);
    const auto level = detail::coarsen_once(ctx, fine, 2);
    std::map<std::pair<Index, Index>, Offset> expected, found;
    std::vector<Index> weight(static_cast<std::size_t>(level.graph.vertices), 0);
    for (Index v = 0; v < fine.vertices; ++v) {
      weight[level.coarse_of_fine[v]] += fine.vertex_weight[v];
      for (Offset k = fine.begin[v]; k < fine.begin[v + 1]; ++k) {
        const Index u = level.coarse_of_fine[v], w = level.coarse_of_fine[fine.neighbour[k]];
        if (u != w) expected[{u, w}] += fine.edge_weight[k];
      }
    }
    for (Index v = 0; v < level.graph.vertices; ++v) {
      CHECK(level.graph.vertex_weight[v] == weight[v]);
      for (Offset k = level.graph.begin[v]; k < level.graph.begin[v + 1]; ++k) {
        found[{v, level.graph.neighbour[k]}] += level.graph.edge_weight[k];
      }
    }
    CHECK(*std::max_element(weight.begin(), weight.end()) == 2);
    CHECK(found == expected);
    CHECK(level.graph.neighbours() == static_cast<Offset>(expected.size()));
  }
}

TEST_CASE("A mesh shrinks by almost half in a round; rounds end with few vertices, or with nothing to match",
          "[reorder]") {
  const Context<Space::host> ctx(2);
  const detail::Graph mesh = graph_of(ctx, fem_matrix("generate:diffusion:14"));
  const auto levels = detail::coarsen(ctx, mesh, 4, 100, any_length);
  REQUIRE(levels.size() == 4);
  CHECK(levels[0].graph.vertices < 0.6 * mesh.vertices);
  // Levels that share their working memory are those that are made one by one.
  const detail::Graph* finer = &mesh;
  const auto most_weight = static_cast<Index>(3 * mesh.rows() / 100 + 1);
  for (const detail::CoarseLevel& level : levels) {
    const auto alone = detail::coarsen_once(ctx, *finer, most_weight);
    CHECK(to_vector(ctx, level.coarse_of_fine.cspan()) == to_vector(ctx, alone.coarse_of_fine.cspan()));
    CHECK(to_vector(ctx, level.graph.neighbour.cspan()) == to_vector(ctx, alone.graph.neighbour.cspan()));
    CHECK(to_vector(ctx, level.graph.edge_weight.cspan()) == to_vector(ctx, alone.graph.edge_weight.cspan()));
    finer = &level.graph;
  }
  CHECK(detail::coarsen(ctx, mesh, 4, mesh.vertices, any_length).empty());
  CHECK(detail::coarsen(ctx, mesh, 0, 1, any_length).empty());
  // Lists too long for METIS are shortened whatever was requested.
  CHECK_FALSE(detail::coarsen(ctx, mesh, 0, 1, mesh.neighbours() / 2).empty());
  CHECK(detail::coarsen(ctx, graph_of(ctx, arrow_matrix(1000)), 4, 1, any_length).empty());
  CHECK(detail::coarsen(ctx, graph_of(ctx, empty_matrix(100, 100)), 4, 1, any_length).empty());
}

TEST_CASE("Refinement never cuts more, fills no part above its limit and empties none", "[reorder]") {
  const Context<Space::host> ctx(3);
  const HostCsr a = fem_matrix("generate:diffusion:10");
  const detail::Graph g = graph_of(ctx, a);
  std::vector<Index> part(1000);
  Random random(5);
  for (Index& p : part) p = random.index(8);
  Offset cut = cut_of(g, part);
  for (int pass = 0; pass < 6; ++pass) {
    detail::refine(ctx, g, 8, 160, 1, part);
    CHECK(cut_of(g, part) <= cut);
    cut = cut_of(g, part);
    for (const Index rows : sizes_of(g, part, 8)) {
      CHECK(rows <= 160);
      CHECK(rows > 0);
    }
  }
  std::vector<Index> lone = {0, 1, 1, 1};
  detail::refine(ctx, graph_of(ctx, tridiagonal_matrix(4)), 2, 4, 5, lone);
  CHECK(sizes_of(graph_of(ctx, tridiagonal_matrix(4)), lone, 2)[0] > 0);
}

TEST_CASE("A part that is too large gives to its neighbours, and is split where they are full", "[reorder]") {
  const Context<Space::host> ctx(1);
  const detail::Graph path = graph_of(ctx, tridiagonal_matrix(12));
  std::vector<Index> part = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1};
  CHECK(detail::enforce_limits(ctx, path, 2, 6, part) == 2);
  CHECK(part == std::vector<Index>{0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1});
  part = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1};
  CHECK(detail::enforce_limits(ctx, path, 2, 4, part) == 3);
  CHECK(sizes_of(path, part, 3) == std::vector<Index>{4, 4, 4});
  CHECK(cut_of(path, part) == 2 * 2 * 2);
}

TEST_CASE("An empty part takes half of the largest", "[reorder]") {
  const Context<Space::host> ctx(1);
  const detail::Graph path = graph_of(ctx, tridiagonal_matrix(8));
  std::vector<Index> part = {0, 0, 2, 2, 2, 2, 2, 2};
  CHECK(detail::enforce_limits(ctx, path, 4, 8, part) == 4);
  const auto sizes = sizes_of(path, part, 4);
  CHECK(*std::min_element(sizes.begin(), sizes.end()) >= 1);
  CHECK(*std::max_element(sizes.begin(), sizes.end()) <= 3);
  CHECK(cut_of(path, part) == 3 * 2 * 2);
}
