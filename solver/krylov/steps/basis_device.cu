// SPDX-License-Identifier: Apache-2.0
// Products with a basis on the device.
#include "core/vectors/rank_step_device.cuh"
#include "solver/krylov/steps/basis.hpp"

namespace newel::detail {
namespace {

struct BasisTuning {
  static constexpr int threads = 512;
  static constexpr int warps = threads / 32;
  static constexpr int blocks_per_multiprocessor = 2;  ///< few blocks, whose sums are soon added
  static constexpr int rows = 2;                       ///< under way in a thread, times `columns` numbers of V each
  static constexpr int columns = 4;
  static constexpr int dots_at_once = 32;          ///< sums that a block makes in one walk down the rows
  static constexpr int coefficients_at_once = 64;  ///< columns that a block adds in one walk
  static_assert(dots_at_once <= warps * columns && coefficients_at_once % columns == 0, "");
};

unsigned basis_blocks(const Context<Space::device>& ctx, std::int64_t n) {
  return blocks_to_share(ctx, n, BasisTuning::threads, BasisTuning::blocks_per_multiprocessor);
}

// How the warps of a block share `count` dot products: sum t belongs to the warps of group t % groups, which hold
// four sums at most. All of them walk down the same rows, so that w comes from memory once.
struct DotShares {
  int count, groups, warps_each;

  __device__ explicit DotShares(int count_)
      : count(count_),
        groups((count_ + BasisTuning::columns - 1) / BasisTuning::columns),
        warps_each(BasisTuning::warps / groups) {}
};

// The sums of this thread's warp: column first + group + c * groups with w; column k is w itself. A number behind the
// last row or sum is loaded all the same, from a place that is there, so that no load waits for a condition.
template <class T, class B>
__device__ __forceinline__ void walk_dots(const DotShares& shares, const B* __restrict__ V, std::int64_t n, int k,
                                          const T* __restrict__ w, int first, double* sum) {
  constexpr int columns = BasisTuning::columns, rows = BasisTuning::rows;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int group = warp / shares.warps_each, member = warp % shares.warps_each;
  if (group >= shares.groups) return;
  const B* column[columns];
  bool with_itself[columns];
#pragma unroll
  for (int c = 0; c < columns; ++c) {
    const int j = first + group + c * shares.groups;
    with_itself[c] = j >= k;
    column[c] = !with_itself[c] ? V + j * n : c > 0 ? column[0] : V + (k - 1) * n;
  }
  const std::int64_t walkers = static_cast<std::int64_t>(gridDim.x) * shares.warps_each;
  const std::int64_t mine = static_cast<std::int64_t>(blockIdx.x) * shares.warps_each + member;
  for (std::int64_t i = mine * (32 * rows) + lane; i < n; i += walkers * (32 * rows)) {
    T wi[rows];
    B v[rows][columns];
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      const std::int64_t row = i + 32 * r < n ? i + 32 * r : n - 1;
      wi[r] = w[row];
#pragma unroll
      for (int c = 0; c < columns; ++c) v[r][c] = column[c][row];
    }
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      const double factor = i + 32 * r < n ? double(wi[r]) : 0.0;
#pragma unroll
      for (int c = 0; c < columns; ++c) sum[c] += (with_itself[c] ? double(wi[r]) : double(v[r][c])) * factor;
    }
  }
}

// partial[j * blocks + block]; the last block adds them, a warp for each column.
template <class T, class B>
__global__ void __launch_bounds__(BasisTuning::threads, BasisTuning::blocks_per_multiprocessor)
    basis_dot_kernel(PassGate gate, const B* __restrict__ V, std::int64_t n, int k, const T* __restrict__ w,
                     double* __restrict__ h, double* partial, unsigned* tickets) {
  if (!gate.open()) return;
  constexpr int columns = BasisTuning::columns;
  __shared__ double scratch[BasisTuning::warps][columns];
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  for (int first = 0; first <= k; first += BasisTuning::dots_at_once) {
    const DotShares shares(k + 1 - first < BasisTuning::dots_at_once ? k + 1 - first : BasisTuning::dots_at_once);
    double sum[columns] = {};
    walk_dots(shares, V, n, k, w, first, sum);
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) {
#pragma unroll
      for (int c = 0; c < columns; ++c) sum[c] += __shfl_down_sync(0xffffffffu, sum[c], offset);
    }
    if (first > 0) __syncthreads();  // the sums of the walk before have been read
    if (lane == 0) {
#pragma unroll
      for (int c = 0; c < columns; ++c) scratch[warp][c] = sum[c];
    }
    __syncthreads();
    const int t = static_cast<int>(threadIdx.x);
    if (t < shares.count) {
      double total = 0;
      for (int m = 0; m < shares.warps_each; ++m)
        total += scratch[t % shares.groups * shares.warps_each + m][t / shares.groups];
      partial[static_cast<std::int64_t>(first + t) * gridDim.x + blockIdx.x] = total;
    }
  }
  if (!last_block(tickets)) return;
  for (int j = warp; j <= k; j += BasisTuning::warps) {
    const double* const left = partial + static_cast<std::int64_t>(j) * gridDim.x;
    double total = 0;
#pragma unroll 8
    for (unsigned b = lane; b < gridDim.x; b += 32) total += __ldcg(left + b);
    for (int offset = 16; offset > 0; offset /= 2) total += __shfl_down_sync(0xffffffffu, total, offset);
    if (lane == 0) h[j] = total;
  }
}

// target_i += sum of coefficient_c V_i,first+c over a multiple of `columns` coefficients, those behind `count` being
// zero; returns this thread's share of the squares. Rows from the last to the first: the ones that the dot products
// read last may still be in the cache.
template <class T, class B>
__device__ __forceinline__ double walk_columns(const B* __restrict__ V, std::int64_t n, int first, int count,
                                               const T* coefficient, bool from_zero, T* __restrict__ target) {
  constexpr int columns = BasisTuning::columns, rows = BasisTuning::rows, threads = BasisTuning::threads;
  const std::int64_t tiles = (n + threads * rows - 1) / (threads * rows);
  double squares = 0;
  for (std::int64_t tile = tiles - 1 - blockIdx.x; tile >= 0; tile -= gridDim.x) {
    std::int64_t row[rows];
    T value[rows];
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      const std::int64_t i = (tile * rows + r) * threads + threadIdx.x;
      row[r] = i < n ? i : n - 1;
      value[r] = from_zero || i >= n ? T(0) : target[i];  // the last row's thread may have written it already
    }
    const B* column = V + first * n;
    for (int j = 0; j < count; j += columns) {
      B v[columns][rows];
#pragma unroll
      for (int c = 0; c < columns; ++c) {
#pragma unroll
        for (int r = 0; r < rows; ++r) v[c][r] = column[row[r]];
        column += j + c + 1 < count ? n : 0;
      }
#pragma unroll
      for (int c = 0; c < columns; ++c) {
#pragma unroll
        for (int r = 0; r < rows; ++r) value[r] += coefficient[j + c] * T(v[c][r]);
      }
    }
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      if ((tile * rows + r) * threads + threadIdx.x >= n) continue;
      target[row[r]] = value[r];
      squares += double(value[r]) * double(value[r]);
    }
  }
  return squares;
}

// target += sign V h, or from zero; returns this thread's share of target.target.
template <class T, class B>
__device__ __forceinline__ double add_columns(const B* __restrict__ V, std::int64_t n, int k,
                                              const double* __restrict__ h, double sign, bool from_zero,
                                              T* __restrict__ target) {
  constexpr int most = BasisTuning::coefficients_at_once;
  __shared__ T coefficient[most];
  double squares = 0;
  for (int first = 0; first < k; first += most) {
    const int count = k - first < most ? k - first : most;
    const int t = static_cast<int>(threadIdx.x);
    if (first > 0) __syncthreads();  // the coefficients of the walk before have been read
    if (t < most) coefficient[t] = t < count ? static_cast<T>(sign * h[first + t]) : T(0);
    __syncthreads();
    squares = walk_columns(V, n, first, count, coefficient, from_zero && first == 0, target);
  }
  return squares;
}

template <class T, class B>
__global__ void __launch_bounds__(BasisTuning::threads, BasisTuning::blocks_per_multiprocessor)
    basis_subtract_kernel(PassGate gate, const B* __restrict__ V, std::int64_t n, int k, const double* __restrict__ h,
                          T* __restrict__ w, double* ww, double* partial, unsigned* tickets) {
  if (!gate.open()) return;
  __shared__ double scratch[BasisTuning::warps];
  const double total = block_sum(add_columns(V, n, k, h, -1.0, false, w), scratch);
  if (threadIdx.x == 0) partial[blockIdx.x] = total;
  if (!last_block(tickets)) return;
  double mine = 0;
  for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) mine += __ldcg(partial + b);
  mine = block_sum(mine, scratch);
  if (threadIdx.x == 0) *ww = mine;
}

template <class T, class B>
__global__ void __launch_bounds__(BasisTuning::threads, BasisTuning::blocks_per_multiprocessor)
    basis_combine_kernel(const B* __restrict__ V, std::int64_t n, int k, const double* __restrict__ y,
                         T* __restrict__ u) {
  add_columns(V, n, k, y, 1.0, true, u);
}

// A thread adds one sum. A pass that does not run leaves its results as they were.
__global__ void __launch_bounds__(DeviceRanks::most)
    basis_over_ranks_kernel(PassGate gate, const double* all, int ranks, double* sum) {
  if (!gate.open()) return;
  const int k = static_cast<int>(threadIdx.x);
  sum[k] = sum_in_rank_order(all, ranks, static_cast<int>(blockDim.x), k);
}

// sum_k of this device becomes that of all ranks. It must not be part of what the gate reads.
void sum_pass_over_ranks(const Context<Space::device>& ctx, PassGate gate, double* sum, int count) {
  DeviceRanks* const ranks = other_devices(ctx);
  if (ranks == nullptr) return;
  for (int first = 0; first < count; first += DeviceRanks::most) {
    const int together = std::min(count - first, DeviceRanks::most);
    const double* const all = ranks->all_gather(sum + first, together);
    basis_over_ranks_kernel<<<1, static_cast<unsigned>(together), 0, ctx.stream()>>>(gate, all, ranks->size(),
                                                                                     sum + first);
    NEWEL_CHECK_LAUNCH();
  }
}

}  // namespace

template <class T, class B>
void basis_dot(const Context<Space::device>& ctx, PassGate gate, const B* V, std::int64_t n, int k, const T* w,
               double* h, double* partial) {
  basis_dot_kernel<<<basis_blocks(ctx, n), BasisTuning::threads, 0, ctx.stream()>>>(gate, V, n, k, w, h, partial,
                                                                                    ctx.state().tickets());
  NEWEL_CHECK_LAUNCH();
  sum_pass_over_ranks(ctx, gate, h, k + 1);
}

template <class T, class B>
void basis_subtract(const Context<Space::device>& ctx, PassGate gate, const B* V, std::int64_t n, int k,
                    const double* h, T* w, double* ww, double* partial) {
  basis_subtract_kernel<<<basis_blocks(ctx, n), BasisTuning::threads, 0, ctx.stream()>>>(
      gate, V, n, k, h, w, ww, partial, ctx.state().tickets());
  NEWEL_CHECK_LAUNCH();
  sum_pass_over_ranks(ctx, gate, ww, 1);
}

template <class T, class B>
void basis_combine(const Context<Space::device>& ctx, const B* V, std::int64_t n, int k, const double* y, T* u) {
  basis_combine_kernel<<<basis_blocks(ctx, n), BasisTuning::threads, 0, ctx.stream()>>>(V, n, k, y, u);
  NEWEL_CHECK_LAUNCH();
}

std::int64_t basis_scratch(const Context<Space::device>& ctx, std::int64_t n, int k) {
  return std::int64_t{basis_blocks(ctx, n)} * (k + 1);
}

#define X(T, B)                                                                                                     \
  template void basis_dot(const Context<Space::device>&, PassGate, const B*, std::int64_t, int, const T*, double*,  \
                          double*);                                                                                 \
  template void basis_subtract(const Context<Space::device>&, PassGate, const B*, std::int64_t, int, const double*, \
                               T*, double*, double*);                                                               \
  template void basis_combine(const Context<Space::device>&, const B*, std::int64_t, int, const double*, T*);
X(double, double)
X(double, float)
X(float, float)
#undef X

}  // namespace newel::detail
