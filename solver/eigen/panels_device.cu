// SPDX-License-Identifier: Apache-2.0
// Panels of vectors on a device.
#include "core/vectors/vector_step_device.cuh"
#include "core/memory/context_device.hpp"
#include "solver/eigen/panels.hpp"

namespace newel::detail {
namespace {

struct PanelTuning {
  static constexpr int threads = 128;  ///< a thread of the largest dot products needs some 200 registers
  static constexpr int warps = threads / 32;
  static constexpr int blocks_per_multiprocessor = 2;
  static constexpr int combine_threads = 256;
  static constexpr int most_sums = 64;
};

unsigned panel_blocks(const Context<Space::device>& ctx, std::int64_t n) {
  return blocks_to_share(ctx, n, PanelTuning::threads, PanelTuning::blocks_per_multiprocessor);
}

// The W values of a row, which are aligned to their common length up to 16 bytes.
template <int W>
__device__ __forceinline__ void load_row(const double* __restrict__ from, double (&value)[W]) {
  if constexpr (W == 1) {
    value[0] = *from;
  } else {
#pragma unroll
    for (int c = 0; c < W; c += 2) {
      const double2 two = *reinterpret_cast<const double2*>(from + c);
      value[c] = two.x;
      value[c + 1] = two.y;
    }
  }
}

// A thread takes every (grid size)-th row and all A B sums of it. partial[k blocks + block]; the last block adds
// them, a warp for each sum.
template <int A, int B>
__global__ void __launch_bounds__(PanelTuning::threads, PanelTuning::blocks_per_multiprocessor)
    panel_dots_kernel(std::int64_t n, const double* __restrict__ a, const double* __restrict__ b,
                      const double* __restrict__ weights, double* __restrict__ sums, double* partial,
                      unsigned* tickets) {
  __shared__ double scratch[PanelTuning::warps][A * B];
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  double sum[A][B] = {};
  for (std::int64_t r = std::int64_t{blockIdx.x} * PanelTuning::threads + threadIdx.x; r < n;
       r += std::int64_t{gridDim.x} * PanelTuning::threads) {
    double left[A], right[B];
    load_row<A>(a + r * A, left);
    load_row<B>(b + r * B, right);
    const double weight = weights == nullptr ? 1.0 : weights[r];
#pragma unroll
    for (int i = 0; i < A; ++i) {
      const double weighted = left[i] * weight;
#pragma unroll
      for (int j = 0; j < B; ++j) sum[i][j] += weighted * right[j];
    }
  }
#pragma unroll
  for (int i = 0; i < A; ++i) {
#pragma unroll
    for (int j = 0; j < B; ++j) {
      double value = sum[i][j];
      for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffffu, value, offset);
      if (lane == 0) scratch[warp][i * B + j] = value;
    }
  }
  __syncthreads();
  const int t = static_cast<int>(threadIdx.x);
  if (t < A * B) {
    double total = 0;
    for (int w = 0; w < PanelTuning::warps; ++w) total += scratch[w][t];
    partial[std::int64_t{t} * gridDim.x + blockIdx.x] = total;
  }
  if (!last_block(tickets)) return;
  for (int k = warp; k < A * B; k += PanelTuning::warps) {
    const double* const left = partial + std::int64_t{k} * gridDim.x;
    double total = 0;
    for (unsigned block = static_cast<unsigned>(lane); block < gridDim.x; block += 32) total += __ldcg(left + block);
    for (int offset = 16; offset > 0; offset /= 2) total += __shfl_down_sync(0xffffffffu, total, offset);
    if (lane == 0) sums[k] = total;
  }
}

template <int F, int W>
__device__ __forceinline__ void add_row(const double* __restrict__ from, const double* coefficients,
                                        double (&sum)[W]) {
  double value[F];
  load_row<F>(from, value);
#pragma unroll
  for (int c = 0; c < F; ++c) {
#pragma unroll
    for (int j = 0; j < W; ++j) sum[j] += value[c] * coefficients[c * W + j];
  }
}

// A thread takes a row of `to`; the coefficients of all panels lie in shared memory.
template <int W>
__global__ void __launch_bounds__(PanelTuning::combine_threads)
    combine_panels_kernel(std::int64_t n, const PanelList from, const double* __restrict__ coefficients, bool adds,
                          double* __restrict__ to) {
  __shared__ double shared[most_combined * 8 * W];
  int rows = 0;
  for (int p = 0; p < from.count; ++p) rows += from.panel[p].width;
  for (int k = static_cast<int>(threadIdx.x); k < rows * W; k += PanelTuning::combine_threads)
    shared[k] = coefficients[k];
  __syncthreads();
  for (std::int64_t r = std::int64_t{blockIdx.x} * PanelTuning::combine_threads + threadIdx.x; r < n;
       r += std::int64_t{gridDim.x} * PanelTuning::combine_threads) {
    double sum[W] = {};
    const double* next = shared;
    for (int p = 0; p < from.count; ++p) {
      const int width = from.panel[p].width;
      const double* const values = from.panel[p].values + r * width;
      if (width == 8) {
        add_row<8, W>(values, next, sum);
      } else if (width == 4) {
        add_row<4, W>(values, next, sum);
      } else if (width == 2) {
        add_row<2, W>(values, next, sum);
      } else {
        add_row<1, W>(values, next, sum);
      }
      next += width * W;
    }
#pragma unroll
    for (int j = 0; j < W; ++j) to[r * W + j] = adds ? to[r * W + j] + sum[j] : sum[j];
  }
}

template <int A, int B>
void launch_dots(const Context<Space::device>& ctx, std::int64_t n, const double* a, const double* b,
                 const double* weights, double* sums, double* partial) {
  panel_dots_kernel<A, B><<<panel_blocks(ctx, n), PanelTuning::threads, 0, ctx.stream()>>>(
      n, a, b, weights, sums, partial, ctx.state().tickets());
  NEWEL_CHECK_LAUNCH();
}

template <int A>
void launch_dots_with(const Context<Space::device>& ctx, std::int64_t n, const double* a, PanelView b,
                      const double* weights, double* sums, double* partial) {
  if (b.width == 8) return launch_dots<A, 8>(ctx, n, a, b.values, weights, sums, partial);
  if (b.width == 4) return launch_dots<A, 4>(ctx, n, a, b.values, weights, sums, partial);
  if (b.width == 2) return launch_dots<A, 2>(ctx, n, a, b.values, weights, sums, partial);
  launch_dots<A, 1>(ctx, n, a, b.values, weights, sums, partial);
}

template <int W>
void launch_combine(const Context<Space::device>& ctx, std::int64_t n, const PanelList& from,
                    const double* coefficients, bool adds, double* to) {
  const unsigned blocks = blocks_to_share(ctx, n, PanelTuning::combine_threads, 8);
  combine_panels_kernel<W>
      <<<blocks, PanelTuning::combine_threads, 0, ctx.stream()>>>(n, from, coefficients, adds, to);
  NEWEL_CHECK_LAUNCH();
}

}  // namespace

void panel_dots(const Context<Space::device>& ctx, std::int64_t n, PanelView a, PanelView b, const double* weights,
                double* sums, double* partial) {
  if (a.width == 8) return launch_dots_with<8>(ctx, n, a.values, b, weights, sums, partial);
  if (a.width == 4) return launch_dots_with<4>(ctx, n, a.values, b, weights, sums, partial);
  if (a.width == 2) return launch_dots_with<2>(ctx, n, a.values, b, weights, sums, partial);
  launch_dots_with<1>(ctx, n, a.values, b, weights, sums, partial);
}

void combine_panels(const Context<Space::device>& ctx, std::int64_t n, const PanelList& from,
                    const double* coefficients, bool adds, double* to, int to_width) {
  if (to_width == 8) return launch_combine<8>(ctx, n, from, coefficients, adds, to);
  if (to_width == 4) return launch_combine<4>(ctx, n, from, coefficients, adds, to);
  if (to_width == 2) return launch_combine<2>(ctx, n, from, coefficients, adds, to);
  launch_combine<1>(ctx, n, from, coefficients, adds, to);
}

std::int64_t panel_scratch(const Context<Space::device>& ctx, std::int64_t n) {
  return std::int64_t{panel_blocks(ctx, n)} * PanelTuning::most_sums;
}

}  // namespace newel::detail
