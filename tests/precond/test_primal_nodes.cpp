// SPDX-License-Identifier: Apache-2.0
// Which nodes and near-null vectors the rows of a block have, by lists that can be checked by hand.
#include "precond/saddle/primal_nodes.hpp"
#include "tests/catch.hpp"

namespace {

std::shared_ptr<const NodeCoordinates> points(int dimension, std::vector<double> xyz) {
  auto found = std::make_shared<NodeCoordinates>();
  found->dimension = dimension;
  found->xyz = std::move(xyz);
  return found;
}

}  // namespace

TEST_CASE("Near-null vectors of the whole matrix are restricted to some rows, and those of the rows stay",
          "[precond][saddle]") {
  const auto whole = std::make_shared<const NearNullVectors>(NearNullVectors{2, {0, 1, 2, 3, 4, 5, 6, 7}});
  const auto found = detail::vectors_of_rows(whole, {0, 3}, 4);
  REQUIRE(found != nullptr);
  CHECK(found->count == 2);
  CHECK(found->values == std::vector<double>{0, 1, 6, 7});
  const auto own = std::make_shared<const NearNullVectors>(NearNullVectors{1, {5, 6}});
  CHECK(detail::vectors_of_rows(own, {0, 3}, 4) == own);
  CHECK(detail::vectors_of_rows(own, {0, 1, 3}, 4) == nullptr);
  CHECK(detail::vectors_of_rows(nullptr, {0, 3}, 4) == nullptr);
}

TEST_CASE("Nodes of some rows are found where each row of the matrix has a point", "[precond][saddle]") {
  // Rows 0 and 1 are a node at (1, 2), rows 3 and 4 one at (3, 4); row 2 is a constraint elsewhere.
  const auto by_node = detail::nodes_of_rows(points(2, {1, 2, 1, 2, 9, 9, 3, 4, 3, 4}), {0, 1, 3, 4}, 5);
  REQUIRE(by_node.points != nullptr);
  CHECK(by_node.node_rows == 2);
  CHECK(by_node.numbering == AmgNumbering::by_node);
  CHECK(by_node.points->xyz == std::vector<double>{1, 2, 3, 4});
  const auto by_component = detail::nodes_of_rows(points(2, {1, 2, 3, 4, 9, 9, 1, 2, 3, 4}), {0, 1, 3, 4}, 5);
  CHECK(by_component.numbering == AmgNumbering::by_component);
  CHECK(by_component.points->xyz == std::vector<double>{1, 2, 3, 4});
  const auto single = detail::nodes_of_rows(points(2, {1, 2, 3, 4, 9, 9, 5, 6, 7, 8}), {0, 1, 3, 4}, 5);
  CHECK(single.node_rows == 1);
  CHECK(single.points->xyz == std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8});
}

TEST_CASE("Points of the nodes of some rows alone stay, and others are of no use", "[precond][saddle]") {
  const auto own = points(2, {1, 2, 3, 4});
  const auto found = detail::nodes_of_rows(own, {0, 1, 3, 4}, 5);
  CHECK(found.points == own);
  CHECK(found.node_rows == 2);
  CHECK(detail::nodes_of_rows(points(2, {1, 2, 3, 4, 5, 6}), {0, 1, 3, 4}, 5).points == nullptr);
  CHECK(detail::nodes_of_rows(nullptr, {0, 1}, 3).points == nullptr);
}
