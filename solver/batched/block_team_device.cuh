// SPDX-License-Identifier: Apache-2.0
/// BlockTeam: the threads of a block, which work on one system of a batch. Internal.
#pragma once

#include "core/vectors/warp_sum_device.cuh"
#include "solver/batched/block_entries_device.cuh"
#include "solver/batched/precise_sum.hpp"

namespace newel::detail {

/// The team of `solve_group` on a device: sums over the rows of the system of a block. `Precond` has the system and
/// its M: BlockDiagonals or BlockFactors.
template <class Precond>
class BlockTeam : public Precond {
  using T = typename Precond::Value;

 public:
  using Precond::each;
  using Precond::is_local;
  using Precond::leads;
  using Precond::publish;
  using Precond::rhs;
  using Precond::scaled;
  using Precond::wait;
  using typename Precond::At;
  using typename Precond::Own;

  using Precond::Precond;

  /// Once, before the first system.
  __device__ __forceinline__ void prepare() const {
    constexpr int count = 2 * BlockTuning::most_sums * BlockTuning::most_warps;
    for (int k = static_cast<int>(threadIdx.x); k < count; k += static_cast<int>(blockDim.x))
      this->template in<double>(0)[k] = 0;
    wait();
  }

  template <class F>
  __device__ __forceinline__ void alone(F&& f) const {
    if (leads()) f();
    wait();
  }

  __device__ __forceinline__ void store(const Own& x) const {
    each([&](At i) {
      if (this->is_row(i)) args_.problem.x[this->vector_at(i)] = x[i];
    });
    if (leads()) args_.problem.end(system_, this->record(0).outcome);
  }

  template <int K, class F>
  __device__ __forceinline__ LaneSums<K, 1> sums(F&& f) {
    Terms<K> mine;
    each([&](At i) { mine.add(i, f); });
    return over_block(mine);
  }

  template <int K, class F>
  __device__ __forceinline__ LaneSums<K, 1> product_sums(const Own& v, F&& f) {
    Terms<K> mine;
    Own y = {};
    this->each_product(v, [&](int k, T a, T from) { y.v[k] += a * from; });
    each([&](At i) { mine.add(i, [&](At at, double* terms) { f(at, y[at], terms); }); });
    return over_block(mine);
  }

  template <class F>
  __device__ __forceinline__ LaneSums<1, 1> residual_sums(const Own& x, F&& f) {
    publish(x);
    PreciseSum<T> sum[rows];
    each([&](At i) { sum[i.slot].hi = static_cast<double>(rhs(i)); });
    this->each_product(x, [&](int k, T a, T from) { sum[k].add_product(-a, from, -0.0); });
    return residual_from([&](At i) { return sum[i.slot].value(); }, f);
  }

  template <class F>
  __device__ __forceinline__ LaneSums<1, 1> zero_residual_sums(F&& f) {
    Own zero = {};
    const auto add_zero = [&](int k, T a) { zero.v[k] += a * T(0); };
    this->each_entry(add_zero, [&](int k, T a, int) { add_zero(k, a); });
    return residual_from([&](At i) { return static_cast<double>(rhs(i)) + static_cast<double>(zero[i]); }, f);
  }

  template <int K, class F>
  __device__ __forceinline__ LaneSums<K, 1> precond_sums(const Own& r, F&& f) {
    Terms<K> mine;
    const auto take = [&](At i, T z) { mine.add(i, [&](At at, double* terms) { f(at, z, terms); }); };
    if (is_local()) {
      each([&](At i) { take(i, scaled(i, r[i])); });
    } else {
      this->apply(r, take);
    }
    return over_block(mine);
  }

 private:
  using Precond::args_;
  using Precond::system_;
  static constexpr int rows = sizeof(Own) / sizeof(T);

  // The sums of a thread.
  template <int K>
  struct Terms {
    double v[K > 0 ? K : 1] = {};

    template <class F>
    __device__ __forceinline__ void add(At i, F&& f) {
      double terms[K > 0 ? K : 1];
      f(i, terms);
#pragma unroll
      for (int k = 0; k < K; ++k) v[k] += terms[k];
    }
  };

  template <class V, class F>
  __device__ __forceinline__ LaneSums<1, 1> residual_from(V&& value, F&& f) {
    Terms<1> mine;
    each([&](At i) {
      const double r = value(i);
      f(i, r);
      mine.add(i, [&](At, double* terms) { terms[0] = r * r; });
    });
    return over_block(mine);
  }

  // The sums of all threads, in a fixed order, for all of them. Two buffers in turn: one barrier lies between the
  // last reads of one and the next writes to it.
  template <int K>
  __device__ __forceinline__ LaneSums<K, 1> over_block(const Terms<K>& mine) {
    static_assert(K <= BlockTuning::most_sums);
    if constexpr (K == 0) {
      return {};
    } else {
      auto& partial = this->template in<BlockHead>(0)->partial[turn_];
      turn_ ^= 1;
      double of_warp[K];
#pragma unroll
      for (int k = 0; k < K; ++k) of_warp[k] = warp_sum(mine.v[k]);
      if (threadIdx.x % warp == 0) {
#pragma unroll
        for (int k = 0; k < K; ++k) partial[k][threadIdx.x / warp] = of_warp[k];
      }
      wait();
      LaneSums<K, 1> total;
      const int warps = static_cast<int>(blockDim.x / warp);
#pragma unroll 1
      for (int from = 0; from < warps; from += BlockHead::together) {
#pragma unroll
        for (int k = 0; k < K; ++k) {
          const double* const of = partial[k] + from;
          total.v[k][0] += (of[0] + of[1]) + (of[2] + of[3]);
        }
      }
      return total;
    }
  }

  int turn_ = 0;
};

}  // namespace newel::detail
