// SPDX-License-Identifier: Apache-2.0
// BCE on the device: Algorithm 4 over the blocks, a warp for each piece of a long row, one launch for both.
#include <purlin/spmv/bce/bce.hpp>
#include <purlin/spmv/slot_sum_device.cuh>

namespace purlin::detail {
namespace {

// Not measured yet: four slots and four x a thread in flight at full occupancy are more than twice the bytes that
// the memory's bandwidth times its delay asks for.
struct BceTuning {
  static constexpr int most_threads = 256;  // of a block
  static constexpr int batch = 4;
};

unsigned blocks_of_pieces(Index pieces, int block_threads) {
  const int warps = block_threads / 32;
  return static_cast<unsigned>((pieces + warps - 1) / warps);
}

// Algorithm 4: thread t of a block has row t of its set. Columns of the block lie `rows` slots apart, so that a warp
// reads 32 neighbouring slots at a time. Returns the thread's part of x.y.
template <class T, bool dot>
__device__ __forceinline__ double block_product(const BceView<T>& a, const ProductArgs<T>& args, Index b) {
  const Index begin = a.block_row[b], rows = a.block_row[b + 1] - begin;
  const auto r = static_cast<Index>(threadIdx.x);
  if (r >= rows) return 0;
  const Offset slot = a.block_slot[b] + r;
  const Index i = load_once(a.row_no + begin + r);
  const T sum = slot_sum<BceTuning::batch>(a.val + slot, a.col + slot, args.x, rows, a.block_width[b]);
  const T value = row_result(args, sum, i);
  args.y[i] = value;
  return dot ? double(load_cached(args.x + i)) * double(value) : 0.0;
}

// A warp has a piece of a long row: it writes y where that is the whole row, else leaves its sum for the second step.
template <class T, bool dot>
__device__ __forceinline__ double piece_product(const BceView<T>& a, const ProductArgs<T>& args, Index piece) {
  const auto lane = static_cast<Index>(threadIdx.x % 32);
  const Offset begin = a.piece_slot[piece] + lane, end = a.piece_slot[piece + 1];
  const Index count = begin < end ? static_cast<Index>((end - begin + 31) / 32) : 0;
  const T sum = warp_sum(slot_sum<2 * BceTuning::batch>(a.piece_val + begin, a.piece_col + begin, args.x, 32, count));
  if (lane != 0) return 0;
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
template <class T, bool dot>
__global__ void __launch_bounds__(BceTuning::most_threads)
    bce_kernel(const BceView<T> a, const ProductArgs<T> args, unsigned piece_blocks, unsigned* tickets) {
  double mine = 0;
  if (blockIdx.x < piece_blocks) {
    const Index piece = static_cast<Index>(blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32);
    if (piece < a.pieces) mine = piece_product<T, dot>(a, args, piece);
  } else {
    mine = block_product<T, dot>(a, args, static_cast<Index>(blockIdx.x - piece_blocks));
  }
  if constexpr (dot) {
    if (a.join.rows > 0) {
      leave_dot(mine, a.partial);
    } else {
      finish_dot(mine, a.partial, tickets, args.xy);
    }
  }
}

}  // namespace

std::int64_t bce_device_blocks(Index blocks, Index pieces, Index joined, int block_threads) {
  return std::int64_t{blocks} + blocks_of_pieces(pieces, block_threads) + joined;
}

template <class T>
void bce_product(const Context<Space::device>& ctx, const BceView<T>& a, const ProductArgs<T>& args) {
  const unsigned piece_blocks = blocks_of_pieces(a.pieces, a.block_threads);
  const unsigned blocks = piece_blocks + static_cast<unsigned>(a.blocks);
  if (blocks == 0) return;
  const auto& state = ctx.state();
  const int threads = a.block_threads;
  if (args.xy != nullptr) {
    bce_kernel<T, true><<<blocks, threads, 0, state.stream()>>>(a, args, piece_blocks, state.tickets());
  } else {
    bce_kernel<T, false><<<blocks, threads, 0, state.stream()>>>(a, args, piece_blocks, state.tickets());
  }
  PURLIN_CHECK_LAUNCH();
  launch_join(ctx, a.join, args, blocks, a.partial);
}

template void bce_product(const Context<Space::device>&, const BceView<double>&, const ProductArgs<double>&);
template void bce_product(const Context<Space::device>&, const BceView<float>&, const ProductArgs<float>&);

}  // namespace purlin::detail
