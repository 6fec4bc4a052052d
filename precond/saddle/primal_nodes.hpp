// SPDX-License-Identifier: Apache-2.0
/// What AMG for the rows that are no constraints knows of their nodes and of their near-null vectors. Internal.
#pragma once

#include <memory>
#include <vector>

#include <newel/precond/amg/amg_options.hpp>
#include <newel/reorder/partition.hpp>

namespace newel::detail {

/// Of vectors with a value for each row of the whole matrix those of `rows`. Vectors that have as many values as
/// `rows` stay; null for others, and for null.
std::shared_ptr<const NearNullVectors> vectors_of_rows(std::shared_ptr<const NearNullVectors> vectors,
                                                       const std::vector<Index>& rows, Index whole);

/// The nodes of some rows of a matrix.
struct PrimalNodes {
  std::shared_ptr<const NodeCoordinates> points;  ///< null: not known
  int node_rows = 0;
  AmgNumbering numbering = AmgNumbering::automatic;
};

/// From points that belong to the rows of the whole matrix, one each: the rows of a node have the same point. There are
/// as many rows to a node as dimensions, next to each other or component by component, or else one. Points that belong
/// to the nodes of `rows` alone stay, if their number divides that of the rows; others are of no use.
PrimalNodes nodes_of_rows(std::shared_ptr<const NodeCoordinates> all, const std::vector<Index>& rows, Index whole);

}  // namespace newel::detail
