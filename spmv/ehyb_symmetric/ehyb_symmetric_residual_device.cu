// SPDX-License-Identifier: Apache-2.0
// Residuals of EHYB with pairs on the device: a block takes a part, and sums some of its rows at a time in shared
// memory.
#include <algorithm>

#include "core/vectors/warp_device.cuh"
#include "core/memory/shared_memory_device.hpp"
#include "spmv/ehyb/ehyb_walk.hpp"
#include "spmv/ehyb_symmetric/ehyb_symmetric_product.hpp"
#include "spmv/residual_device.cuh"

namespace newel::detail {
namespace {

struct PairResidualTuning {
  static constexpr int threads = 512;
  static constexpr Index rows = 2048;  ///< of a part at a time: 64 KiB of shared memory
};

/// The rows of a part that are summed, [begin, end), numbered within the part.
template <class T>
struct RowWindow {
  TwiceSum* sum;
  Index begin, end;

  __device__ __forceinline__ void subtract(Index row, T value, T x) const {
    if (row < begin || row >= end) return;
    sum[row - begin].add_product(-static_cast<double>(value), static_cast<double>(x), -0.0);
  }
};

/// The entries that are not in pairs, a node a thread.
template <class T>
__device__ __forceinline__ void subtract_slices(const EhybSymmetricView<T>& a, const EhybPart& part, const T* x,
                                                const RowWindow<T>& window) {
  const int B = a.left.block;
  for (Index node = part.node_begin + static_cast<Index>(threadIdx.x); node < part.node_end;
       node += static_cast<Index>(blockDim.x)) {
    const Index in_part = node - part.node_begin, slice = part.slice_begin + in_part / warp;
    for (int d = 0; d < B; ++d) {
      const Index row = Index{a.node[node]} * B + d;
      if (row < window.begin || row >= window.end) continue;
      TwiceSum& sum = window.sum[row - window.begin];
      const auto add = [&](const T* val, Offset stride, Offset count, const auto& column_of) {
        subtract_products(val, stride, count, column_of, x, sum);
      };
      walk_slice_row(a.left, part, slice, in_part % warp, d, add);
    }
  }
}

/// The rounds of pairs. No two pairs of a round touch the same rows.
template <class T>
__device__ __forceinline__ void subtract_rounds(const EhybSymmetricView<T>& a, Index p, const T* own_x,
                                                const RowWindow<T>& window) {
  const int B = a.left.block, lane = static_cast<int>(threadIdx.x % warp);
  const bool differs = *a.differs != 0;
  for (Index r = a.part_round[p]; r < a.part_round[p + 1]; ++r) {
    for (Index place = a.round_first[r] + static_cast<Index>(threadIdx.x / warp); place < a.round_first[r + 1];
         place += static_cast<Index>(blockDim.x / warp)) {
      const unsigned nodes = a.nodes[Offset{place} * warp + lane];
      if (nodes == 0xffffffffu) continue;
      const Index i = static_cast<Index>(nodes & 0xffffu) * B, j = static_cast<Index>(nodes >> 16) * B;
      const Offset slot = Offset{place} * (B * B * warp) + lane;
      for (int d = 0; d < B; ++d) {
        for (int e = 0; e < B; ++e) {
          const T upper = a.upper[slot + (d * B + e) * warp];
          const T lower = differs ? a.lower[slot + (d * B + e) * warp] : a.upper[slot + (e * B + d) * warp];
          window.subtract(i + d, upper, own_x[j + e]);
          window.subtract(j + d, lower, own_x[i + e]);
        }
      }
    }
    __syncthreads();
  }
}

/// A block takes a part, a window of its rows after the other. Each window reads all of the part.
template <class T>
__global__ void __launch_bounds__(PairResidualTuning::threads)
    pair_residual_kernel(const EhybSymmetricView<T> a, const ResidualArgs<T> args, double* partial, unsigned* tickets,
                         double* total) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  TwiceSum* const sums_of_rows = reinterpret_cast<TwiceSum*>(shared_bytes);
  ResidualSums sums;
  sums.x_max = *args.scale.x_max;
  for (Index p = static_cast<Index>(blockIdx.x); p < a.left.parts; p += static_cast<Index>(gridDim.x)) {
    const EhybPart part = a.left.part[p];
    const Index own = (part.node_end - part.node_begin) * a.left.block;
    const Offset first_row = Offset{part.node_begin} * a.left.block;
    for (Index begin = 0; begin < own; begin += PairResidualTuning::rows) {
      const RowWindow<T> window{sums_of_rows, begin, min(own, begin + PairResidualTuning::rows)};
      for (Index row = begin + static_cast<Index>(threadIdx.x); row < window.end;
           row += static_cast<Index>(blockDim.x)) {
        window.sum[row - begin] = TwiceSum();
      }
      __syncthreads();
      subtract_slices(a, part, args.x, window);
      __syncthreads();
      subtract_rounds(a, p, args.x + first_row, window);
      for (Index row = begin + static_cast<Index>(threadIdx.x); row < window.end;
           row += static_cast<Index>(blockDim.x)) {
        TwiceSum sum = window.sum[row - begin];
        const auto add = [&](const T* val, Offset stride, Offset count, const auto& column_of) {
          subtract_products(val, stride, count, column_of, args.x, sum);
        };
        const auto in_matrix = static_cast<Index>(first_row + row);
        walk_rest(a.left, rest_of(a.left, in_matrix), 0, 1, add);
        finish_residual_row(args, in_matrix, sum, a.left.rows, sums);
      }
      __syncthreads();
    }
  }
  finish_residual(sums, partial, tickets, total);
}

}  // namespace

template <class T>
ResidualSums ehyb_symmetric_residual(const Context<Space::device>& ctx, const EhybSymmetricView<T>& a,
                                     const ResidualArgs<T>& args) {
  if (a.left.rows == 0) return {};
  const auto& state = ctx.state();
  const unsigned blocks = blocks_to_share(ctx, a.left.parts, 1, ResidualTuning::blocks_per_multiprocessor);
  const std::size_t shared = std::min(a.longest_own, PairResidualTuning::rows) * sizeof(TwiceSum);
  double* const total = state.partial() + std::int64_t{blocks} * residual_numbers;
  pair_residual_kernel<T><<<blocks, PairResidualTuning::threads, shared, state.stream()>>>(a, args, state.partial(),
                                                                                           state.tickets(), total);
  NEWEL_CHECK_LAUNCH();
  return fetch_sums(ctx, total);
}

template <class T>
void prepare_ehyb_symmetric_residual(const Context<Space::device>& ctx, const EhybSymmetricView<T>&) {
  allow_all_shared_memory(ctx, pair_residual_kernel<T>);
}

#define X(T)                                                                                                \
  template ResidualSums ehyb_symmetric_residual(const Context<Space::device>&, const EhybSymmetricView<T>&, \
                                                const ResidualArgs<T>&);                                    \
  template void prepare_ehyb_symmetric_residual(const Context<Space::device>&, const EhybSymmetricView<T>&);
X(double)
X(float)
#undef X

}  // namespace newel::detail
