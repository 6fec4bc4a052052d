// SPDX-License-Identifier: Apache-2.0
// Nodes and near-null vectors of some rows of a matrix.
#include "precond/saddle/primal_nodes.hpp"

#include <algorithm>

namespace newel::detail {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

std::shared_ptr<const NearNullVectors> vectors_of_rows(std::shared_ptr<const NearNullVectors> vectors,
                                                       const std::vector<Index>& rows, Index whole) {
  if (vectors == nullptr || vectors->count <= 0) return nullptr;
  const std::size_t count = at(vectors->count);
  if (vectors->values.size() == rows.size() * count) return vectors;
  if (vectors->values.size() != at(whole) * count) return nullptr;
  auto found = std::make_shared<NearNullVectors>();
  found->count = vectors->count;
  found->values.reserve(rows.size() * count);
  for (const Index row : rows) {
    const auto first = vectors->values.begin() + static_cast<std::ptrdiff_t>(at(row) * count);
    found->values.insert(found->values.end(), first, first + static_cast<std::ptrdiff_t>(count));
  }
  return found;
}

PrimalNodes nodes_of_rows(std::shared_ptr<const NodeCoordinates> all, const std::vector<Index>& rows, Index whole) {
  if (all == nullptr || all->dimension <= 0 || rows.empty()) return {};
  const std::size_t dimension = at(all->dimension), points = all->xyz.size() / dimension, n = rows.size();
  if (points != at(whole)) {
    const bool divides = points > 0 && n % points == 0;
    return divides ? PrimalNodes{all, static_cast<int>(n / points)} : PrimalNodes{};
  }
  const auto point = [&](std::size_t k) { return all->xyz.data() + at(rows[k]) * dimension; };
  const auto same = [&](std::size_t k, std::size_t l) { return std::equal(point(k), point(k) + dimension, point(l)); };
  const auto all_same = [&](std::size_t b, std::size_t next, std::size_t stride) {
    if (n % b != 0) return false;
    for (std::size_t node = 0; node < n / b; ++node) {
      for (std::size_t c = 1; c < b; ++c) {
        if (!same(node * next, node * next + c * stride)) return false;
      }
    }
    return true;
  };
  PrimalNodes found;
  std::size_t rows_of_node = 1, next = 1;
  if (dimension > 1 && all_same(dimension, dimension, 1)) {
    rows_of_node = next = dimension;
    found.numbering = AmgNumbering::by_node;
  } else if (dimension > 1 && all_same(dimension, 1, n / dimension)) {
    rows_of_node = dimension;
    found.numbering = AmgNumbering::by_component;
  }
  auto nodes = std::make_shared<NodeCoordinates>();
  nodes->dimension = all->dimension;
  for (std::size_t node = 0; node < n / rows_of_node; ++node) {
    nodes->xyz.insert(nodes->xyz.end(), point(node * next), point(node * next) + dimension);
  }
  found.points = std::move(nodes);
  found.node_rows = static_cast<int>(rows_of_node);
  return found;
}

}  // namespace newel::detail
