// SPDX-License-Identifier: Apache-2.0
// The graph of A + A^T with merged rows, on hand-made patterns and against a map of all edges.
#include "tests/catch.hpp"

#include "reorder/pattern_graph.hpp"

#include "tests/reorder/patterns.hpp"

namespace {

std::vector<Index> vector_of(const Array<Index, Space::host>& a) { return {a.begin(), a.end()}; }

std::uint64_t same_hash_for_all(const Index*, Offset) { return 7; }
std::uint64_t hash_of_length(const Index*, Offset count) { return static_cast<std::uint64_t>(count); }

using Edges = std::map<std::pair<Index, Index>, Offset>;

Edges edges_of(const detail::Graph& g) {
  Edges edges;
  for (Index v = 0; v < g.vertices; ++v) {
    for (Offset k = g.begin[v]; k < g.begin[v + 1]; ++k) {
      const bool fresh = edges.insert({{v, g.neighbour[k]}, g.edge_weight[k]}).second;
      CHECK(fresh);
    }
  }
  return edges;
}

// Entry by entry, for given vertices.
Edges expected_edges(const HostCsr& a, const std::vector<Index>& vertex_of_row) {
  Edges edges;
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      const Index u = vertex_of_row[i], v = vertex_of_row[a.col[k]];
      if (u == v) continue;
      ++edges[{u, v}];
      ++edges[{v, u}];
    }
  }
  return edges;
}

// Classes numbered by their first row; empty rows alone; by comparing columns in a map.
std::vector<Index> expected_vertices(const HostCsr& a) {
  std::map<std::vector<Index>, Index> known;
  std::vector<Index> vertex_of_row;
  Index count = 0;
  for (Index i = 0; i < a.rows; ++i) {
    const std::vector<Index> columns(a.col.begin() + a.row_ptr[i], a.col.begin() + a.row_ptr[i + 1]);
    const auto [at, fresh] = known.insert({columns, count});
    vertex_of_row.push_back(fresh || columns.empty() ? count++ : at->second);
  }
  return vertex_of_row;
}

}  // namespace

TEST_CASE("The graph of a small pattern is what one draws by hand", "[reorder]") {
  // Rows 0 and 2 have the pattern {0, 2, 3}; row 1 is empty; row 3 reaches 1.
  const HostCsr a = pattern_matrix({{0, 2, 3}, {}, {0, 2, 3}, {1, 3}}, 4);
  const auto g = detail::make_pattern_graph(Context<Space::host>(2), pattern_of(a), 8);
  CHECK(vector_of(g.vertex_of_row) == std::vector<Index>{0, 1, 0, 2});
  CHECK(g.graph.vertices == 3);
  CHECK(vector_of(g.graph.vertex_weight) == std::vector<Index>{2, 1, 1});
  CHECK(edges_of(g.graph) == Edges{{{0, 2}, 2}, {{2, 0}, 2}, {{1, 2}, 1}, {{2, 1}, 1}});
}

TEST_CASE("The unknowns of a node become one vertex of the node's graph", "[reorder]") {
  const Context<Space::host> ctx(3);
  const HostCsr nodes = fem_matrix("generate:diffusion:5");
  const auto of_nodes = detail::make_pattern_graph(ctx, pattern_of(nodes), 8);
  REQUIRE(of_nodes.graph.vertices == 125);
  for (const bool by_component : {false, true}) {
    HostCsr a = blown_up(nodes, 3);
    if (by_component) {  // all x, then all y, then all z
      std::vector<Index> new_of_old;
      for (Index i = 0; i < a.rows; ++i) new_of_old.push_back(i % 3 * nodes.rows + i / 3);
      a = renumbered(a, new_of_old);
    }
    const auto g = detail::make_pattern_graph(ctx, pattern_of(a), 8);
    CHECK(g.graph.vertices == 125);
    Edges scaled = edges_of(of_nodes.graph);
    for (auto& [ends, weight] : scaled) weight *= 9;
    CHECK(edges_of(g.graph) == scaled);
  }
}

TEST_CASE("Graphs of awkward patterns agree with a map of all entries", "[reorder]") {
  for (const auto& [name, a] : awkward_square_matrices()) {
    if (a.rows > 3000) continue;
    INFO(name);
    const std::vector<Index> expected = expected_vertices(a);
    for (const int threads : {1, 4}) {
      const auto g = detail::make_pattern_graph(Context<Space::host>(threads), pattern_of(a), a.rows + 1);
      CHECK(vector_of(g.vertex_of_row) == expected);
      CHECK(edges_of(g.graph) == expected_edges(a, expected));
    }
  }
}

TEST_CASE("Rows with the same hash are merged only where their patterns are equal", "[reorder]") {
  const HostCsr a = blown_up(dominant_matrix(60), 2);
  const std::vector<Index> expected = expected_vertices(a);
  for (const auto hash : {same_hash_for_all, hash_of_length}) {
    const auto classes = detail::find_row_classes(Context<Space::host>(4), pattern_of(a), 8, hash);
    CHECK(vector_of(classes.class_of_row) == expected);
    CHECK(classes.count == 60);
  }
}

TEST_CASE("A vertex stands for no more rows than allowed", "[reorder]") {
  MapRows rows(10);
  for (auto& row : rows) row[0] = row[9] = 1;
  const auto classes = detail::find_row_classes(Context<Space::host>(1), pattern_of(from_rows(10, rows)), 4);
  CHECK(vector_of(classes.class_of_row) == std::vector<Index>{0, 0, 0, 0, 1, 1, 1, 1, 2, 2});
  CHECK(vector_of(classes.rows) == std::vector<Index>{4, 4, 2});
  CHECK(vector_of(classes.first_row) == std::vector<Index>{0, 4, 8});
}
