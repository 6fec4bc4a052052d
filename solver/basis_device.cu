// SPDX-License-Identifier: Apache-2.0
// Products with a basis on the device.
#include <purlin/core/vector_step_device.cuh>
#include <purlin/solver/basis.hpp>

namespace purlin::detail {
namespace {

struct BasisTuning {
  static constexpr int threads = 256;
  static constexpr int blocks_per_multiprocessor = 4;
  static constexpr int columns = 8;  ///< sums that a thread keeps in registers while it walks down the rows
};

unsigned basis_blocks(const Context<Space::device>& ctx, std::int64_t n) {
  const std::int64_t wanted = (n + BasisTuning::threads - 1) / BasisTuning::threads;
  const std::int64_t most = std::int64_t{ctx.multiprocessors()} * BasisTuning::blocks_per_multiprocessor;
  return static_cast<unsigned>(wanted < 1 ? 1 : wanted < most ? wanted : most);
}

// A block owns a contiguous run of rows, so that w, which every group of eight columns reads again, comes from the
// cache. Column k of the walk is w itself. partial[block * (k + 1) + j]; the last block adds them in block order, a
// thread for each column.
template <class T>
__global__ void __launch_bounds__(BasisTuning::threads)
    basis_dot_kernel(PassGate gate, const T* __restrict__ V, std::int64_t n, int k, const T* __restrict__ w,
                     double* __restrict__ h, double* partial, unsigned* tickets) {
  if (!gate.open()) return;
  constexpr int columns = BasisTuning::columns;
  __shared__ double scratch[BasisTuning::threads / 32];
  const std::int64_t rows = (n + gridDim.x - 1) / gridDim.x;
  const std::int64_t begin = rows * blockIdx.x;
  const std::int64_t end = begin + rows < n ? begin + rows : n;
  for (int first = 0; first <= k; first += columns) {
    double sum[columns] = {};
    for (std::int64_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
      const double wi = w[i];
#pragma unroll
      for (int c = 0; c < columns; ++c) {
        const int j = first + c;
        if (j < k)
          sum[c] += double(V[j * n + i]) * wi;
        else if (j == k)
          sum[c] += wi * wi;
      }
    }
#pragma unroll
    for (int c = 0; c < columns; ++c) {
      if (first + c > k) break;
      const double total = block_sum(sum[c], scratch);
      if (threadIdx.x == 0) partial[static_cast<std::int64_t>(blockIdx.x) * (k + 1) + first + c] = total;
    }
  }
  if (!last_block(tickets)) return;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int j = warp; j <= k; j += BasisTuning::threads / 32) {
    double total = 0;
    for (unsigned b = lane; b < gridDim.x; b += 32)
      total += __ldcg(partial + static_cast<std::int64_t>(b) * (k + 1) + j);
    for (int offset = 16; offset > 0; offset /= 2) total += __shfl_down_sync(0xffffffffu, total, offset);
    if (lane == 0) h[j] = total;
  }
}

// A thread owns a row: w_i stays in a register while the columns pass by.
template <class T>
__global__ void __launch_bounds__(BasisTuning::threads)
    basis_subtract_kernel(PassGate gate, const T* __restrict__ V, std::int64_t n, int k, const double* __restrict__ h,
                          T* __restrict__ w, double* ww, double* partial, unsigned* tickets) {
  if (!gate.open()) return;
  __shared__ double scratch[BasisTuning::threads / 32];
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  double sum = 0;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
    T wi = w[i];
#pragma unroll 8
    for (int j = 0; j < k; ++j) wi -= static_cast<T>(h[j]) * V[j * n + i];
    w[i] = wi;
    sum += double(wi) * double(wi);
  }
  const double total = block_sum(sum, scratch);
  if (threadIdx.x == 0) partial[blockIdx.x] = total;
  if (!last_block(tickets)) return;
  double mine = 0;
  for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) mine += __ldcg(partial + b);
  mine = block_sum(mine, scratch);
  if (threadIdx.x == 0) *ww = mine;
}

// A thread owns a row.
template <class T>
__global__ void __launch_bounds__(BasisTuning::threads)
    basis_combine_kernel(const T* __restrict__ V, std::int64_t n, int k, const double* __restrict__ y,
                         T* __restrict__ u) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
    T ui = 0;
#pragma unroll 8
    for (int j = 0; j < k; ++j) ui += static_cast<T>(y[j]) * V[j * n + i];
    u[i] = ui;
  }
}

}  // namespace

template <class T>
void basis_dot(const Context<Space::device>& ctx, PassGate gate, const T* V, std::int64_t n, int k, const T* w,
               double* h, double* partial) {
  basis_dot_kernel<<<basis_blocks(ctx, n), BasisTuning::threads, 0, ctx.stream()>>>(gate, V, n, k, w, h, partial,
                                                                                    ctx.state().tickets());
  PURLIN_CHECK_LAUNCH();
}

template <class T>
void basis_subtract(const Context<Space::device>& ctx, PassGate gate, const T* V, std::int64_t n, int k,
                    const double* h, T* w, double* ww, double* partial) {
  basis_subtract_kernel<<<basis_blocks(ctx, n), BasisTuning::threads, 0, ctx.stream()>>>(
      gate, V, n, k, h, w, ww, partial, ctx.state().tickets());
  PURLIN_CHECK_LAUNCH();
}

template <class T>
void basis_combine(const Context<Space::device>& ctx, const T* V, std::int64_t n, int k, const double* y, T* u) {
  basis_combine_kernel<<<basis_blocks(ctx, n), BasisTuning::threads, 0, ctx.stream()>>>(V, n, k, y, u);
  PURLIN_CHECK_LAUNCH();
}

std::int64_t basis_scratch(const Context<Space::device>& ctx, std::int64_t n, int k) {
  return std::int64_t{basis_blocks(ctx, n)} * (k + 1);
}

#define X(T)                                                                                                        \
  template void basis_dot(const Context<Space::device>&, PassGate, const T*, std::int64_t, int, const T*, double*,  \
                          double*);                                                                                 \
  template void basis_subtract(const Context<Space::device>&, PassGate, const T*, std::int64_t, int, const double*, \
                               T*, double*, double*);                                                               \
  template void basis_combine(const Context<Space::device>&, const T*, std::int64_t, int, const double*, T*);
X(double)
X(float)
#undef X

}  // namespace purlin::detail
