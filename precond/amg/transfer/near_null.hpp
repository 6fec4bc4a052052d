// SPDX-License-Identifier: Apache-2.0
/// The near-null space: vectors that A maps to almost nothing, and that the coarse grids have to represent. Internal.
#pragma once

#include <vector>

#include <newel/reorder/partition.hpp>
#include "core/vectors/host_device.hpp"
#include "precond/amg/blocks/block_csr.hpp"

namespace newel::detail {

/// A few vectors, the values of a row next to each other.
template <Space S>
struct NearNull {
  int vectors = 0;
  StageArray<double, S> values;  ///< rows x vectors
};

/// One vector for each of the `block` components of a node: 1 there, 0 in the others.
NearNull<Space::host> constant_components(const HostContext& ctx, Index rows, int block);
NearNull<Space::device> constant_components(const DeviceContext& ctx, Index rows, int block);

/// The translations, then the rotations, of a body whose nodes lie there: three vectors in two dimensions, six in
/// three. Rows are numbered node by node. Coordinates are shifted and scaled, so that their unit does not matter.
NearNull<Space::host> rigid_body_modes(const HostContext& ctx, const NodeCoordinates& coordinates);
NearNull<Space::device> rigid_body_modes(const DeviceContext& ctx, const NodeCoordinates& coordinates);

/// Vectors of the caller's.
NearNull<Space::host> given_vectors(const HostContext& ctx, int count, const std::vector<double>& values);
NearNull<Space::device> given_vectors(const DeviceContext& ctx, int count, const std::vector<double>& values);

/// Where rigid body modes turn around, and the factor that brings a body's extent to 2; of all ranks together.
struct ModeFrame {
  double middle[3] = {0, 0, 0};
  double scale = 1;

  ModeFrame(const HostContext& ctx, const NodeCoordinates& coordinates);
};

/// Row d of the modes of a node at x (in the frame), `vectors` values: 3 in the plane, 6 in space.
NEWEL_HD void mode_row(int dimension, int d, const double* x, double* row) {
  const int vectors = dimension == 3 ? 6 : 3;
  for (int v = 0; v < vectors; ++v) row[v] = v == d ? 1 : 0;
  if (dimension == 2) {
    row[2] = d == 0 ? -x[1] : x[0];
  } else {
    // w x X for w along each axis.
    if (d != 0) row[3] = d == 1 ? -x[2] : x[1];
    if (d != 1) row[4] = d == 2 ? -x[0] : x[2];
    if (d != 2) row[5] = d == 0 ? -x[1] : x[0];
  }
}

}  // namespace newel::detail
