// SPDX-License-Identifier: Apache-2.0
/// The cooperative kernel of AMG's coarse levels: the grid synchronises between the passes; a pass multiplies with a
/// matrix and does the vector work of its rows at once. Internal.
#pragma once

#include <cstdint>

#include "precond/amg/blocks/block_rows_device.cuh"

namespace newel::detail {

struct CoarseTuning {
  // Of the one block of a multiprocessor: few blocks synchronise sooner. Where the work of a pass is little, fewer
  // threads with more registers are faster (3.5 against 3.8 ms for a solve of generate:diffusion:68 on an H200),
  // where it is much, more threads are (23.6 against 24.1 ms, generate:elasticity:68).
  static constexpr int few_threads = 640;
  static constexpr int many_threads = 1024;
  static constexpr int rounds = 4;       // of few threads, beyond which there is much work
  static constexpr int most_steps = 16;  // of a smoother: twice the highest degree
};

/// A level of the kernel. The prolongator leads to the next level; the last one has none.
template <class T>
struct CoarseLevel {
  BlockRowsView<T> a, p, transposed;
  BlockRowsView<double> exact;  // a, between two cycles
  Index rows;
  int next_steps;
  T first, c1[CoarseTuning::most_steps], c2[CoarseTuning::most_steps];
  T weight[2];  // with which its cycles go into x
  const T* smoother;
  T *b, *x;      // not of the level that a launch begins with: those are the caller's; b where two cycles need it
  T *r, *d, *e;  // d and e: directions, in turn
};

/// Part of a cycle: down from a level, the inverse, up to a level. `second`: of two cycles of the level.
struct CoarsePart {
  enum Kind : int { down, invert, up };
  Kind kind;
  int level;
  int second;
};

template <class T>
struct CoarseArgs {
  const CoarseLevel<T>* levels;
  int count;
  int from;  // the level that the launch begins with
  const CoarsePart* parts;
  int part_count;
  BlockRowsView<T> inverse;  // without rows where the last level's smoother ends the cycle
  T *inverse_b, *inverse_x;
  const T* b;
  T* x;
  unsigned long long* arrived;  // blocks at synchronisations, and blocks that have left; 0 between launches
};

/// All blocks wait for each other. What one has written before is there for all of them afterwards. Measured on an
/// H200, 132 blocks with a little work: 1.65 us, with fences around a plain counter 1.86 us, with a flag for each
/// block 1.74 us.
class GridBarrier {
 public:
  __device__ explicit GridBarrier(unsigned long long* arrived) : arrived_(arrived) {}

  __device__ void wait() {
    wanted_ += gridDim.x;
    __syncthreads();
    if (threadIdx.x == 0) {
      auto* const counter = reinterpret_cast<std::uint64_t*>(arrived_);
      const std::uint64_t one = 1;
      std::uint64_t now;
      asm volatile("red.release.gpu.global.add.u64 [%0], %1;" ::"l"(counter), "l"(one) : "memory");
      do {
        asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(now) : "l"(counter) : "memory");
      } while (now < wanted_);
    }
    __syncthreads();
  }
  /// After the last wait: the counters are as they were before the launch.
  __device__ void leave() const {
    if (threadIdx.x != 0 || atomicAdd(arrived_ + 1, 1ull) + 1 < gridDim.x) return;
    arrived_[0] = arrived_[1] = 0;
  }

 private:
  unsigned long long* arrived_;
  unsigned long long wanted_ = 0;
};

/// What other blocks may have written in this launch is read past the first-level cache.
template <class T>
__device__ __forceinline__ auto fresh(const T* x) {
  return [x](Index j) { return __ldcg(x + j); };
}

template <class T>
class CoarseKernel {
 public:
  __device__ explicit CoarseKernel(const CoarseArgs<T>& args) : args_(args), barrier_(args.arrived) {}

  __device__ void run() {
    for (int k = 0; k < args_.part_count; ++k) {
      const CoarsePart part = args_.parts[k];
      const int l = part.level;
      if (part.kind == CoarsePart::invert) {
        solve_coarsest();
      } else if (part.kind == CoarsePart::down) {
        args_.levels[l].a.together == 3 ? descend<3>(l, part.second) : descend<1>(l, part.second);
      } else {
        args_.levels[l].a.together == 3 ? ascend<3>(l, part.second) : ascend<1>(l, part.second);
      }
    }
    barrier_.leave();
  }

 private:
  /// What a row reads of its own vectors: other blocks may have written it in this launch.
  struct Own {
    T smoother, r, x, d;
  };
  struct OwnOfStart {
    T smoother, b;
  };

  /// The first entries of a thread's first rows of A: they stay in registers while a level is smoothed.
  template <int together>
  __device__ LaneRows<T, together> hold(const BlockRowsView<T>& a) const {
    return LaneRows<T, together>(a, at_.thread / a.lanes, static_cast<int>(at_.thread) & (a.lanes - 1));
  }

  /// x and r from b or from the level above, the smoother, and the residual. In the second cycle x keeps what it has,
  /// and takes the first direction with the next.
  template <int together>
  __device__ void descend(int l, int second) {
    const CoarseLevel<T>& level = args_.levels[l];
    const T weight = level.weight[second];
    T* const x = x_of(l);
    const auto smoother = [&](Index i) { return load_cached(level.smoother + i); };
    const auto start = [&](Index i, T b, T s) {
      const T value = level.first * s * b;
      level.r[i] = b;
      level.d[i] = value;
      x[i] = weight * value;
    };
    if (second != 0) {
      begin_again<together>(l);
    } else if (l == args_.from) {
      for (Index i = at_.thread; i < level.rows; i += at_.threads) start(i, args_.b[i], smoother(i));
    } else {
      const CoarseLevel<T>& above = args_.levels[l - 1];
      for_rows(above.transposed, at_, fresh(above.r), smoother, [&](Index i, T b, T s) {
        if (level.b != nullptr) level.b[i] = b;
        start(i, b, s);
      });
    }
    const LaneRows<T, together> held = hold<together>(level.a);
    barrier_.wait();
    if (second != 0 && level.next_steps == 0) {
      for (Index i = at_.thread; i < level.rows; i += at_.threads)
        x[i] = __ldcg(x + i) + weight * __ldcg(level.d + i);
    }
    const T* const last = smooth_further<together>(l, held, level.d, level.e, weight, second != 0);
    if (level.p.rows == 0) return;
    for_rows_together<together>(
        level.a, at_, &held, fresh(last), [&](Index i) { return __ldcg(level.r + i); },
        [&](Index i, T sum, T r) { level.r[i] = r - sum; });
    barrier_.wait();
  }

  /// r = b - A x in double, and the direction from there.
  template <int together>
  __device__ void begin_again(int l) {
    const CoarseLevel<T>& level = args_.levels[l];
    const T* const b = l == args_.from ? args_.b : level.b;
    const T* const x = x_of(l);
    for_rows_together<together, double>(
        level.exact, at_, nullptr, [x](Index j) { return static_cast<double>(__ldcg(x + j)); },
        [&](Index i) {
          return OwnOfStart{load_cached(level.smoother + i), __ldcg(b + i)};
        },
        [&](Index i, double sum, const OwnOfStart& own) {
          const T r = static_cast<T>(static_cast<double>(own.b) - sum);
          level.r[i] = r;
          level.d[i] = level.first * own.smoother * r;
        });
  }

  /// The steps after the first; the direction of the first is `d`, which x has yet to take where `adds`. Returns that
  /// of the last.
  template <int together>
  __device__ const T* smooth_further(int l, const LaneRows<T, together>& held, T* d, T* e, T weight, bool adds) {
    const CoarseLevel<T>& level = args_.levels[l];
    T* const x = x_of(l);
    for (int k = 0; k < level.next_steps; ++k) {
      const T c1 = level.c1[k], c2 = level.c2[k];
      for_rows_together<together>(
          level.a, at_, &held, fresh(d), [&](Index i) { return own_of(level, x, d, i); },
          [&](Index i, T sum, const Own& own) {
            const T r = own.r - sum;
            const T value = c1 * own.d + c2 * own.smoother * r;
            level.r[i] = r;
            e[i] = value;
            x[i] = own.x + weight * (adds ? own.d + value : value);
          });
      adds = false;
      barrier_.wait();
      T* const before = d;
      d = e;
      e = before;
    }
    return d;
  }

  __device__ void solve_coarsest() {
    T* const b = args_.inverse_b;
    if (args_.count == 0) {
      for (Index i = at_.thread; i < args_.inverse.m; i += at_.threads) b[i] = args_.b[i];
    } else {
      const CoarseLevel<T>& above = args_.levels[args_.count - 1];
      for_rows(above.transposed, at_, fresh(above.r), nothing_before(),
               [&](Index i, T sum, NothingBefore) { b[i] = sum; });
    }
    barrier_.wait();
    for_rows(args_.inverse, at_, fresh(b), nothing_before(),
             [&](Index i, T sum, NothingBefore) { args_.inverse_x[i] = sum; });
    barrier_.wait();
  }

  /// The correction of the next level, and the smoother again.
  template <int together>
  __device__ void ascend(int l, int second) {
    const CoarseLevel<T>& level = args_.levels[l];
    const T weight = level.weight[second];
    const T* const coarse = l + 1 < args_.count ? args_.levels[l + 1].x : args_.inverse_x;
    T* const x = x_of(l);
    for_rows(level.p, at_, fresh(coarse), nothing_before(), [&](Index i, T sum, NothingBefore) { level.d[i] = sum; });
    const LaneRows<T, together> held = hold<together>(level.a);
    barrier_.wait();
    for_rows_together<together>(
        level.a, at_, &held, fresh(level.d), [&](Index i) { return own_of(level, x, level.d, i); },
        [&](Index i, T sum, const Own& own) {
          const T r = own.r - sum;
          const T value = level.first * own.smoother * r;
          level.r[i] = r;
          level.e[i] = value;
          x[i] = own.x + weight * (own.d + value);
        });
    barrier_.wait();
    smooth_further<together>(l, held, level.e, level.d, weight, false);
  }

  __device__ static Own own_of(const CoarseLevel<T>& level, const T* x, const T* d, Index i) {
    return {load_cached(level.smoother + i), __ldcg(level.r + i), __ldcg(x + i), __ldcg(d + i)};
  }
  __device__ T* x_of(int l) const { return l == args_.from ? args_.x : args_.levels[l].x; }

  const CoarseArgs<T>& args_;
  GridBarrier barrier_;
  LaunchPlace at_;
};

template <class T, int threads>
__global__ void __launch_bounds__(threads, 1) coarse_cycle_kernel(const CoarseArgs<T> args) {
  CoarseKernel<T>(args).run();
}

}  // namespace newel::detail
