// SPDX-License-Identifier: Apache-2.0
/// BlockTeam: the threads of a block, which work on one system of a batch. Internal.
#pragma once

#include "solver/batched/block_system_device.cuh"

namespace newel::detail {

/// The team of `solve_group` on a device: sums over the rows of the system of a block.
template <class T, int rows_of_thread>
class BlockTeam : public BlockEntries<T, rows_of_thread> {
  using Base = BlockEntries<T, rows_of_thread>;

 public:
  using Base::each;
  using Base::is_local;
  using Base::leads;
  using Base::publish;
  using Base::rhs;
  using Base::scaled;
  using Base::w;
  using typename Base::At;
  using typename Base::Own;

  using Base::Base;

  template <class F>
  __device__ __forceinline__ void alone(F&& f) const {
    if (leads()) f();
    __syncthreads();
  }

  __device__ __forceinline__ void store(const Own& x) const {
    each([&](At i) {
      if (this->is_row(i)) args_.problem.x[this->vector_at(i)] = x[i];
    });
    if (leads()) args_.problem.outcome[system_] = this->record(0).outcome;
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
    T* const exchange = this->template in<T>(args_.memory.exchange);
    each([&](At i) { exchange[i.row] = r[i]; });
    publish();
    const int width = args_.problem.limits.block_rows;
    each([&](At i) {
      const int first = i.row / width * width, count = min(width, args_.layout.rows - first);
      const T* const a = this->template in<T>(args_.memory.inverse) + i.row * width;
      T z = 0;
      for (int j = 0; j < count; ++j) z += a[j] * exchange[first + j];
      add(
          i, [&](At at, double* terms) { f(at, z, terms); }, mine);
    });
    return over_block(mine);
  }

 private:
  using Base::args_;
  using Base::each_step;
  using Base::system_;

  template <int K, class F>
  static __device__ __forceinline__ void add(At i, F&& f, LaneSums<K, 1>& mine) {
    double terms[K > 0 ? K : 1];
    f(i, terms);
#pragma unroll
    for (int k = 0; k < K; ++k) mine.v[k][0] += terms[k];
  }

  // The sums of all threads, in a fixed order, for all of them. Two buffers in turn: one barrier lies between the
  // last reads of one and the next writes to it.
  template <int K>
  __device__ __forceinline__ LaneSums<K, 1> over_block(LaneSums<K, 1> mine) {
    if constexpr (K == 0) {
      return mine;
    } else {
      auto& partial = this->template in<BlockHead>(0)->partial[turn_];
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

  int turn_ = 0;
};

}  // namespace newel::detail
