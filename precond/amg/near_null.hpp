// SPDX-License-Identifier: Apache-2.0
/// The near-null space: vectors that A maps to almost nothing, and that the coarse grids have to represent. Internal.
#pragma once

#include <vector>

#include <purlin/reorder/partition.hpp>

namespace purlin::detail {

/// A few vectors, the values of a row next to each other.
struct NearNull {
  int vectors = 0;
  std::vector<double> values;  ///< rows x vectors
};

/// One vector for each of the `block` components of a node: 1 there, 0 in the others.
NearNull constant_components(Index rows, int block);

/// The translations, then the rotations, of a body whose nodes lie there: three vectors in two dimensions, six in
/// three. Rows are numbered node by node. Coordinates are shifted and scaled, so that their unit does not matter.
NearNull rigid_body_modes(const NodeCoordinates& coordinates);

}  // namespace purlin::detail
