// SPDX-License-Identifier: Apache-2.0
// Strength of connection, independent sets and aggregates of AMG, against plain searches.
#include "precond/amg/setup/aggregation.hpp"

#include "tests/catch.hpp"
#include "tests/precond/amg_support.hpp"

namespace {

std::vector<std::set<Index>> neighbours_of(const detail::HostBlockPattern& graph) {
  std::vector<std::set<Index>> result(static_cast<std::size_t>(graph.rows));
  for (Index i = 0; i < graph.rows; ++i) {
    result[i].insert(graph.col.data() + graph.row_ptr[i], graph.col.data() + graph.row_ptr[i + 1]);
  }
  return result;
}

// Nodes within two edges of i, i among them, along eligible nodes.
std::set<Index> within_two(const std::vector<std::set<Index>>& graph, const std::vector<unsigned char>& eligible,
                           Index i) {
  std::set<Index> result = {i};
  for (const Index j : graph[i]) {
    if (!eligible[j]) continue;
    result.insert(j);
    for (const Index k : graph[j]) {
      if (eligible[k]) result.insert(k);
    }
  }
  return result;
}

void require_independent_and_maximal(const detail::HostBlockPattern& graph,
                                     const std::vector<unsigned char>& eligible, const std::vector<Index>& set) {
  const auto neighbours = neighbours_of(graph);
  const std::set<Index> members(set.begin(), set.end());
  REQUIRE(members.size() == set.size());
  for (Index i = 0; i < graph.rows; ++i) {
    if (!eligible[i]) {
      REQUIRE(members.count(i) == 0);
      continue;
    }
    int near = 0;
    for (const Index j : within_two(neighbours, eligible, i)) near += members.count(j) != 0 ? 1 : 0;
    INFO("node " << i);
    REQUIRE(near >= 1);
    if (members.count(i) != 0) REQUIRE(near == 1);
  }
}

std::vector<NamedMatrix> graphs() {
  std::vector<NamedMatrix> all;
  all.push_back({"path", tridiagonal_matrix(40)});
  all.push_back({"star", arrow_matrix(60)});
  all.push_back({"diffusion", fem_matrix("generate:diffusion:10")});
  all.push_back({"two pieces", pieces(neumann_grid(7, 9), tridiagonal_matrix(13))});
  all.push_back({"not symmetric", dominant_matrix(300)});
  all.push_back({"one", diagonal_matrix(1)});
  return all;
}

}  // namespace

TEST_ON_HOST("A set of AMG's roots is independent at distance two, and maximal", "[amg]") {
  for (const NamedMatrix& m : graphs()) {
    INFO(m.name);
    const detail::Strength<Space::host> strength = detail::find_strength(ctx, blocks_of(ctx, m.matrix, 1), 0.0);
    std::vector<unsigned char> eligible(strength.left_out.size(), 1);
    require_independent_and_maximal(strength.graph, eligible, detail::independent_set(ctx, strength.graph, eligible));
    Random random(3);
    for (unsigned char& e : eligible) e = random.value() < 0.3 ? 1 : 0;
    require_independent_and_maximal(strength.graph, eligible, detail::independent_set(ctx, strength.graph, eligible));
  }
}

TEST_ON_HOST("AMG's aggregates are connected and hold every node that is not left out", "[amg]") {
  for (const NamedMatrix& m : graphs()) {
    INFO(m.name);
    const detail::Strength<Space::host> strength = detail::find_strength(ctx, blocks_of(ctx, m.matrix, 1), 0.0);
    const detail::Aggregates<Space::host> aggregates = detail::aggregate(ctx, strength);
    const auto neighbours = neighbours_of(strength.graph);
    std::vector<std::set<Index>> nodes(static_cast<std::size_t>(aggregates.count));
    for (Index i = 0; i < m.matrix.rows; ++i) {
      REQUIRE((aggregates.of_node[i] < 0) == (strength.left_out[i] != 0));
      REQUIRE(aggregates.of_node[i] < aggregates.count);
      if (aggregates.of_node[i] >= 0) nodes[aggregates.of_node[i]].insert(i);
    }
    for (const std::set<Index>& members : nodes) {
      REQUIRE_FALSE(members.empty());
      std::set<Index> reached = {*members.begin()};
      std::vector<Index> next = {*members.begin()};
      while (!next.empty()) {
        const Index i = next.back();
        next.pop_back();
        for (const Index j : neighbours[i]) {
          if (members.count(j) != 0 && reached.insert(j).second) next.push_back(j);
        }
      }
      REQUIRE(reached == members);
    }
  }
}

TEST_CASE("AMG's aggregates are the same for any number of threads", "[amg]") {
  const HostCsr a = fem_matrix("generate:diffusion:22");
  const Context<host> one(1), several(5);
  const auto of = [&](const Context<host>& ctx) {
    return detail::aggregate(ctx, detail::find_strength(ctx, blocks_of(ctx, a, 1), 0.02)).of_node;
  };
  REQUIRE(of(one) == of(several));
}

TEST_ON_HOST("AMG's strong neighbours are those of the measure on norms of blocks", "[amg]") {
  const double theta = 0.1;
  const HostCsr a = fem_matrix("generate:elasticity:5");
  const EigenDense d = eigen_dense(a);
  const detail::Strength<Space::host> strength = detail::find_strength(ctx, blocks_of(ctx, a, 3), theta);
  const auto neighbours = neighbours_of(strength.graph);
  const auto norm = [&](Index i, Index j) { return d.block(3 * i, 3 * j, 3, 3).norm(); };
  int strong = 0;
  for (Index i = 0; i < a.rows / 3; ++i) {
    for (Index j = 0; j < a.rows / 3; ++j) {
      if (i == j) continue;
      const double ratio = std::max(norm(i, j), norm(j, i)) / std::sqrt(norm(i, i) * norm(j, j));
      if (std::fabs(ratio - theta) < 1e-4) continue;  // rounded
      CHECK((neighbours[i].count(j) != 0) == (ratio > theta));
      strong += ratio > theta ? 1 : 0;
    }
  }
  CHECK(strong > 100);
}

TEST_ON_HOST("AMG decides strength alike for values that differ by the order of their sums", "[amg]") {
  // |a_ij| = theta a_ii but for the last bits, above and below.
  const double theta = 0.25;
  for (const double factor : {1 - 3e-16, 1.0, 1 + 3e-16, 1 - 1e-12, 1 + 1e-12}) {
    MapRows rows(3);
    for (Index i = 0; i < 3; ++i) rows[i][i] = 1;
    rows[0][1] = rows[1][0] = theta * factor;
    rows[1][2] = rows[2][1] = 0.9;
    const detail::Strength<Space::host> strength =
        detail::find_strength(ctx, blocks_of(ctx, from_rows(3, rows), 1), theta);
    CHECK(strength.graph.row_ptr[1] == 1);
  }
}

TEST_ON_HOST("AMG leaves out rows without neighbours, and no others", "[amg]") {
  HostCsr a = pieces(diagonal_matrix(5), neumann_grid(5, 5));
  const detail::Strength<Space::host> strength = detail::find_strength(ctx, blocks_of(ctx, a, 1), 0.0);
  for (Index i = 0; i < a.rows; ++i) CHECK((strength.left_out[i] != 0) == (i < 5));
  // Weak neighbours whose sum is as large as the diagonal: the smoother alone would not do.
  const HostCsr star = arrow_matrix(400);
  const detail::Strength<Space::host> weak = detail::find_strength(ctx, blocks_of(ctx, neumann_grid(30, 30), 1), 0.9);
  for (const unsigned char left_out : weak.left_out) REQUIRE(left_out == 0);
}
