// SPDX-License-Identifier: Apache-2.0
/// BlockTeam: the threads of a block, which work on one system of a batch. Internal.
#pragma once

#include "core/vectors/warp_device.cuh"
#include "solver/batched/batched_gmres.hpp"
#include "solver/batched/batched_inverse.hpp"
#include "solver/batched/batched_work.hpp"
#include "solver/batched/precise_sum.hpp"

namespace newel::detail {

/// Four rows of a thread keep their vectors in registers and hide the latency of each other's products; threads of
/// systems with long rows have one.
struct BlockTuning {
  static constexpr int most_threads = 512, rows_of_thread = 4, most_rows = most_threads * rows_of_thread;
  static constexpr int long_rows = 24;  ///< entries of an average row from which on a thread has one
  static constexpr int most_sums = 2, most_warps = most_threads / warp;
  static constexpr int chunk_bytes = 16;
};

/// Shared memory begins with the sums of warps, twice, then the record, then w.
struct BlockHead {
  double partial[2][BlockTuning::most_warps][BlockTuning::most_sums];
  BatchedRecord record;
};
constexpr std::size_t block_head_bytes =
    (sizeof(BlockHead) + BlockTuning::chunk_bytes - 1) / BlockTuning::chunk_bytes * BlockTuning::chunk_bytes;

/// Where the rest is, in bytes from the beginning, and what a launch leaves in the device's memory.
struct BlockMemory {
  std::size_t values = 0, columns = 0, inverse = 0, exchange = 0, small = 0, basis = 0, bytes = 0;
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

/// The team of `solve_group` on a device; `rows_of_thread` as in the layout. Vectors are padded with rows of zeros.
template <class T, int rows_of_thread>
class BlockTeam {
 public:
  using Value = T;
  static constexpr int lanes = 1;

  struct At {
    static constexpr int lane = 0;
    int slot, row;
  };
  struct Own {
    T v[rows_of_thread];
    __device__ __forceinline__ T& operator[](At i) { return v[i.slot]; }
    __device__ __forceinline__ const T& operator[](At i) const { return v[i.slot]; }
  };

  __device__ __forceinline__ BlockTeam(const BlockArgs<T>& args, char* shared) : args_(args), shared_(shared) {}

  /// Begins with system s: stores its values, if they fit, and the inverses of its diagonal blocks.
  __device__ __forceinline__ void take(Index s) {
    system_ = s;
    if (args_.memory.values_on_chip) load_values();
    if (args_.problem.limits.block_rows > 0) load_inverse();
  }

  __device__ __forceinline__ const BatchedProblem<T>& problem() const { return args_.problem; }
  __device__ __forceinline__ bool uses(int) const { return true; }
  __device__ __forceinline__ BatchedOutcome outcome(int) const { return args_.problem.last(system_); }
  __device__ __forceinline__ BatchedRecord& record(int) const { return in<BlockHead>(0)->record; }

  __device__ __forceinline__ Own own() const { return {}; }
  __device__ __forceinline__ T& w(At i) const { return in<T>(block_head_bytes)[i.row]; }
  __device__ __forceinline__ T& basis(int j, At i) const {
    T* const first = args_.memory.basis_on_chip
                         ? in<T>(args_.memory.basis)
                         : args_.basis + static_cast<std::int64_t>(blockIdx.x) * (args_.problem.limits.restart + 1) *
                                             args_.layout.padded_rows();
    return first[j * args_.layout.padded_rows() + i.row];
  }
  __device__ __forceinline__ double& small(int k, int) const { return in<double>(args_.memory.small)[k]; }
  __device__ __forceinline__ void publish() const { __syncthreads(); }
  __device__ __forceinline__ bool leads() const { return threadIdx.x == 0; }
  template <class F>
  __device__ __forceinline__ void alone(F&& f) const {
    if (leads()) f();
    __syncthreads();
  }

  __device__ __forceinline__ T rhs(At i) const { return is_row(i) ? args_.problem.b[vector_at(i)] : T(0); }
  __device__ __forceinline__ T guess(At i) const { return is_row(i) ? args_.problem.x[vector_at(i)] : T(0); }
  __device__ __forceinline__ void store(const Own& x) const {
    each([&](At i) {
      if (is_row(i)) args_.problem.x[vector_at(i)] = x[i];
    });
    if (leads()) args_.problem.outcome[system_] = record(0).outcome;
  }

  template <class F>
  __device__ __forceinline__ void each(F&& f) const {
#pragma unroll
    for (int k = 0; k < rows_of_thread; ++k) f(At{k, static_cast<int>(threadIdx.x + k * blockDim.x)});
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
    T y[rows_of_thread] = {};
    each_step([&](int k, T a, T from, int) { y[k] += a * from; });
    each([&](At i) {
      add(
          i, [&](At at, double* terms) { f(at, y[at.slot], terms); }, mine);
    });
    return over_block(mine);
  }

  template <class F>
  __device__ __forceinline__ LaneSums<1, 1> residual_sums(const Own& x, F&& f) {
    each([&](At i) { w(i) = x[i]; });
    publish();
    LaneSums<1, 1> mine;
    PreciseSum<T> sum[rows_of_thread];
    each([&](At i) { sum[i.slot].hi = static_cast<double>(rhs(i)); });
    each_step([&](int k, T a, T from, int) { sum[k].add_product(-a, from, -0.0); });
    each([&](At i) {
      const double r = sum[i.slot].value();
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
      each([&](At i) {
        add(
            i, [&](At at, double* terms) { f(at, scaled(at, r[at]), terms); }, mine);
      });
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
      add(
          i, [&](At at, double* terms) { f(at, z, terms); }, mine);
    });
    return over_block(mine);
  }

 private:
  static constexpr int in_chunk = BlockTuning::chunk_bytes / static_cast<int>(sizeof(T));
  static constexpr int chunk = rows_of_thread < in_chunk ? rows_of_thread : in_chunk;
  struct alignas(chunk * sizeof(T)) Chunk {
    T v[chunk];
  };
  struct alignas(rows_of_thread * sizeof(std::uint16_t)) Columns {
    std::uint16_t v[rows_of_thread];
  };

  template <class V>
  __device__ __forceinline__ V* in(std::size_t at) const {
    return reinterpret_cast<V*>(shared_ + at);
  }
  __device__ __forceinline__ bool is_row(At i) const { return i.row < args_.layout.rows; }
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

  // f(k, value, w_column, column) for an entry of each of the thread's rows, k being the row's number; then for
  // others.
  template <class F>
  __device__ __forceinline__ void each_step(F&& f) const {
    const int lane = static_cast<int>(threadIdx.x % warp);
    const int* const first = args_.layout.first + threadIdx.x / warp;
    const int begin = first[0], end = first[1];
    const char* const w = shared_ + block_head_bytes;
    const auto step = [&](const T* value, const Columns& column) {
#pragma unroll
      for (int k = 0; k < rows_of_thread; ++k) {
        f(k, value[k], *reinterpret_cast<const T*>(w + column.v[k]), column.v[k] / static_cast<int>(sizeof(T)));
      }
    };
    if (args_.memory.values_on_chip) {
      const Chunk* from = in<Chunk>(args_.memory.values) + begin * (rows_of_thread / chunk) * warp + lane;
      const Columns* columns = in<Columns>(args_.memory.columns) + begin * warp + lane;
      for (int j = begin; j < end; ++j, columns += warp) {
        T value[rows_of_thread];
#pragma unroll
        for (int c = 0; c < rows_of_thread / chunk; ++c, from += warp) {
          const Chunk read = *from;
#pragma unroll
          for (int k = 0; k < chunk; ++k) value[c * chunk + k] = read.v[k];
        }
        step(value, *columns);
      }
      return;
    }
    const T* const all = values();
    const auto* columns = reinterpret_cast<const Columns*>(args_.layout.column) + begin * warp + lane;
    for (int j = begin; j < end; ++j, columns += warp) {
      T value[rows_of_thread];
#pragma unroll
      for (int k = 0; k < rows_of_thread; ++k) {
        const int source = args_.layout.source[value_slot(j, lane, k, rows_of_thread, in_chunk)];
        value[k] = source >= 0 ? all[source] : T(0);
      }
      step(value, *columns);
    }
  }

  __device__ __forceinline__ void load_values() const {
    T* const to = in<T>(args_.memory.values);
    auto* const columns = in<std::uint16_t>(args_.memory.columns);
    const T* const from = values();
    const int slots = args_.layout.slots();
    for (int slot = static_cast<int>(threadIdx.x); slot < slots; slot += static_cast<int>(blockDim.x)) {
      const int source = args_.layout.source[slot];
      to[slot] = source >= 0 ? from[source] : T(0);
      columns[slot] = args_.layout.column[slot];
    }
    publish();
  }

  // w is not written yet, and may hold anything: its entries are read and not used.
  __device__ __forceinline__ void load_inverse() const {
    const int width = args_.problem.limits.block_rows, rows = args_.layout.rows;
    T* const inverse = in<T>(args_.memory.inverse);
    each([&](At i) {
      for (int j = 0; j < width; ++j) inverse[i.row * width + j] = T(0);
    });
    each_step([&](int k, T a, T, int column) {
      const int row = static_cast<int>(threadIdx.x + k * blockDim.x), first = row / width * width;
      if (row < rows && column >= first && column < first + width) inverse[row * width + column - first] += a;
    });
    publish();
    for (int block = static_cast<int>(threadIdx.x); block * width < rows; block += static_cast<int>(blockDim.x)) {
      const int first = block * width;
      invert_batched_block(inverse + first * width, min(width, rows - first), width, 1);
    }
    publish();
  }

  // The sums of all threads, in a fixed order, for all of them. Two buffers in turn: one barrier lies between the
  // last reads of one and the next writes to it.
  template <int K>
  __device__ __forceinline__ LaneSums<K, 1> over_block(LaneSums<K, 1> mine) {
    if constexpr (K == 0) {
      return mine;
    } else {
      auto& partial = in<BlockHead>(0)->partial[turn_];
      turn_ ^= 1;
#pragma unroll
      for (int apart = warp / 2; apart > 0; apart /= 2) {
#pragma unroll
        for (int k = 0; k < K; ++k) mine.v[k][0] += __shfl_xor_sync(0xffffffffu, mine.v[k][0], apart);
      }
      if (threadIdx.x % warp == 0) {
#pragma unroll
        for (int k = 0; k < K; ++k) partial[threadIdx.x / warp][k] = mine.v[k][0];
      }
      __syncthreads();
      LaneSums<K, 1> total;
      const int warps = static_cast<int>(blockDim.x / warp);
      for (int from = 0; from < warps; ++from) {
#pragma unroll
        for (int k = 0; k < K; ++k) total.v[k][0] += partial[from][k];
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
