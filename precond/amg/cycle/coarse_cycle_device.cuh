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
struct CoarseCycleLevel {
  BlockRowsView<T> a, p, transposed;
  BlockRowsView<double> exact;  // a, between two cycles
  Index rows;
  int next_steps;
  T first, c1[CoarseTuning::most_steps], c2[CoarseTuning::most_steps];
  T weight[2];  // with which its cycles go into x
  const T* smoother;
  bool keeps_b;  // two cycles need it
  Offset at;     // where its vectors stand among those of a column
};

/// The vectors of a level, of `rows` each, one after the other. b and x of the level that a launch begins with are
/// the caller's; d and e are directions, in turn.
template <class T>
struct CoarseVectors {
  static constexpr int count = 5;
  T *b, *x, *r, *d, *e;
  __device__ CoarseVectors(T* at, Index rows)
      : b(at), x(at + rows), r(at + Offset{2} * rows), d(at + Offset{3} * rows), e(at + Offset{4} * rows) {}
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
  const CoarseCycleLevel<T>* levels;
  int count;
  int from;  // the level that the launch begins with
  const CoarsePart* parts;
  int part_count;
  BlockRowsView<T> inverse;  // without rows where the last level's smoother ends the cycle
  Offset inverse_at;         // where its b and x stand among the vectors of a column
  int columns;               // vectors b and x, one after the other, each with blocks of its own
  Offset of_column;          // values in `vectors`
  T* vectors;
  const T* b;
  T* x;
  unsigned long long* arrived;  // of each column: blocks at synchronisations, and blocks that have left; 0 between
                                // launches
};

/// All blocks of a column wait for each other. What one has written before is there for all of them afterwards.
/// Measured on an H200, 132 blocks with a little work: 1.65 us, with fences around a plain counter 1.86 us, with a
/// flag for each block 1.74 us.
class GridBarrier {
 public:
  __device__ GridBarrier(unsigned long long* arrived, unsigned blocks) : arrived_(arrived), blocks_(blocks) {}

  __device__ void wait() {
    wanted_ += blocks_;
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
    if (threadIdx.x != 0 || atomicAdd(arrived_ + 1, 1ull) + 1 < blocks_) return;
    arrived_[0] = arrived_[1] = 0;
  }

 private:
  unsigned long long* arrived_;
  unsigned blocks_;
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
  __device__ explicit CoarseKernel(const CoarseArgs<T>& args)
      : args_(args),
        at_(args.columns),
        barrier_(args.arrived + 2 * at_.column, gridDim.x / args.columns),
        vectors_(args.vectors + at_.column * args.of_column) {
    const Offset rows = args.count > 0 ? args.levels[args.from].rows : Index{args.inverse.m};
    b_ = args.b + at_.column * rows;
    x_ = args.x + at_.column * rows;
  }

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
    const CoarseCycleLevel<T>& level = args_.levels[l];
    const CoarseVectors<T> own = vectors(l);
    const T weight = level.weight[second];
    T* const x = x_of(l);
    const auto smoother = [&](Index i) { return load_cached(level.smoother + i); };
    const auto start = [&](Index i, T b, T s) {
      const T value = level.first * s * b;
      own.r[i] = b;
      own.d[i] = value;
      x[i] = weight * value;
    };
    if (second != 0) {
      begin_again<together>(l);
    } else if (l == args_.from) {
      for (Index i = at_.thread; i < level.rows; i += at_.threads) start(i, b_[i], smoother(i));
    } else {
      const CoarseCycleLevel<T>& above = args_.levels[l - 1];
      for_rows(above.transposed, at_, fresh(vectors(l - 1).r), smoother, [&](Index i, T b, T s) {
        if (level.keeps_b) own.b[i] = b;
        start(i, b, s);
      });
    }
    const LaneRows<T, together> held = hold<together>(level.a);
    barrier_.wait();
    if (second != 0 && level.next_steps == 0) {
      for (Index i = at_.thread; i < level.rows; i += at_.threads) x[i] = __ldcg(x + i) + weight * __ldcg(own.d + i);
    }
    const T* const last = smooth_further<together>(l, held, own.d, own.e, weight, second != 0);
    if (level.p.rows == 0) return;
    for_rows_together<together>(
        level.a, at_, &held, fresh(last), [&](Index i) { return __ldcg(own.r + i); },
        [&](Index i, T sum, T r) { own.r[i] = r - sum; });
    barrier_.wait();
  }

  /// r = b - A x in double, and the direction from there.
  template <int together>
  __device__ void begin_again(int l) {
    const CoarseCycleLevel<T>& level = args_.levels[l];
    const CoarseVectors<T> to = vectors(l);
    const T* const b = l == args_.from ? b_ : to.b;
    const T* const x = x_of(l);
    for_rows_together<together, double>(
        level.exact, at_, nullptr, [x](Index j) { return static_cast<double>(__ldcg(x + j)); },
        [&](Index i) {
          return OwnOfStart{load_cached(level.smoother + i), __ldcg(b + i)};
        },
        [&](Index i, double sum, const OwnOfStart& own) {
          const T r = static_cast<T>(static_cast<double>(own.b) - sum);
          to.r[i] = r;
          to.d[i] = level.first * own.smoother * r;
        });
  }

  /// The steps after the first; the direction of the first is `d`, which x has yet to take where `adds`. Returns that
  /// of the last.
  template <int together>
  __device__ const T* smooth_further(int l, const LaneRows<T, together>& held, T* d, T* e, T weight, bool adds) {
    const CoarseCycleLevel<T>& level = args_.levels[l];
    T *const x = x_of(l), *const r_of_level = vectors(l).r;
    for (int k = 0; k < level.next_steps; ++k) {
      const T c1 = level.c1[k], c2 = level.c2[k];
      for_rows_together<together>(
          level.a, at_, &held, fresh(d), [&](Index i) { return own_of(level, r_of_level, x, d, i); },
          [&](Index i, T sum, const Own& own) {
            const T r = own.r - sum;
            const T value = c1 * own.d + c2 * own.smoother * r;
            r_of_level[i] = r;
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
    T *const b = vectors_ + args_.inverse_at, *const x = args_.count == 0 ? x_ : inverse_x();
    if (args_.count == 0) {
      for (Index i = at_.thread; i < args_.inverse.m; i += at_.threads) b[i] = b_[i];
    } else {
      const CoarseCycleLevel<T>& above = args_.levels[args_.count - 1];
      for_rows(above.transposed, at_, fresh(vectors(args_.count - 1).r), nothing_before(),
               [&](Index i, T sum, NothingBefore) { b[i] = sum; });
    }
    barrier_.wait();
    for_rows(args_.inverse, at_, fresh(b), nothing_before(), [&](Index i, T sum, NothingBefore) { x[i] = sum; });
    barrier_.wait();
  }

  /// The correction of the next level, and the smoother again.
  template <int together>
  __device__ void ascend(int l, int second) {
    const CoarseCycleLevel<T>& level = args_.levels[l];
    const CoarseVectors<T> of_level = vectors(l);
    const T weight = level.weight[second];
    const T* const coarse = l + 1 < args_.count ? vectors(l + 1).x : inverse_x();
    T* const x = x_of(l);
    for_rows(level.p, at_, fresh(coarse), nothing_before(),
             [&](Index i, T sum, NothingBefore) { of_level.d[i] = sum; });
    const LaneRows<T, together> held = hold<together>(level.a);
    barrier_.wait();
    for_rows_together<together>(
        level.a, at_, &held, fresh(of_level.d), [&](Index i) { return own_of(level, of_level.r, x, of_level.d, i); },
        [&](Index i, T sum, const Own& own) {
          const T r = own.r - sum;
          const T value = level.first * own.smoother * r;
          of_level.r[i] = r;
          of_level.e[i] = value;
          x[i] = own.x + weight * (own.d + value);
        });
    barrier_.wait();
    smooth_further<together>(l, held, of_level.e, of_level.d, weight, false);
  }

  __device__ static Own own_of(const CoarseCycleLevel<T>& level, const T* r, const T* x, const T* d, Index i) {
    return {load_cached(level.smoother + i), __ldcg(r + i), __ldcg(x + i), __ldcg(d + i)};
  }
  __device__ CoarseVectors<T> vectors(int l) const {
    return CoarseVectors<T>(vectors_ + args_.levels[l].at, args_.levels[l].rows);
  }
  __device__ T* x_of(int l) const { return l == args_.from ? x_ : vectors(l).x; }
  __device__ T* inverse_x() const { return vectors_ + args_.inverse_at + args_.inverse.m; }

  const CoarseArgs<T>& args_;
  ColumnPlace at_;
  GridBarrier barrier_;
  T* vectors_;  ///< of this block's column
  const T* b_;
  T* x_;
};

template <class T, int threads>
__global__ void __launch_bounds__(threads, 1) coarse_cycle_kernel(const CoarseArgs<T> args) {
  CoarseKernel<T>(args).run();
}

}  // namespace newel::detail
