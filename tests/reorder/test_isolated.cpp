// SPDX-License-Identifier: Apache-2.0
// Vertices without neighbours: taken out by hand, put back level, and what partitions of such matrices look like.
#include "tests/catch.hpp"

#include "reorder/isolated.hpp"
#include "reorder/partitioners.hpp"
#include "reorder/pattern_graph.hpp"

#include "tests/reorder/patterns.hpp"

using namespace newel::detail;

namespace {

const Context<Space::host> ctx(2);

Graph graph_of(const HostCsr& a) { return make_pattern_graph(ctx, pattern_of(a), 1).graph; }

}  // namespace

TEST_CASE("Connected vertices are renumbered with their edges", "[reorder]") {
  // 0, 3 and 5 stand alone; 1 - 4, 4 - 2.
  const Graph whole = graph_of(pattern_matrix({{0}, {1, 4}, {2, 4}, {3}, {1, 2, 4}, {5}}, 6));
  CHECK(count_isolated(ctx, whole) == 3);
  const ConnectedGraph connected = without_isolated(ctx, whole);
  CHECK(connected.vertex == std::vector<Index>{1, 2, 4});
  const Graph& g = connected.graph;
  REQUIRE(g.vertices == 3);
  CHECK(std::vector<Offset>(g.begin.begin(), g.begin.end()) == std::vector<Offset>{0, 1, 2, 4});
  CHECK(std::vector<Index>(g.neighbour.begin(), g.neighbour.end()) == std::vector<Index>{2, 2, 0, 1});
  CHECK(std::vector<Index>(g.edge_weight.begin(), g.edge_weight.end()) == std::vector<Index>{2, 2, 2, 2});
  CHECK(g.rows() == 3);
}

TEST_CASE("Isolated vertices fill up what the others leave uneven", "[reorder]") {
  // Four isolated vertices, then a chain of six.
  const Graph whole =
      graph_of(pattern_matrix({{0}, {1}, {2}, {3}, {4, 5}, {4, 5, 6}, {5, 6, 7}, {6, 7, 8}, {7, 8, 9}, {8, 9}}, 10));
  const ConnectedGraph connected = without_isolated(ctx, whole);
  SECTION("to one level") {
    CHECK(with_isolated(whole, connected, {0, 0, 0, 1, 1, 2}, 3) == std::vector<Index>{0, 1, 2, 2, 0, 0, 0, 1, 1, 2});
  }
  SECTION("but not where a part is above it") {
    CHECK(with_isolated(whole, connected, {0, 0, 0, 0, 0, 0}, 3) == std::vector<Index>{1, 1, 2, 2, 0, 0, 0, 0, 0, 0});
  }
}

TEST_CASE("Rows without neighbours make up no parts of their own", "[reorder]") {
  const HostCsr a = behind_isolated_rows(fem_matrix("generate:diffusion:14"), 1500);
  for (const Partitioner method : {Partitioner::greedy, Partitioner::metis}) {
    INFO(name_of(method));
    PartitionOptions options;
    options.method = method;
    options.parts = 8;
    const Partition found = make_partition(ctx, pattern_of(a), options);
    CHECK(found.parts == 8);
    CHECK(found.report.method == name_of(method));
    CHECK(most_entries_over_mean(a, found.part_of_row, found.parts) < 1.12);
    CHECK(found.report.largest_part < 1.07 * a.rows / 8);
  }
}

TEST_CASE("A diagonal is cut into equal ranges by every method", "[reorder]") {
  HostCsr a = behind_isolated_rows(HostCsr{}, 30);
  for (const Partitioner method : {Partitioner::greedy, Partitioner::metis}) {
    PartitionOptions options;
    options.method = method;
    options.parts = 7;
    const Partition found = make_partition(ctx, pattern_of(a), options);
    CHECK(std::is_sorted(found.part_of_row.begin(), found.part_of_row.end()));
    CHECK(found.report.largest_part == 5);
    CHECK(found.report.smallest_part == 4);
  }
}

TEST_CASE("Levels of a graph of isolated vertices alone end in equal ranges", "[reorder]") {
  const Graph whole = graph_of(behind_isolated_rows(HostCsr{}, 30));
  const std::vector<Index> part = partition_by_levels(ctx, whole, 7, 5);
  CHECK(std::is_sorted(part.begin(), part.end()));
  for (Index p = 0; p < 7; ++p) CHECK(std::count(part.begin(), part.end(), p) == (p < 2 ? 5 : 4));
}
