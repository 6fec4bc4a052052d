// SPDX-License-Identifier: Apache-2.0
// The permuted pattern on the device. Columns of a row differ, so that the new place of an entry is the number of
// smaller columns: rows are ranked, not sorted, and nothing depends on the order in which threads come.
#include "reorder/permute_pattern.hpp"

#include <algorithm>

#include "core/memory/context_device.hpp"
#include "reorder/exclusive_sum.hpp"

namespace newel::detail {
namespace {

struct PermuteTuning {
  static constexpr int threads = 256;
  static constexpr int warps = threads / 32;
  static constexpr int long_threads = 1024;
  static constexpr int entries_of_lane = 8;    // of the longest row that a group of lanes ranks
  static constexpr int most_block_row = 2048;  // entries of the longest row that a block ranks in shared memory
  static constexpr Offset few_entries = 16;    // of a mean row that eight lanes are enough for
  static constexpr int blocks_per_processor = 16;
  static constexpr std::int64_t most_bit_bytes = std::int64_t{64} << 20;  // of bitmaps for longer rows
};

// What all kernels read and write; row i of the result begins at to[i].
template <class RowPtr>
struct PermuteView {
  Index rows, cols;
  const RowPtr* row_ptr;
  const Index* col;
  const Index* old_of_new;
  const Index* new_of_old;
  const Offset* to;
  Index* new_col;
  Offset* source;

  __device__ Offset begin(Index i) const { return row_ptr[old_of_new[i]]; }
  __device__ Offset length(Index i) const { return to[i + 1] - to[i]; }
  __device__ void put(Index i, Offset rank, Index column, Offset from) const {
    new_col[to[i] + rank] = column;
    source[to[i] + rank] = from;
  }
};

// New rows that are too long for a kernel, in any order, for the next one. There is room for all that there can be.
struct RowList {
  Index* row;
  unsigned* count;

  __device__ void add(Index i) const { row[atomicAdd(count, 1u)] = i; }
};

// 32 columns: those of the row, and how many of the row's lie before the first.
struct ColumnBits {
  unsigned bits, before;
};

// counts[i] = entries of the new row i, and a 0 after them.
template <class RowPtr>
__global__ void __launch_bounds__(PermuteTuning::threads)
    count_kernel(Index rows, const RowPtr* row_ptr, const Index* old_of_new, Offset* counts) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i > rows) return;
  counts[i] = i == rows ? Offset{0} : Offset{row_ptr[old_of_new[i] + 1]} - Offset{row_ptr[old_of_new[i]]};
}

// How many of `columns` are smaller.
__device__ __forceinline__ int rank_among(const Index* columns, int length, Index column) {
  int rank = 0;
  for (int k = 0; k < length; ++k) rank += columns[k] < column ? 1 : 0;
  return rank;
}

// `lanes` threads of a warp have a row, whose new columns they stage in shared memory.
template <int lanes, class RowPtr>
__global__ void __launch_bounds__(PermuteTuning::threads)
    rank_by_lanes_kernel(PermuteView<RowPtr> a, RowList longer) {
  constexpr int groups = 32 / lanes, most = lanes * PermuteTuning::entries_of_lane;
  __shared__ Index staged[PermuteTuning::warps * groups][most + 1];  // the groups of a warp in different banks
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  Index* const columns = staged[threadIdx.x / lanes];
  const std::int64_t warp = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  const std::int64_t step = std::int64_t{gridDim.x} * PermuteTuning::warps * groups;
  for (std::int64_t first = warp * groups; first < a.rows; first += step) {  // the same for the whole warp
    const std::int64_t row = first + (threadIdx.x % 32) / lanes;
    const bool exists = row < a.rows;
    const auto i = static_cast<Index>(row);
    const Offset length = exists ? a.length(i) : 0, begin = exists ? a.begin(i) : 0;
    const int here = length <= most ? static_cast<int>(length) : 0;
    for (int k = lane; k < here; k += lanes) columns[k] = a.new_of_old[a.col[begin + k]];
    __syncwarp();
    for (int k = lane; k < here; k += lanes) {
      a.put(i, rank_among(columns, here, columns[k]), columns[k], begin + k);
    }
    if (length > most && lane == 0) longer.add(i);
    __syncwarp();
  }
}

// A block has a row of those that lanes left.
template <class RowPtr>
__global__ void __launch_bounds__(PermuteTuning::threads)
    rank_by_blocks_kernel(PermuteView<RowPtr> a, RowList rows, RowList longer) {
  __shared__ Index columns[PermuteTuning::most_block_row];
  const unsigned count = *rows.count;
  for (unsigned at = blockIdx.x; at < count; at += gridDim.x) {
    const Index i = rows.row[at];
    const Offset begin = a.begin(i), length = a.length(i);
    if (length > PermuteTuning::most_block_row) {
      if (threadIdx.x == 0) longer.add(i);
      continue;
    }
    const int here = static_cast<int>(length);
    for (int k = static_cast<int>(threadIdx.x); k < here; k += PermuteTuning::threads) {
      columns[k] = a.new_of_old[a.col[begin + k]];
    }
    __syncthreads();
    for (int k = static_cast<int>(threadIdx.x); k < here; k += PermuteTuning::threads) {
      a.put(i, rank_among(columns, here, columns[k]), columns[k], begin + k);
    }
    __syncthreads();
  }
}

// Fills `before` of all words. Each warp has a range of them.
__device__ __forceinline__ void count_before(ColumnBits* words, Index size) {
  constexpr int warps = PermuteTuning::long_threads / 32;
  __shared__ unsigned sums[warps];
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  const auto bound = [&](int w) { return static_cast<Index>(Offset{size} * w / warps); };
  unsigned sum = 0;
  for (Index w = bound(warp) + lane; w < bound(warp + 1); w += 32) {
    sum += static_cast<unsigned>(__popc(words[w].bits));
  }
  for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, apart);
  if (lane == 0) sums[warp] = sum;
  __syncthreads();
  unsigned before = 0;
  for (int w = 0; w < warp; ++w) before += sums[w];
  for (Index first = bound(warp); first < bound(warp + 1); first += 32) {
    const Index w = first + lane;
    const bool exists = w < bound(warp + 1);
    const unsigned own = exists ? static_cast<unsigned>(__popc(words[w].bits)) : 0u;
    unsigned up_to = own;
    for (int apart = 1; apart < 32; apart *= 2) {
      const unsigned below = __shfl_up_sync(0xffffffffu, up_to, apart);
      if (lane >= apart) up_to += below;
    }
    if (exists) words[w].before = before + up_to - own;
    before += __shfl_sync(0xffffffffu, up_to, 31);
  }
  __syncthreads();
}

// A block has a row of those that are left, and marks its columns in a bitmap of its own, which is all zeros before
// and after each row.
template <class RowPtr>
__global__ void __launch_bounds__(PermuteTuning::long_threads)
    rank_by_bits_kernel(PermuteView<RowPtr> a, RowList rows, ColumnBits* bitmaps, Index words_of_bitmap) {
  constexpr int step = PermuteTuning::long_threads;
  ColumnBits* const words = bitmaps + std::int64_t{blockIdx.x} * words_of_bitmap;
  const unsigned count = *rows.count;
  for (unsigned at = blockIdx.x; at < count; at += gridDim.x) {
    const Index i = rows.row[at];
    const Offset begin = a.begin(i), length = a.length(i);
    for (Offset k = threadIdx.x; k < length; k += step) {
      const Index column = a.new_of_old[a.col[begin + k]];
      atomicOr(&words[column / 32].bits, 1u << (column % 32));
    }
    __syncthreads();
    count_before(words, words_of_bitmap);
    for (Offset k = threadIdx.x; k < length; k += step) {
      const Index column = a.new_of_old[a.col[begin + k]];
      const ColumnBits word = words[column / 32];
      const unsigned smaller = word.bits & ((1u << (column % 32)) - 1);
      a.put(i, Offset{word.before} + __popc(smaller), column, begin + k);
    }
    __syncthreads();
    for (Index w = static_cast<Index>(threadIdx.x); w < words_of_bitmap; w += step) words[w] = {0, 0};
    __syncthreads();
  }
}

// `of_block`: rows that a block takes at once.
unsigned blocks_for(const Context<Space::device>& ctx, std::int64_t rows, int of_block) {
  return blocks_to_share(ctx, rows, of_block, PermuteTuning::blocks_per_processor);
}

// Lists of the rows longer than each of two lengths.
class LongRows {
 public:
  LongRows(const Context<Space::device>& ctx, Offset nnz, int short_row)
      : longer_(ctx, nnz / (short_row + 1)),
        longest_(ctx, nnz / (PermuteTuning::most_block_row + 1)),
        counts_(ctx, 2) {
    NEWEL_CHECK_CUDA(cudaMemsetAsync(counts_.data(), 0, counts_.bytes(), ctx.state().stream()));
  }
  RowList longer() { return {longer_.data(), counts_.data()}; }
  RowList longest() { return {longest_.data(), counts_.data() + 1}; }
  /// As many as there can be.
  std::int64_t most_longer() const { return longer_.size(); }
  std::int64_t most_longest() const { return longest_.size(); }

 private:
  Array<Index, Space::device> longer_, longest_;
  Array<unsigned, Space::device> counts_;
};

template <int lanes, class RowPtr>
void rank_rows(const Context<Space::device>& ctx, const PermuteView<RowPtr>& a, Offset nnz) {
  constexpr int rows_of_block = PermuteTuning::threads / lanes;
  const cudaStream_t stream = ctx.state().stream();
  LongRows rest(ctx, nnz, lanes * PermuteTuning::entries_of_lane);
  const unsigned blocks = blocks_for(ctx, a.rows, rows_of_block);
  rank_by_lanes_kernel<lanes><<<blocks, PermuteTuning::threads, 0, stream>>>(a, rest.longer());
  NEWEL_CHECK_LAUNCH();
  if (rest.most_longer() == 0) return;
  rank_by_blocks_kernel<<<blocks_for(ctx, rest.most_longer(), 1), PermuteTuning::threads, 0, stream>>>(
      a, rest.longer(), rest.longest());
  NEWEL_CHECK_LAUNCH();
  if (rest.most_longest() == 0) return;
  const Index words = a.cols / 32 + 1;
  // No more than the numbers of the matrix take, which are not there yet.
  const std::int64_t bytes = std::min<std::int64_t>(PermuteTuning::most_bit_bytes, 8 * nnz);
  const auto bitmaps_in_budget = bytes / (std::int64_t{sizeof(ColumnBits)} * words);
  const std::int64_t bitmaps = std::clamp<std::int64_t>(std::min(bitmaps_in_budget, rest.most_longest()), 1,
                                                        2 * std::int64_t{ctx.multiprocessors()});
  Array<ColumnBits, Space::device> bits(ctx, bitmaps * words);
  NEWEL_CHECK_CUDA(cudaMemsetAsync(bits.data(), 0, bits.bytes(), stream));
  rank_by_bits_kernel<<<static_cast<unsigned>(bitmaps), PermuteTuning::long_threads, 0, stream>>>(a, rest.longest(),
                                                                                                  bits.data(), words);
  NEWEL_CHECK_LAUNCH();
}

}  // namespace

PermutedPattern<Space::device> permute_pattern(const Context<Space::device>& ctx, const Pattern<Space::device>& a,
                                               Span<const Index, Space::device> old_of_new,
                                               Span<const Index, Space::device> new_of_old) {
  PermutedPattern<Space::device> p;
  p.row_ptr = Array<Offset, Space::device>(ctx, Offset{a.rows} + 1);
  p.col = Array<Index, Space::device>(ctx, a.nnz());
  p.source = Array<Offset, Space::device>(ctx, a.nnz());
  const cudaStream_t stream = ctx.state().stream();
  with_row_ptr(a, [&](auto row_ptr) {
    const std::int64_t blocks = Offset{a.rows} / PermuteTuning::threads + 1;
    count_kernel<<<static_cast<unsigned>(blocks), PermuteTuning::threads, 0, stream>>>(
        a.rows, row_ptr.data, old_of_new.data, p.row_ptr.data());
    NEWEL_CHECK_LAUNCH();
    exclusive_sum(ctx, p.row_ptr);
    if (a.nnz() == 0) return;
    const PermuteView<std::remove_const_t<std::remove_pointer_t<decltype(row_ptr.data)>>> view{
        a.rows,          a.cols,           row_ptr.data, a.col.data,     old_of_new.data,
        new_of_old.data, p.row_ptr.data(), p.col.data(), p.source.data()};
    if (a.nnz() <= PermuteTuning::few_entries * a.rows) {
      rank_rows<8>(ctx, view, a.nnz());
    } else {
      rank_rows<32>(ctx, view, a.nnz());
    }
  });
  return p;
}

}  // namespace newel::detail
