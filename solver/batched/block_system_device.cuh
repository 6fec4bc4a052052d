// SPDX-License-Identifier: Apache-2.0
/// BlockSystem and BlockEntries: the system of a batch that the threads of a block work on. Internal.
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

/// The system of a block and its vectors, which are padded with rows of zeros; `rows_of_thread` as in the layout.
template <class T, int rows_of_thread>
class BlockSystem {
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

  __device__ __forceinline__ BlockSystem(const BlockArgs<T>& args, char* shared) : args_(args), shared_(shared) {}

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

  __device__ __forceinline__ T rhs(At i) const { return is_row(i) ? args_.problem.b[vector_at(i)] : T(0); }
  __device__ __forceinline__ T guess(At i) const { return is_row(i) ? args_.problem.x[vector_at(i)] : T(0); }

 protected:
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

  const BlockArgs<T>& args_;
  char* shared_;
  Index system_ = 0;
};

/// Its entries and the inverses of its diagonal blocks, on the chip if they fit.
template <class T, int rows_of_thread>
class BlockEntries : public BlockSystem<T, rows_of_thread> {
  using Base = BlockSystem<T, rows_of_thread>;

 public:
  using typename Base::At;

  using Base::Base;

  /// Begins with system s: stores its values, if they fit, and the inverses of its diagonal blocks.
  __device__ __forceinline__ void take(Index s) {
    system_ = s;
    if (args_.memory.values_on_chip) load_values();
    if (args_.problem.limits.block_rows > 0) load_inverse();
  }

  __device__ __forceinline__ void publish() const { __syncthreads(); }
  __device__ __forceinline__ bool leads() const { return threadIdx.x == 0; }

  template <class F>
  __device__ __forceinline__ void each(F&& f) const {
#pragma unroll
    for (int k = 0; k < rows_of_thread; ++k) f(At{k, static_cast<int>(threadIdx.x + k * blockDim.x)});
  }

  __device__ __forceinline__ bool is_local() const { return args_.problem.limits.block_rows <= 1; }
  __device__ __forceinline__ T scaled(At i, T r) const {
    return args_.problem.limits.block_rows == 0 ? r : this->template in<T>(args_.memory.inverse)[i.row] * r;
  }

 protected:
  using Base::args_;
  using Base::shared_;
  using Base::system_;

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
      const Chunk* from =
          this->template in<Chunk>(args_.memory.values) + begin * (rows_of_thread / chunk) * warp + lane;
      const Columns* columns = this->template in<Columns>(args_.memory.columns) + begin * warp + lane;
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
    const T* const all = this->values();
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
    T* const to = this->template in<T>(args_.memory.values);
    auto* const columns = this->template in<std::uint16_t>(args_.memory.columns);
    const T* const from = this->values();
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
    T* const inverse = this->template in<T>(args_.memory.inverse);
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

 private:
  static constexpr int in_chunk = BlockTuning::chunk_bytes / static_cast<int>(sizeof(T));
  static constexpr int chunk = rows_of_thread < in_chunk ? rows_of_thread : in_chunk;
  struct alignas(chunk * sizeof(T)) Chunk {
    T v[chunk];
  };
  struct alignas(rows_of_thread * sizeof(std::uint16_t)) Columns {
    std::uint16_t v[rows_of_thread];
  };
};

}  // namespace newel::detail
