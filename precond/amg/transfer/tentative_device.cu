// SPDX-License-Identifier: Apache-2.0
// Tentative prolongators on the device: a warp has an aggregate.
#include "precond/amg/blocks/elements_device.cuh"
#include "precond/amg/transfer/prolongator.hpp"

namespace newel::detail {
namespace {

__device__ double sum_of_lanes(double value) {
  for (int apart = 16; apart > 0; apart /= 2) value += __shfl_xor_sync(0xffffffffu, value, apart);
  return value;
}

// The rows of an aggregate's vectors: value i of vector c, in place.
struct LocalVectors {
  const Offset* node;
  Offset rows;
  int block, k;
  double* q;

  __device__ double& at(Offset i, int c) const { return q[(node[i / block] * block + i % block) * k + c]; }
  __device__ double dot(int lane, int a, int b) const {
    double sum = 0;
    for (Offset i = lane; i < rows; i += 32) sum += at(i, a) * at(i, b);
    return sum_of_lanes(sum);
  }
};

// A warp makes the vectors of an aggregate orthonormal; each lane has every 32nd of their values. R is k x k.
__global__ void __launch_bounds__(ElementsTuning::threads)
    orthonormalise_kernel(Index count, const Offset* begin, const Offset* node, int block, int k, double* q,
                          double* r, Index* missing) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x / 32;
  for (std::int64_t j = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32; j < count; j += step) {
    const LocalVectors local{node + begin[j], (begin[j + 1] - begin[j]) * block, block, k, q};
    double* const factor = r + j * k * k;
    for (int c = 0; c < k; ++c) {
      const double before = sqrt(local.dot(lane, c, c));
      for (int other = 0; other < k; ++other) {
        double sum = 0;
        if (other < c) {
          sum = local.dot(lane, other, c);
          for (Offset i = lane; i < local.rows; i += 32) local.at(i, c) -= sum * local.at(i, other);
        }
        if (lane == 0) factor[other * k + c] = sum;
      }
      for (int other = 0; other < c; ++other) {
        const double again = local.dot(lane, other, c);
        for (Offset i = lane; i < local.rows; i += 32) local.at(i, c) -= again * local.at(i, other);
        if (lane == 0) factor[other * k + c] += again;
      }
      const double length = sqrt(local.dot(lane, c, c));
      const bool independent = length > dependent_length * before;
      for (Offset i = lane; i < local.rows; i += 32) {
        local.at(i, c) = independent ? local.at(i, c) / length : 0;
      }
      if (lane == 0) {
        factor[c * k + c] = independent ? length : 0;
        if (!independent) atomicAdd(missing, 1);
      }
    }
  }
}

struct ClearLeftOut {
  const Index* of_node;
  int node_values;
  double* q;

  __device__ void operator()(std::int64_t i) const {
    if (of_node[i / node_values] < 0) q[i] = 0;
  }
};

}  // namespace

DeviceArray<double> vectors_in_aggregates(const DeviceContext& ctx, const Aggregates<Space::device>& aggregates,
                                          int block, const NearNull<Space::device>& near_null) {
  DeviceArray<double> values = make_array(ctx, near_null.values.cspan());
  for_elements(ctx, values.size(), ClearLeftOut{aggregates.of_node.data(), block * near_null.vectors, values.data()});
  return values;
}

Tentative<Space::device> make_tentative(const DeviceContext& ctx, const Aggregates<Space::device>& aggregates,
                                        int block, const NearNull<Space::device>& near_null) {
  const int k = near_null.vectors;
  Tentative<Space::device> result;
  result.q = vectors_in_aggregates(ctx, aggregates, block, near_null);
  result.coarse.vectors = k;
  result.coarse.values = DeviceArray<double>(ctx, std::int64_t{aggregates.count} * k * k);
  const Groups members = group_by_key(ctx, aggregates.of_node, aggregates.count);
  DeviceArray<Index> missing = zeros<Index>(ctx, 1);
  if (aggregates.count > 0) {
    orthonormalise_kernel<<<blocks_for(ctx, std::int64_t{aggregates.count} * 32), ElementsTuning::threads, 0,
                            ctx.state().stream()>>>(aggregates.count, members.begin.data(), members.element.data(),
                                                    block, k, result.q.data(), result.coarse.values.data(),
                                                    missing.data());
    NEWEL_CHECK_LAUNCH();
  }
  result.missing = value_at(ctx, missing, 0);
  return result;
}

}  // namespace newel::detail
