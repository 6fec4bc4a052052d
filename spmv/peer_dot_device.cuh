// SPDX-License-Identifier: Apache-2.0
/// How products on several devices form x.y together. Internal.
#pragma once

#include "core/ranks/peer_dot.hpp"
#include "core/ranks/peer_sums_device.cuh"
#include "core/vectors/vector_step_device.cuh"

namespace newel::detail {

/// Ends a kernel as `finish_dot` does, one of several launches on each of several devices. `of_block`: the place of
/// this block among those of `dot`.
__device__ __forceinline__ void finish_peer_dot(double mine, double* of_block, const PeerDot& dot, double* xy) {
  __shared__ double scratch[32], all[PeerSums::most_ranks];
  const double total = block_sum(mine, scratch);
  if (threadIdx.x == 0) *of_block = total;
  if (!last_block_of(static_cast<unsigned>(dot.blocks), dot.tickets)) return;
  double sum = 0;
  for (int b = static_cast<int>(threadIdx.x); b < dot.blocks; b += static_cast<int>(blockDim.x)) {
    sum += __ldcg(dot.of_block + b);
  }
  sum = block_sum(sum, scratch);
  if (dot.peers.size == 1) {
    if (threadIdx.x == 0) *xy = sum;
    return;
  }
  __syncthreads();
  if (threadIdx.x == 0) scratch[0] = sum;
  __syncthreads();
  gather_from_peers(dot.peers, scratch, 1, all);
  if (threadIdx.x > 0) return;
  sum = all[0];
  for (int r = 1; r < dot.peers.size; ++r) sum += all[r];
  *xy = sum;
}

}  // namespace newel::detail
