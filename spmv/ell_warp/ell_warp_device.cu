// SPDX-License-Identifier: Apache-2.0
// ELL-WARP on the device: listings 2 and 3 as one kernel.
#include "spmv/ell_warp/ell_warp_product.hpp"
#include "spmv/ell_warp/ell_warp_walk.hpp"
#include "spmv/product_device.cuh"
#include "spmv/residual_device.cuh"

namespace newel::detail {
namespace {

struct EllWarpTuning {
  static constexpr int lanes = ell_warp_lanes<Space::device>;
  static constexpr int most_block_threads = ell_warp_most_block_threads;
  static constexpr int most_blocks_of_multiprocessor = 1 << 20;  ///< usually a warp for each of the layout
  static constexpr int least_blocks = 4;  ///< of these, resident on a multiprocessor: at most 32 registers
  static constexpr int batch = 4;         ///< loads of values, and of columns, that a lane has in flight
};

// What lane `lane` of a warp sums. All lanes take the same number of steps.
template <class T>
__device__ __forceinline__ T sum_lane(const EllWarpView<T>& view, Offset warp, int lane, const T* x) {
  constexpr int lanes = EllWarpTuning::lanes, batch = EllWarpTuning::batch;
  const Offset begin = load_cached(view.slot_begin + warp);
  const T* val = view.val + begin + lane;
  const Index* col = view.col + begin + lane;
  T sum = 0;
  for (int left = static_cast<int>((load_cached(view.slot_begin + warp + 1) - begin) / lanes); left > 0;
       left -= batch) {
    T value[batch];
    Index at[batch];
#pragma unroll
    for (int u = 0; u < batch; ++u) {
      if (u < left) {
        value[u] = load_once(val + u * lanes);
        at[u] = load_once(col + u * lanes);
      }
    }
#pragma unroll
    for (int u = 0; u < batch; ++u) {
      if (u < left) sum += value[u] * load_cached(x + at[u]);
    }
    val += batch * lanes;
    col += batch * lanes;
  }
  return sum;
}

template <class T>
__device__ __forceinline__ void write_row(const ProductArgs<T>& args, T sum, Index row, double& dot) {
  const T result = row_result(args, sum, row);
  args.y[row] = result;
  if (args.xy != nullptr) dot += double(args.x[row]) * double(result);
}

// The rows of one warp; lanes are threads. `halved`: 2^k neighbouring lanes share a row, and the first of them
// writes.
template <bool listed, bool halved, class T>
__device__ __forceinline__ void warp_rows(const EllWarpView<T>& view, const ProductArgs<T>& args, Offset warp,
                                          int lane, double& dot) {
  int k = 0;
  Offset position = warp * EllWarpTuning::lanes + lane;
  bool writes = position < view.count;
  if constexpr (halved) {
    k = load_cached(view.reductions + warp);
    position = load_cached(view.row_begin + warp) + (lane >> k);
    writes = position < load_cached(view.row_begin + warp + 1) && (lane & ((1 << k) - 1)) == 0;
  }
  Index row = 0;
  if (writes) {
    if constexpr (listed)
      row = load_once(view.row_list + position);
    else
      row = view.first + static_cast<Index>(position);
  }
  T sum = sum_lane(view, view.shared_warps + warp, lane, args.x);
  if constexpr (halved) {
    for (int step = 0; step < k; ++step) sum += __shfl_xor_sync(0xffffffffu, sum, 1 << step);
  }
  if (writes) write_row(args, sum, row, dot);
}

// The second step of a shared row, by one warp: its lanes add every 32nd sum each, then one another's.
template <class T>
__device__ __forceinline__ void shared_row(const EllWarpView<T>& view, const ProductArgs<T>& args, Index r, int lane,
                                           double& dot) {
  T sum = 0;
  for (Offset c = view.shared_begin[r] + lane; c < view.shared_begin[r + 1]; c += EllWarpTuning::lanes) {
    sum += view.shared_sum[c];
  }
  sum = warp_sum(sum);
  if (lane == 0) write_row(args, sum, view.shared_row[r], dot);
}

// The first step of shared rows: a warp sums a chunk and leaves the sum in `shared_sum`.
template <class T>
__global__ void __launch_bounds__(EllWarpTuning::most_block_threads, EllWarpTuning::least_blocks)
    chunk_kernel(const EllWarpView<T> view, const T* x) {
  const Offset warp = (static_cast<Offset>(blockIdx.x) * blockDim.x + threadIdx.x) / EllWarpTuning::lanes;
  if (warp >= view.shared_warps) return;
  const int lane = threadIdx.x % EllWarpTuning::lanes;
  const T sum = warp_sum(sum_lane(view, warp, lane, x));
  if (lane == 0) view.shared_sum[warp] = sum;
}

// A warp takes the rows of one warp of the layout, or the second step of a shared row, and, where the grid is smaller
// than the work, every (grid size)-th of them. A row is written by one lane.
template <bool listed, bool halved, bool forms_dot, class T>
__global__ void __launch_bounds__(EllWarpTuning::most_block_threads, EllWarpTuning::least_blocks)
    ell_warp_kernel(const EllWarpView<T> view, const ProductArgs<T> args, unsigned* tickets) {
  const int lane = threadIdx.x % EllWarpTuning::lanes;
  const Offset stride = static_cast<Offset>(gridDim.x) * blockDim.x / EllWarpTuning::lanes;
  double dot = 0;
  for (Offset w = (static_cast<Offset>(blockIdx.x) * blockDim.x + threadIdx.x) / EllWarpTuning::lanes;
       w < view.warps + view.shared_rows; w += stride) {
    if (w < view.shared_rows)
      shared_row(view, args, static_cast<Index>(w), lane, dot);
    else
      warp_rows<listed, halved>(view, args, w - view.shared_rows, lane, dot);
  }
  if constexpr (forms_dot) finish_dot(dot, view.dot_partial, tickets, args.xy);
}

template <bool listed, bool halved, class T>
void launch(const Context<Space::device>& ctx, const EllWarpView<T>& view, const ProductArgs<T>& args) {
  const auto& state = ctx.state();
  const Offset warps = view.warps + view.shared_rows;
  if (args.xy != nullptr) {
    ell_warp_kernel<listed, halved, true>
        <<<static_cast<unsigned>(view.dot_blocks), view.block_threads, 0, state.stream()>>>(view, args,
                                                                                            state.tickets());
  } else if (warps > 0) {
    const unsigned blocks = blocks_to_share(ctx, warps * EllWarpTuning::lanes, view.block_threads,
                                            EllWarpTuning::most_blocks_of_multiprocessor);
    ell_warp_kernel<listed, halved, false>
        <<<blocks, view.block_threads, 0, state.stream()>>>(view, args, state.tickets());
  }
  NEWEL_CHECK_LAUNCH();
}

}  // namespace

template <class T>
void ell_warp_product(const Context<Space::device>& ctx, const EllWarpView<T>& view, const ProductArgs<T>& args) {
  if (view.shared_warps > 0) {
    const Offset warps_of_block = view.block_threads / EllWarpTuning::lanes;
    const auto blocks = static_cast<unsigned>((view.shared_warps + warps_of_block - 1) / warps_of_block);
    chunk_kernel<<<blocks, view.block_threads, 0, ctx.state().stream()>>>(view, args.x);
    NEWEL_CHECK_LAUNCH();
  }
  const bool listed = view.row_list != nullptr, halved = view.row_begin != nullptr;
  if (listed && halved) return launch<true, true>(ctx, view, args);
  if (listed) return launch<true, false>(ctx, view, args);
  if (halved) return launch<false, true>(ctx, view, args);
  launch<false, false>(ctx, view, args);
}

template void ell_warp_product(const Context<Space::device>&, const EllWarpView<double>&, const ProductArgs<double>&);
template void ell_warp_product(const Context<Space::device>&, const EllWarpView<float>&, const ProductArgs<float>&);

template <class T>
ResidualSums ell_warp_residual(const Context<Space::device>& ctx, const EllWarpView<T>& a,
                               const ResidualArgs<T>& args) {
  return residual_by(ctx, EllWarpWalk<T>{a, EllWarpTuning::lanes}, args);
}

template ResidualSums ell_warp_residual(const Context<Space::device>&, const EllWarpView<double>&,
                                        const ResidualArgs<double>&);
template ResidualSums ell_warp_residual(const Context<Space::device>&, const EllWarpView<float>&,
                                        const ResidualArgs<float>&);

}  // namespace newel::detail
