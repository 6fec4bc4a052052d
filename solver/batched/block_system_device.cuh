// SPDX-License-Identifier: Apache-2.0
/// BlockSystem: the system of a batch that the threads of a block work on, and its vectors. Internal.
#pragma once

#include "core/vectors/warp_device.cuh"
#include "solver/batched/batched_gmres.hpp"
#include "solver/batched/batched_work.hpp"

namespace newel::detail {

/// The rows of a thread keep their vectors in registers and hide the latency of each other's products. Threads have
/// eight, or four if that pads the system with a fifth fewer rows, or for GMRES alone, whose basis in shared memory
/// leaves room for few blocks; systems with long rows have one. On an H200 (newel_bench_batch, 30 iterations of CG)
/// the kernel takes 0.85 times as long with eight as with four for 500 rows, 0.71 for 1,600 and 1.6 for 100;
/// GMRES 1.15.
struct BlockTuning {
  static constexpr int most_threads = 512, most_rows = 2048;
  static constexpr int many_rows = 8, rows_of_thread = 4;
  static constexpr double worth_many = 1.2;  ///< padded rows with many over those without, at most
  static constexpr int long_rows = 24;       ///< entries of an average row from which on a thread has one
  static constexpr int most_sums = 2, most_warps = most_threads / warp;
  static constexpr int chunk_bytes = 16;
  static constexpr int held_steps = 5, held_long_steps = 16;  ///< in registers, with four rows and with one
  static constexpr int scratch_bytes = 16 << 10;              ///< for local problems of FSAI
};

/// What the compiler knows of a thread: its rows, and how many steps of their entries it keeps in registers.
template <int rows_, int held_>
struct BlockShape {
  static constexpr int rows = rows_, held = held_;
};

/// Shared memory begins with the sums of warps, twice, then the record, then what is published. Warps that a block
/// does not have count as zero, so that sums are added four at a time.
struct BlockHead {
  static constexpr int together = 4;
  double partial[2][BlockTuning::most_sums][BlockTuning::most_warps];
  BatchedRecord record;
};
constexpr std::size_t block_head_bytes =
    (sizeof(BlockHead) + BlockTuning::chunk_bytes - 1) / BlockTuning::chunk_bytes * BlockTuning::chunk_bytes;

/// Arguments of a launch.
template <class T>
struct BlockArgs {
  BatchedProblem<T> problem;
  ThreadLayout layout;
  BlockMemory memory;
  BlockSchedule schedule;  ///< of M, unless it is of blocks
  T* basis;                ///< of each block, if they are not on the chip
};

/// The threads of a block and their vectors, which are padded; `rows_of_thread` as in the layout.
template <class T, int rows_of_thread>
class BlockThreads {
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

  __device__ __forceinline__ BlockThreads(const BlockArgs<T>& args, char* shared) : args_(args), shared_(shared) {}

  __device__ __forceinline__ Own own() const { return {}; }
  __device__ __forceinline__ Own published() const { return {}; }
  __device__ __forceinline__ T& basis(int j, At i) const {
    T* const first = args_.memory.basis_on_chip
                         ? in<T>(args_.memory.basis)
                         : args_.basis + static_cast<std::int64_t>(blockIdx.x) * (args_.problem.limits.restart + 1) *
                                             args_.layout.padded_rows();
    return first[j * args_.layout.padded_rows() + i.row];
  }
  __device__ __forceinline__ double& small(int k, int) const { return in<double>(args_.memory.small)[k]; }

  template <class F>
  __device__ __forceinline__ void each(F&& f) const {
#pragma unroll
    for (int k = 0; k < rows_of_thread; ++k) f(At{k, static_cast<int>(threadIdx.x + k * blockDim.x)});
  }
  __device__ __forceinline__ void wait() const { __syncthreads(); }
  __device__ __forceinline__ bool leads() const { return threadIdx.x == 0; }
  __device__ __forceinline__ void publish(const Own& v) const {
    each([&](At i) { in<T>(block_head_bytes)[i.row] = v[i]; });
    wait();
  }

 protected:
  template <class V>
  __device__ __forceinline__ V* in(std::size_t at) const {
    return reinterpret_cast<V*>(shared_ + at);
  }

  const BlockArgs<T>& args_;
  char* shared_;
};

/// The system that they work on; rows that pad it hold zeros.
template <class T, int rows_of_thread>
class BlockSystem : public BlockThreads<T, rows_of_thread> {
  using Base = BlockThreads<T, rows_of_thread>;

 public:
  using typename Base::At;

  using Base::Base;

  __device__ __forceinline__ const BatchedProblem<T>& problem() const { return args_.problem; }
  __device__ __forceinline__ bool uses(int) const { return true; }
  __device__ __forceinline__ BatchedOutcome outcome(int) const { return args_.problem.last(system_); }
  __device__ __forceinline__ BatchedRecord& record(int) const { return this->template in<BlockHead>(0)->record; }

  __device__ __forceinline__ T rhs(At i) const { return is_row(i) ? args_.problem.b[vector_at(i)] : T(0); }
  __device__ __forceinline__ T guess(At i) const { return is_row(i) ? args_.problem.x[vector_at(i)] : T(0); }

 protected:
  using Base::args_;

  __device__ __forceinline__ bool is_row(At i) const { return i.row < args_.layout.rows; }
  __device__ __forceinline__ std::int64_t vector_at(At i) const {
    return static_cast<std::int64_t>(system_) * args_.layout.rows + i.row;
  }
  __device__ __forceinline__ const T* values() const {
    return args_.problem.values + system_ * args_.problem.nonzeros;
  }

  Index system_ = 0;
};

}  // namespace newel::detail
