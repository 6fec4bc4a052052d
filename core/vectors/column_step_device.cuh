// SPDX-License-Identifier: Apache-2.0
/// How a column step runs on the device: a thread keeps to one column, whose sums the last block adds in a fixed
/// order. Internal.
#pragma once

#include "core/vectors/column_step.hpp"
#include "core/vectors/vector_step_device.cuh"

namespace newel::detail {

/// As many threads as a split vector step has, of which each has several entries under way.
struct ColumnTuning {
  static constexpr int threads = 512;
  static constexpr int blocks_per_multiprocessor = 2;  ///< 2 x 8 columns x 2 sums: what the context has partials for
  static constexpr int entries = 4;
};

template <class T, int count>
struct RegisterCoefficients {
  T value[count > 0 ? count : 1] = {};
  __device__ __forceinline__ T& operator()(int j) { return value[j]; }
  __device__ __forceinline__ T operator()(int j) const { return value[j]; }
};

/// Numbers one by one: each thread's column is active.
template <class T>
struct DeviceColumn {
  using V = T;
  __device__ __forceinline__ void read(const T* p, std::int64_t at, T& v) const { v = p[at]; }
  __device__ __forceinline__ void same(const T* p, std::int64_t row, T& v) const { v = p[row]; }
  __device__ __forceinline__ void sum_of_products(T a, T b, T c, T d, T& v) const { v = a * b + c * d; }
  __device__ __forceinline__ void write(T* p, std::int64_t at, T, T v) const { p[at] = v; }
};

template <int count>
struct ColumnRegisterSums {
  double value[count > 0 ? count : 1] = {};
  __device__ __forceinline__ void add(int s, double a, double b) { value[s] += a * b; }
};

/// The sums over the block of `value[s]` of the threads whose number is c modulo `columns`, each in a fixed order:
/// number s columns + c of what is returned, visible to all threads. `scratch` holds 17 x count x columns doubles.
template <int columns, int count>
__device__ __forceinline__ const double* block_column_sums(const double (&value)[count], double* scratch) {
  constexpr int warps = ColumnTuning::threads / 32;
  const int warp = static_cast<int>(threadIdx.x / 32), lane = static_cast<int>(threadIdx.x % 32);
  double mine[count];
#pragma unroll
  for (int s = 0; s < count; ++s) mine[s] = value[s];
  for (int offset = 16; offset >= columns; offset /= 2) {
#pragma unroll
    for (int s = 0; s < count; ++s) mine[s] += __shfl_down_sync(0xffffffffu, mine[s], offset);
  }
  __syncthreads();
  if (lane < columns) {
#pragma unroll
    for (int s = 0; s < count; ++s) scratch[(s * columns + lane) * warps + warp] = mine[s];
  }
  __syncthreads();
  double* const totals = scratch + warps * count * columns;
  if (threadIdx.x < count * columns) {
    double total = 0;
    for (int w = 0; w < warps; ++w) total += scratch[threadIdx.x * warps + w];
    totals[threadIdx.x] = total;
  }
  __syncthreads();
  return totals;
}

/// Entries of the batch follow each other over the threads; the stride is a multiple of the columns, so that a thread
/// has one column. Inactive columns are neither read nor written.
template <class Step>
__global__ void __launch_bounds__(ColumnTuning::threads, ColumnTuning::blocks_per_multiprocessor)
    sweep_columns_kernel(const Step step, std::int64_t entries, double* partial, unsigned* tickets) {
  constexpr int k = Step::columns, sums = Step::sums, together = ColumnTuning::entries;
  const int column = static_cast<int>(threadIdx.x % k);
  bool any = false;
#pragma unroll
  for (int c = 0; c < k; ++c) any = any || step.active(c);
  if (!any) return;  // the same in every thread: only `end` changes that
  ColumnRegisterSums<sums> total;
  const DeviceColumn<typename Step::Value> lanes;
  const bool on = step.active(column);
  if (on) {
    RegisterCoefficients<typename Step::Value, Step::coefficients> coefficient;
    step.begin(column, coefficient);
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
    const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    for (std::int64_t at = first; at < entries; at += together * stride) {
      typename Step::template Loaded<typename Step::Value> loaded[together];
#pragma unroll
      for (int u = 0; u < together; ++u) {
        const std::int64_t i = at + u * stride;
        if (i < entries) step.load(lanes, i, i / k, loaded[u]);
      }
#pragma unroll
      for (int u = 0; u < together; ++u) {
        const std::int64_t i = at + u * stride;
        if (i < entries) step.finish(lanes, i, loaded[u], coefficient, total);
      }
    }
  }
  if constexpr (sums > 0) {
    __shared__ double scratch[(ColumnTuning::threads / 32 + 1) * sums * k];
    const double* const mine = block_column_sums<k>(total.value, scratch);
    if (threadIdx.x < sums * k) partial[blockIdx.x * (sums * k) + threadIdx.x] = mine[threadIdx.x];
    if (!last_block(tickets)) return;
    RegisterSums<sums> of_blocks;
    for (unsigned b = threadIdx.x / k; b < gridDim.x; b += blockDim.x / k) {
#pragma unroll
      for (int s = 0; s < sums; ++s) of_blocks.add(s, __ldcg(partial + b * (sums * k) + s * k + column));
    }
    const double* const totals = block_column_sums<k>(of_blocks.value, scratch);
    if (threadIdx.x < k && on) {
      double own[sums];
#pragma unroll
      for (int s = 0; s < sums; ++s) own[s] = totals[s * k + column];
      step.end(column, own);
    }
  }
}

template <class Step>
void sweep_columns(const Context<Space::device>& ctx, std::int64_t n, const Step& step) {
  if (n == 0 && Step::sums == 0) return;
  const auto& state = ctx.state();
  const std::int64_t entries = n * Step::columns;
  const unsigned blocks =
      blocks_to_share(ctx, entries, ColumnTuning::threads, ColumnTuning::blocks_per_multiprocessor);
  sweep_columns_kernel<<<blocks, ColumnTuning::threads, 0, state.stream()>>>(step, entries, state.partial(),
                                                                             state.tickets());
  NEWEL_CHECK_LAUNCH();
}

}  // namespace newel::detail

/// Instantiates `sweep_columns` for one step on the device.
#define NEWEL_SWEEP_COLUMNS_DEVICE(...) \
  template void newel::detail::sweep_columns(const Context<Space::device>&, std::int64_t, const __VA_ARGS__&);
