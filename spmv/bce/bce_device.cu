// SPDX-License-Identifier: Apache-2.0
// BCE on the device: Algorithm 4 over the blocks, a few lanes for each piece of a long row, one launch for both.
#include "spmv/bce/bce.hpp"
#include "spmv/bce/bce_walk.hpp"
#include "spmv/residual_device.cuh"
#include "spmv/plan/slot_sum_device.cuh"

namespace newel::detail {
namespace {

struct BceTuning {
  static constexpr int most_threads = bce_most_threads;  // of a block
  // Blocks resident on a multiprocessor: at most 48 registers with four slots in flight, 64 with eight.
  static constexpr int least_blocks(int batch) { return batch > 4 ? 4 : 5; }
};

// Algorithm 4: thread r of a block has row r of its set. Columns of the block lie `rows` slots apart, so that a warp
// reads 32 neighbouring slots at a time. Returns the thread's part of x.y.
template <int batch, class T, bool dot>
__device__ __forceinline__ double block_product(const BceView<T>& a, const ProductArgs<T>& args, Index b, Index r) {
  const Index begin = a.block_row[b], rows = a.block_row[b + 1] - begin;
  if (r >= rows) return 0;
  const Offset slot = a.block_slot[b] + r;
  const Index i = load_once(a.row_no + begin + r);
  const T sum = slot_sum<batch>(a.val + slot, a.col + slot, args.x, rows, a.block_width[b]);
  const T value = row_result(args, sum, i);
  args.y[i] = value;
  return dot ? double(load_cached(args.x + i)) * double(value) : 0.0;
}

// 4, 8, 16 or 32 lanes of warp number `warp` have a piece of a long row: the first of them writes y where that is the
// whole row, else leaves their sum for the second step. All lanes of a warp reach the shuffles.
template <int batch, class T, bool dot>
__device__ __forceinline__ double piece_product(const BceView<T>& a, const ProductArgs<T>& args, Index warp) {
  int c = BceGrid::classes - 1;
  for (; c > 0 && warp >= a.grid.class_warps(c); --c) warp -= a.grid.class_warps(c);
  const Index lanes = Index{4} << c, lane = static_cast<Index>(threadIdx.x) % lanes;
  const Index piece = a.grid.piece[c] + ((warp * 32 + static_cast<Index>(threadIdx.x % 32)) >> (c + 2));
  const bool mine = piece < a.grid.piece[c + 1];
  T sum = 0;
  if (mine) {
    const Offset begin = a.piece_slot[piece] + lane, end = a.piece_slot[piece + 1];
    const Index count = begin < end ? static_cast<Index>((end - begin + lanes - 1) >> (c + 2)) : 0;
    sum = slot_sum<batch>(a.piece_val + begin, a.piece_col + begin, args.x, lanes, count);
  }
  for (Index offset = lanes / 2; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (!mine || lane != 0) return 0;
  const Index i = a.piece_row[piece];
  if (i < 0) {
    a.join.sums[piece] = sum;
    return 0;
  }
  const T value = row_result(args, sum, i);
  args.y[i] = value;
  return dot ? double(args.x[i]) * double(value) : 0.0;
}

// The blocks with pieces come first: they take the longest.
template <int batch, class T, bool dot>
__global__ void __launch_bounds__(BceTuning::most_threads, BceTuning::least_blocks(batch))
    bce_kernel(const BceView<T> a, const ProductArgs<T> args, unsigned* tickets) {
  double mine = 0;
  if (blockIdx.x < a.grid.piece_blocks) {
    mine =
        piece_product<batch, T, dot>(a, args, static_cast<Index>(blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32));
  } else {
    const auto threads = static_cast<unsigned>(a.grid.block_threads), groups = blockDim.x / threads;
    const auto b = static_cast<Index>((blockIdx.x - a.grid.piece_blocks) * groups + threadIdx.x / threads);
    if (b < a.blocks) mine = block_product<batch, T, dot>(a, args, b, static_cast<Index>(threadIdx.x % threads));
  }
  if constexpr (dot) {
    if (a.join.rows > 0) {
      leave_dot(mine, a.partial);
    } else {
      finish_dot(mine, a.partial, tickets, args.xy);
    }
  }
}

template <int batch, class T>
void launch(const Context<Space::device>& ctx, const BceView<T>& a, const ProductArgs<T>& args) {
  const auto& state = ctx.state();
  const int threads = a.grid.threads();
  if (args.xy != nullptr) {
    bce_kernel<batch, T, true><<<a.grid.blocks, threads, 0, state.stream()>>>(a, args, state.tickets());
  } else {
    bce_kernel<batch, T, false><<<a.grid.blocks, threads, 0, state.stream()>>>(a, args, state.tickets());
  }
  NEWEL_CHECK_LAUNCH();
}

}  // namespace

template <class T>
void bce_product(const Context<Space::device>& ctx, const BceView<T>& a, const ProductArgs<T>& args) {
  if (a.grid.blocks == 0) return;
  if (a.batch > 4) {
    launch<8>(ctx, a, args);
  } else {
    launch<4>(ctx, a, args);
  }
  launch_join(ctx, a.join, args, a.grid.blocks, a.partial);
}

template void bce_product(const Context<Space::device>&, const BceView<double>&, const ProductArgs<double>&);
template void bce_product(const Context<Space::device>&, const BceView<float>&, const ProductArgs<float>&);

template <class T>
ResidualSums bce_residual(const Context<Space::device>& ctx, const BceView<T>& a, const ResidualArgs<T>& args) {
  return residual_by(ctx, BceWalk<T>{a, a.whole_pieces}, args);
}

template ResidualSums bce_residual(const Context<Space::device>&, const BceView<double>&,
                                   const ResidualArgs<double>&);
template ResidualSums bce_residual(const Context<Space::device>&, const BceView<float>&, const ResidualArgs<float>&);

}  // namespace newel::detail
