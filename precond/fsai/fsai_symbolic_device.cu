// SPDX-License-Identifier: Apache-2.0
// FSAI's symbolic phase on the device, where G has the lower triangle of a symmetric pattern, A's or another: G^T
// then has its upper one, and an entry of it finds its number in the mirrored row by bisection. Nothing is sorted.
#include <algorithm>

#include "core/memory/context_device.hpp"
#include "core/csr/sorted_row.hpp"
#include "precond/fsai/fsai_symbolic.hpp"
#include "reorder/exclusive_sum.hpp"

namespace newel::detail {
namespace {

// 8 ms on an H200 for the pattern of a triangle of 21 million entries.
struct SymbolicTuning {
  static constexpr int threads = 256;
  static constexpr int warps = threads / 32;
  static constexpr int blocks_per_processor = 16;  // at most: grids go round
};

// Entries of each row up to the diagonal, and from the diagonal on, which counts in both whether it is there or not.
template <class RowPtr>
__global__ void __launch_bounds__(SymbolicTuning::threads)
    count_kernel(Index rows, const RowPtr* row_ptr, const Index* col, Offset* lower, Offset* upper) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; row < rows; row += step) {
    const auto i = static_cast<Index>(row);
    const Offset begin = row_ptr[i], end = row_ptr[i + 1];
    const Offset at = first_column_from(col, begin, end, i);
    const Offset own = at < end && col[at] == i ? 1 : 0;
    lower[i] = at - begin + 1;
    upper[i] = end - at - own + 1;
  }
}

// Where a pattern's triangles go; null: not wanted.
struct TrianglesOut {
  const Offset* lower_ptr;
  Index* lower_col;
  Offset* lower_source;
  const Offset* upper_ptr;
  Index* upper_col;
  Offset* upper_source;
  int* missing;
};

// A warp writes the triangles of a row. An entry (i, j) behind the diagonal stands in the lower triangle's row j
// where (j, i) does in the pattern's; `missing` is set where that is not there.
template <class RowPtr>
__global__ void __launch_bounds__(SymbolicTuning::threads)
    fill_kernel(Index rows, const RowPtr* row_ptr, const Index* col, const TrianglesOut to) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * SymbolicTuning::warps;
  for (std::int64_t row = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32; row < rows;
       row += step) {
    const auto i = static_cast<Index>(row);
    const Offset begin = row_ptr[i], end = row_ptr[i + 1];
    const Offset at = first_column_from(col, begin, end, i);
    const bool own = at < end && col[at] == i;
    const Offset lower = to.lower_ptr[i];
    for (Offset k = begin + lane; k < at; k += 32) {
      to.lower_col[lower + (k - begin)] = col[k];
      if (to.lower_source != nullptr) to.lower_source[lower + (k - begin)] = k;
    }
    if (lane == 0) {
      to.lower_col[lower + (at - begin)] = i;
      if (to.lower_source != nullptr) to.lower_source[lower + (at - begin)] = own ? at : Offset{-1};
    }
    if (to.upper_col == nullptr) continue;
    const Offset upper = to.upper_ptr[i];
    if (lane == 0) {
      to.upper_col[upper] = i;
      to.upper_source[upper] = to.lower_ptr[i + 1] - 1;
    }
    const Offset behind = at + (own ? 1 : 0);
    for (Offset k = behind + lane; k < end; k += 32) {
      const Index j = col[k];
      const Offset j_begin = row_ptr[j], j_end = row_ptr[j + 1];
      const Offset mirrored = first_column_from(col, j_begin, j_end, i);
      const bool found = mirrored < j_end && col[mirrored] == i;
      if (!found) atomicExch(to.missing, 1);
      to.upper_col[upper + 1 + (k - behind)] = j;
      to.upper_source[upper + 1 + (k - behind)] = found ? to.lower_ptr[j] + (mirrored - j_begin) : Offset{0};
    }
  }
}

// A warp compares a row of G with the one before; see begins_piece.
__global__ void __launch_bounds__(SymbolicTuning::threads)
    begins_kernel(Index rows, const Offset* row_ptr, const Index* col, unsigned char* begins) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * SymbolicTuning::warps;
  for (std::int64_t row = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32; row < rows;
       row += step) {
    const auto i = static_cast<Index>(row);
    bool begin = i == 0 || !may_go_on(i, row_ptr[i] - row_ptr[i - 1], row_ptr[i + 1] - row_ptr[i]);
    if (!begin) {
      const Offset before = row_ptr[i - 1], own = row_ptr[i];
      bool differs = false;
      for (Offset k = lane; k < own - before; k += 32) differs = differs || col[before + k] != col[own + k];
      begin = __any_sync(0xffffffffu, differs) != 0;
    }
    if (lane == 0) begins[i] = begin ? 1 : 0;
  }
}

// `of_block`: rows that a block takes at once.
unsigned blocks_for(const Context<Space::device>& ctx, Index rows, int of_block) {
  return blocks_to_share(ctx, rows, of_block, SymbolicTuning::blocks_per_processor);
}

// Row pointers of both triangles.
void count_triangles(const Context<Space::device>& ctx, const Pattern<Space::device>& a,
                     Array<Offset, Space::device>& lower_ptr, Array<Offset, Space::device>& upper_ptr) {
  const cudaStream_t stream = ctx.state().stream();
  for (Array<Offset, Space::device>* counts : {&lower_ptr, &upper_ptr}) {
    *counts = Array<Offset, Space::device>(ctx, Offset{a.rows} + 1);
    NEWEL_CHECK_CUDA(cudaMemsetAsync(counts->data(), 0, counts->bytes(), stream));
  }
  with_row_ptr(a, [&](auto row_ptr) {
    const unsigned blocks = blocks_for(ctx, a.rows, SymbolicTuning::threads);
    count_kernel<<<blocks, SymbolicTuning::threads, 0, stream>>>(a.rows, row_ptr.data, a.col.data, lower_ptr.data(),
                                                                 upper_ptr.data());
    NEWEL_CHECK_LAUNCH();
  });
  exclusive_sum(ctx, lower_ptr);
  exclusive_sum(ctx, upper_ptr);
}

void fill_triangles(const Context<Space::device>& ctx, const Pattern<Space::device>& a, const TrianglesOut& to) {
  with_row_ptr(a, [&](auto row_ptr) {
    const unsigned blocks = blocks_for(ctx, a.rows, SymbolicTuning::warps);
    fill_kernel<<<blocks, SymbolicTuning::threads, 0, ctx.state().stream()>>>(a.rows, row_ptr.data, a.col.data, to);
    NEWEL_CHECK_LAUNCH();
  });
}

// A's lower triangle alone, and where its entries stand in A.
void make_lower(const Context<Space::device>& ctx, const Pattern<Space::device>& a,
                FsaiSymbolic<Space::device>& result) {
  Array<Offset, Space::device> upper_ptr;
  count_triangles(ctx, a, result.a_row_ptr, upper_ptr);
  const Offset entries = fetch<Offset, Space::device>(ctx, result.a_row_ptr.data() + a.rows);
  result.a_col = Array<Index, Space::device>(ctx, entries);
  result.a_source = Array<Offset, Space::device>(ctx, entries);
  fill_triangles(
      ctx, a,
      {result.a_row_ptr.data(), result.a_col.data(), result.a_source.data(), nullptr, nullptr, nullptr, nullptr});
}

// What the rows of G are, in all.
struct RowFacts {
  int missing;                   ///< whether mirrored entries are
  Index count[most_limits + 1];  ///< pieces of each class
  unsigned long long longest;    ///< the length of the longest row, and in the lower half ~i for the first of them
  unsigned long long cubes;      ///< m^3 of all pieces
};

// Which class a piece of a length has, and which rows end pieces.
struct PieceView {
  Index rows;
  const Offset* row_ptr;
  const unsigned char* begins;
  int limit_count;
  Index limits[most_limits];

  __device__ Offset length(Index i) const { return row_ptr[i + 1] - row_ptr[i]; }
  __device__ bool ends(Index i) const { return i + 1 == rows || begins[i + 1] != 0; }
  __device__ int class_of(Index i) const {
    int k = 0;
    while (k < limit_count && limits[k] < length(i)) ++k;
    return k;
  }
};

// The facts of the rows, but `missing`.
__global__ void __launch_bounds__(SymbolicTuning::threads) facts_kernel(const PieceView a, RowFacts* facts) {
  __shared__ RowFacts own;
  if (threadIdx.x <= most_limits) own.count[threadIdx.x] = 0;
  if (threadIdx.x == 0) own.longest = own.cubes = 0;
  __syncthreads();
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; row < a.rows;
       row += step) {
    const auto i = static_cast<Index>(row);
    const auto m = static_cast<unsigned long long>(a.length(i));
    atomicMax(&own.longest, m << 32 | (0xffffffffu - static_cast<unsigned>(i)));
    if (!a.ends(i)) continue;
    atomicAdd(&own.count[a.class_of(i)], 1);
    atomicAdd(&own.cubes, m * m * m);
  }
  __syncthreads();
  if (threadIdx.x <= most_limits) atomicAdd(&facts->count[threadIdx.x], own.count[threadIdx.x]);
  if (threadIdx.x != 0) return;
  atomicMax(&facts->longest, own.longest);
  atomicAdd(&facts->cubes, own.cubes);
}

// The pieces of class k from `next[k]` on, which counts them; the blocks' pieces are in no order.
__global__ void __launch_bounds__(SymbolicTuning::threads)
    place_pieces_kernel(const PieceView a, Index* next, FsaiPiece* pieces) {
  __shared__ Index count[most_limits + 1], begin[most_limits + 1];
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * blockDim.x; first < a.rows; first += step) {
    const auto i = static_cast<Index>(first + threadIdx.x);
    if (threadIdx.x <= most_limits) count[threadIdx.x] = 0;
    __syncthreads();
    const bool ends = first + threadIdx.x < a.rows && a.ends(i);
    const int k = ends ? a.class_of(i) : 0;
    const Index own = ends ? atomicAdd(&count[k], 1) : Index{0};
    __syncthreads();
    if (threadIdx.x <= most_limits) begin[threadIdx.x] = atomicAdd(next + threadIdx.x, count[threadIdx.x]);
    __syncthreads();
    if (ends) {
      Index rows = 1;
      while (a.begins[i - rows + 1] == 0) ++rows;
      pieces[begin[k] + own] = {i, rows};
    }
  }
}

// The pieces of G's rows by their size, and its longest row; `facts` is there for `missing`. Returns what that is.
// Waits on the stream.
int find_pieces(const Context<Space::device>& ctx, const Array<Offset, Space::device>& row_ptr,
                const Array<Index, Space::device>& col, Array<RowFacts, Space::device>& facts,
                FsaiSymbolic<Space::device>& result) {
  const auto rows = static_cast<Index>(row_ptr.size() - 1);
  const cudaStream_t stream = ctx.state().stream();
  Array<unsigned char, Space::device> begins(ctx, rows);
  if (rows > 0) {
    begins_kernel<<<blocks_for(ctx, rows, SymbolicTuning::warps), SymbolicTuning::threads, 0, stream>>>(
        rows, row_ptr.data(), col.data(), begins.data());
    NEWEL_CHECK_LAUNCH();
  }
  const std::vector<Index> limits = fsai_limits(machine_of(ctx));
  PieceView view{rows, row_ptr.data(), begins.data(), static_cast<int>(limits.size()), {}};
  std::copy(limits.begin(), limits.end(), view.limits);
  const unsigned blocks = blocks_for(ctx, rows, SymbolicTuning::threads);
  facts_kernel<<<blocks, SymbolicTuning::threads, 0, stream>>>(view, facts.data());
  NEWEL_CHECK_LAUNCH();
  const RowFacts found = fetch<RowFacts, Space::device>(ctx, facts.data());
  if (found.missing != 0) return found.missing;

  result.longest = static_cast<Offset>(found.longest >> 32);
  if (rows > 0) result.longest_row = static_cast<Index>(0xffffffffu - static_cast<unsigned>(found.longest));
  result.operations = static_cast<double>(found.cubes) / 3;
  result.by_size.classes =
      make_fsai_classes(limits, result.longest, std::vector<Index>(found.count, found.count + limits.size() + 1));
  std::vector<Index> next(most_limits + 1);
  for (std::size_t k = 0; k < result.by_size.classes.size(); ++k) next[k] = result.by_size.classes[k].begin;
  Array<Index, Space::device> next_on_device = make_array(ctx, next);
  result.by_size.pieces = Array<FsaiPiece, Space::device>(ctx, result.by_size.classes.back().end);
  place_pieces_kernel<<<blocks, SymbolicTuning::threads, 0, stream>>>(view, next_on_device.data(),
                                                                      result.by_size.pieces.data());
  NEWEL_CHECK_LAUNCH();
  return 0;
}

}  // namespace

bool make_lower_symbolic(const Context<Space::device>& ctx, const Pattern<Space::device>& a,
                         const Pattern<Space::device>* whole, FsaiSymbolic<Space::device>& result) {
  const bool of_a = whole == nullptr;
  const Pattern<Space::device>& of_g = of_a ? a : *whole;
  Array<Offset, Space::device>& row_ptr = of_a ? result.a_row_ptr : result.g_row_ptr;
  Array<Index, Space::device>& col = of_a ? result.a_col : result.g_col;
  count_triangles(ctx, of_g, row_ptr, result.t_row_ptr);
  const Offset entries = fetch<Offset, Space::device>(ctx, row_ptr.data() + of_g.rows);
  // As many on both sides, and below each one above has its mirror: none below is left over.
  if (entries != fetch<Offset, Space::device>(ctx, result.t_row_ptr.data() + of_g.rows)) return false;
  col = Array<Index, Space::device>(ctx, entries);
  if (of_a) result.a_source = Array<Offset, Space::device>(ctx, entries);
  result.t_col = Array<Index, Space::device>(ctx, entries);
  result.t_source = Array<Offset, Space::device>(ctx, entries);
  Array<RowFacts, Space::device> facts(ctx, 1);
  NEWEL_CHECK_CUDA(cudaMemsetAsync(facts.data(), 0, facts.bytes(), ctx.state().stream()));
  fill_triangles(ctx, of_g,
                 {row_ptr.data(), col.data(), of_a ? result.a_source.data() : nullptr, result.t_row_ptr.data(),
                  result.t_col.data(), result.t_source.data(), &facts.data()->missing});
  if (!of_a) make_lower(ctx, a, result);
  return find_pieces(ctx, row_ptr, col, facts, result) == 0;
}

}  // namespace newel::detail
