// SPDX-License-Identifier: Apache-2.0
// Constants and rigid body modes on the device: a thread has a row.
#include "precond/amg/blocks/elements_device.cuh"
#include "precond/amg/transfer/near_null.hpp"

namespace newel::detail {
namespace {

struct ConstantRow {
  int block;
  double* values;

  __device__ void operator()(std::int64_t i) const {
    for (int v = 0; v < block; ++v) values[i * block + v] = v == i % block ? 1 : 0;
  }
};

struct ModeRow {
  int dimension, vectors;
  ModeFrame frame;
  const double* xyz;
  double* values;

  __device__ void operator()(std::int64_t i) const {
    const auto d = static_cast<int>(i % dimension);
    double x[3] = {0, 0, 0};
    for (int e = 0; e < dimension; ++e) x[e] = (xyz[i - d + e] - frame.middle[e]) * frame.scale;
    mode_row(dimension, d, x, values + i * vectors);
  }
};

}  // namespace

NearNull<Space::device> constant_components(const DeviceContext& ctx, Index rows, int block) {
  NearNull<Space::device> result{block, DeviceArray<double>(ctx, std::int64_t{rows} * block)};
  for_elements(ctx, rows, ConstantRow{block, result.values.data()});
  return result;
}

NearNull<Space::device> rigid_body_modes(const DeviceContext& ctx, const NodeCoordinates& c) {
  const DeviceArray<double> xyz = make_array(ctx, c.xyz);
  const int vectors = c.dimension == 3 ? 6 : 3;
  NearNull<Space::device> result{vectors, DeviceArray<double>(ctx, xyz.size() * vectors)};
  for_elements(ctx, xyz.size(),
               ModeRow{c.dimension, vectors, ModeFrame(host_context(ctx), c), xyz.data(), result.values.data()});
  return result;
}

NearNull<Space::device> given_vectors(const DeviceContext& ctx, int count, const std::vector<double>& values) {
  return {count, make_array(ctx, values)};
}

}  // namespace newel::detail
