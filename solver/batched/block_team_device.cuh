// SPDX-License-Identifier: Apache-2.0
/// BlockTeam: the threads of a block, which work on one system of a batch. Internal.
#pragma once

#include "core/vectors/warp_device.cuh"
#include "solver/batched/batched_gmres.hpp"
#include "solver/batched/batched_inverse.hpp"
#include "solver/batched/batched_work.hpp"
#include "solver/batched/precise_sum.hpp"

namespace newel::detail {

/// A thread has rows threadIdx.x + k blockDim.x, at most four, so that their vectors stay in registers. 512 threads
/// leave each of them 128 registers.
struct BlockTuning {
  static constexpr int most_threads = 512, rows_of_thread = 4, most_rows = most_threads * rows_of_thread;
  static constexpr int entries_of_thread = 32;  ///< from which on a thread has fewer rows
  static constexpr int most_sums = 2;
};

/// What a launch has in shared memory, in bytes from its beginning, and what it leaves in the device's memory.
struct BlockMemory {
  std::size_t small = 0, w = 0, inverse = 0, exchange = 0, basis = 0, values = 0, bytes = 0;
  bool values_on_chip = false, basis_on_chip = false;
};

/// Arguments of a launch.
template <class T>
struct BlockArgs {
  BatchedProblem<T> problem;
  BlockLayout layout;
  BlockMemory memory;
  T* basis;  ///< of each block, if they are not on the chip
};

/// The team of `solve_group` on a device.
template <class T>
class BlockTeam {
 public:
  using Value = T;
  static constexpr int lanes = 1;

  struct At {
    static constexpr int lane = 0;
    int slot, row;
  };
  struct Own {
    T v[BlockTuning::rows_of_thread];
    __device__ __forceinline__ T& operator[](At i) { return v[i.slot]; }
    __device__ __forceinline__ const T& operator[](At i) const { return v[i.slot]; }
  };

  __device__ __forceinline__ BlockTeam(const BlockArgs<T>& args, char* shared) : args_(args), shared_(shared) {}

  /// Begins with system s: stores its values, if they fit, and the inverses of its diagonal blocks.
  __device__ __forceinline__ void take(Index s) {
    system_ = s;
    load_values();
    if (args_.problem.limits.block_rows > 0) load_inverse();
    publish();
  }

  __device__ __forceinline__ const BatchedProblem<T>& problem() const { return args_.problem; }
  __device__ __forceinline__ bool uses(int) const { return true; }
  __device__ __forceinline__ BatchedOutcome outcome(int) const { return args_.problem.last(system_); }

  __device__ __forceinline__ Own own() const { return {}; }
  __device__ __forceinline__ T& w(At i) const { return in<T>(args_.memory.w)[i.row]; }
  __device__ __forceinline__ T& basis(int j, At i) const {
    T* const first = args_.memory.basis_on_chip
                         ? in<T>(args_.memory.basis)
                         : args_.basis + static_cast<std::int64_t>(blockIdx.x) * (args_.problem.limits.restart + 1) *
                                             args_.layout.rows;
    return first[j * args_.layout.rows + i.row];
  }
  __device__ __forceinline__ double& small(int k, int) const { return in<double>(args_.memory.small)[k]; }
  __device__ __forceinline__ void publish() const { __syncthreads(); }
  __device__ __forceinline__ bool leads() const { return threadIdx.x == 0; }
  template <class F>
  __device__ __forceinline__ void alone(F&& f) const {
    if (leads()) f();
    __syncthreads();
  }

  __device__ __forceinline__ T rhs(At i) const { return args_.problem.b[vector_at(i)]; }
  __device__ __forceinline__ T guess(At i) const { return args_.problem.x[vector_at(i)]; }
  __device__ __forceinline__ void store(const Own& x, const BatchedStates<1>& state) const {
    each([&](At i) { args_.problem.x[vector_at(i)] = x[i]; });
    if (leads()) args_.problem.outcome[system_] = state[0].outcome;
  }

  template <class F>
  __device__ __forceinline__ void each(F&& f) const {
#pragma unroll
    for (int k = 0; k < BlockTuning::rows_of_thread; ++k) {
      const int row = static_cast<int>(threadIdx.x + k * blockDim.x);
      if (row < args_.layout.rows) f(At{k, row});
    }
  }

  template <int K, class F>
  __device__ __forceinline__ LaneSums<K, 1> sums(F&& f) {
    LaneSums<K, 1> mine;
    each([&](At i) { add(i, f, mine); });
    return over_block(mine);
  }

  template <int K, class F>
  __device__ __forceinline__ LaneSums<K, 1> product_sums(F&& f) {
    LaneSums<K, 1> mine;
    const T* const from = in<T>(args_.memory.w);
    each([&](At i) {
      T y = 0;
      each_entry(i.row, [&](T a, int column) { y += a * from[column]; });
      add(i, [&](At at, double* terms) { f(at, y, terms); }, mine);
    });
    return over_block(mine);
  }

  template <class F>
  __device__ __forceinline__ LaneSums<1, 1> residual_sums(const Own& x, F&& f) {
    each([&](At i) { w(i) = x[i]; });
    publish();
    LaneSums<1, 1> mine;
    const T* const from = in<T>(args_.memory.w);
    each([&](At i) {
      PreciseSum<T> sum{static_cast<double>(rhs(i)), 0};
      each_entry(i.row, [&](T a, int column) { sum.add_product(-a, from[column], -0.0); });
      const double r = sum.value();
      f(i, r);
      mine.v[0][0] += r * r;
    });
    return over_block(mine);
  }

  __device__ __forceinline__ bool is_local() const { return args_.problem.limits.block_rows <= 1; }
  __device__ __forceinline__ T scaled(At i, T r) const {
    return args_.problem.limits.block_rows == 0 ? r : in<T>(args_.memory.inverse)[i.row] * r;
  }

  template <int K, class F>
  __device__ __forceinline__ LaneSums<K, 1> precond_sums(const Own& r, F&& f) {
    LaneSums<K, 1> mine;
    if (is_local()) {
      each([&](At i) { add(i, [&](At at, double* terms) { f(at, scaled(at, r[at]), terms); }, mine); });
      return over_block(mine);
    }
    T* const exchange = in<T>(args_.memory.exchange);
    each([&](At i) { exchange[i.row] = r[i]; });
    publish();
    const int width = args_.problem.limits.block_rows;
    each([&](At i) {
      const int first = i.row / width * width, count = min(width, args_.layout.rows - first);
      const T* const a = in<T>(args_.memory.inverse) + i.row * width;
      T z = 0;
      for (int j = 0; j < count; ++j) z += a[j] * exchange[first + j];
      add(i, [&](At at, double* terms) { f(at, z, terms); }, mine);
    });
    return over_block(mine);
  }

 private:
  template <class V>
  __device__ __forceinline__ V* in(std::size_t at) const {
    return reinterpret_cast<V*>(shared_ + at);
  }
  __device__ __forceinline__ std::int64_t vector_at(At i) const {
    return static_cast<std::int64_t>(system_) * args_.layout.rows + i.row;
  }
  __device__ __forceinline__ const T* values() const {
    return args_.problem.values + system_ * args_.problem.nonzeros;
  }

  template <int K, class F>
  static __device__ __forceinline__ void add(At i, F&& f, LaneSums<K, 1>& mine) {
    double terms[K > 0 ? K : 1];
    f(i, terms);
#pragma unroll
    for (int k = 0; k < K; ++k) mine.v[k][0] += terms[k];
  }

  // f(value, column) for the entries of a row, in their order, then for padding: 0 and the row itself.
  template <class F>
  __device__ __forceinline__ void each_entry(int row, F&& f) const {
    const BlockLayout& layout = args_.layout;
    const int end = layout.slice[row / warp + 1];
    int slot = layout.slice[row / warp] + row % warp;
    if (args_.memory.values_on_chip) {
      const T* const value = in<T>(args_.memory.values);
      for (; slot < end; slot += warp) f(value[slot], static_cast<int>(layout.column[slot]));
      return;
    }
    const T* const value = values();
    for (; slot < end; slot += warp) {
      const int source = layout.source[slot];
      f(source >= 0 ? value[source] : T(0), static_cast<int>(layout.column[slot]));
    }
  }

  __device__ __forceinline__ void load_values() const {
    if (!args_.memory.values_on_chip) return;
    T* const to = in<T>(args_.memory.values);
    const T* const from = values();
    for (int slot = static_cast<int>(threadIdx.x); slot < args_.layout.slots; slot += static_cast<int>(blockDim.x)) {
      const int source = args_.layout.source[slot];
      to[slot] = source >= 0 ? from[source] : T(0);
    }
    publish();
  }

  __device__ __forceinline__ void load_inverse() const {
    const int width = args_.problem.limits.block_rows, rows = args_.layout.rows;
    T* const inverse = in<T>(args_.memory.inverse);
    each([&](At i) {
      T* const to = inverse + i.row * width;
      const int first = i.row / width * width;
      for (int j = 0; j < width; ++j) to[j] = T(0);
      each_entry(i.row, [&](T a, int column) {
        if (column >= first && column < first + width) to[column - first] += a;
      });
    });
    publish();
    for (int block = static_cast<int>(threadIdx.x); block * width < rows; block += static_cast<int>(blockDim.x)) {
      const int first = block * width;
      invert_batched_block(inverse + first * width, min(width, rows - first), width, 1);
    }
  }

  // The sums of all threads, in a fixed order, for all of them. Two buffers in turn: one barrier lies between the
  // last reads of one and the next writes to it.
  template <int K>
  __device__ __forceinline__ LaneSums<K, 1> over_block(LaneSums<K, 1> mine) {
    if constexpr (K == 0) {
      return mine;
    } else {
      constexpr int most_warps = BlockTuning::most_threads / warp;
      double* const partial = in<double>(0) + turn_ * BlockTuning::most_sums * most_warps;
      turn_ ^= 1;
#pragma unroll
      for (int apart = warp / 2; apart > 0; apart /= 2) {
#pragma unroll
        for (int k = 0; k < K; ++k) mine.v[k][0] += __shfl_xor_sync(0xffffffffu, mine.v[k][0], apart);
      }
      const int of_warp = static_cast<int>(threadIdx.x / warp), warps = static_cast<int>(blockDim.x / warp);
      if (threadIdx.x % warp == 0) {
#pragma unroll
        for (int k = 0; k < K; ++k) partial[k * most_warps + of_warp] = mine.v[k][0];
      }
      __syncthreads();
      LaneSums<K, 1> total;
#pragma unroll
      for (int k = 0; k < K; ++k) {
        for (int from = 0; from < warps; ++from) total.v[k][0] += partial[k * most_warps + from];
      }
      return total;
    }
  }

  const BlockArgs<T>& args_;
  char* shared_;
  Index system_ = 0;
  int turn_ = 0;
};

}  // namespace newel::detail
