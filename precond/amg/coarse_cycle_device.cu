// SPDX-License-Identifier: Apache-2.0
// Coarse levels in one cooperative kernel: a launch in place of some twenty for each level, which take longer than
// their work. The grid synchronises between the passes; a pass multiplies with a matrix and does the vector work of
// its rows at once.
#include <algorithm>

#include <purlin/core/vector_ops.hpp>
#include <purlin/precond/amg/amg_smoother.hpp>
#include <purlin/precond/amg/block_rows_device.cuh>
#include <purlin/precond/amg/coarse_cycle.hpp>
#include <purlin/precond/amg/elements_device.cuh>

namespace purlin::detail {
namespace {

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

// How many threads a pass has rows for.
template <class T>
Offset threads_for(const BlockRowsView<T>& b) {
  return Offset{b.rows} * (b.m / b.together) * b.lanes;
}

template <class T>
class DeviceCoarseCycle final : public CoarseCycle<T, Space::device> {
 public:
  DeviceCoarseCycle(const DeviceContext& ctx, const AmgHierarchy<Space::device>& hierarchy, std::size_t first,
                    int degree)
      : first_(first), degree_(degree) {
    const auto& from = hierarchy.levels();
    const bool inverted = from.back().smoother_diagonal.empty();
    levels_.resize(from.size() - first - (inverted ? 1 : 0));
    Offset work = 0;
    for (std::size_t k = 0; k < levels_.size(); ++k) {
      const CoarseLevel<T>& view = take_level(ctx, levels_[k], from[first + k]);
      work = std::max({work, threads_for(view.a), threads_for(view.p), threads_for(view.transposed)});
    }
    if (inverted) work = std::max(work, take_inverse(ctx, hierarchy));
    arrived_ = zeros<unsigned long long>(ctx, 2);
    much_ = work > Offset{CoarseTuning::rounds} * CoarseTuning::few_threads * ctx.multiprocessors();
    const Offset wanted = (work + threads() - 1) / threads();
    blocks_ = static_cast<unsigned>(std::clamp<Offset>(wanted, 1, ctx.multiprocessors()));
    args_.count = static_cast<int>(levels_.size());
    args_.arrived = arrived_.data();
    place_levels(ctx, 0);
    ctx.synchronize();
  }

  void choose_cycles(const DeviceContext& ctx, const AmgHierarchy<Space::device>& hierarchy,
                     const TriedLevels& tried) override {
    for (int k = static_cast<int>(levels_.size()); k-- > 0;) {
      Level& level = levels_[static_cast<std::size_t>(k)];
      const std::size_t l = first_ + static_cast<std::size_t>(k);
      const AmgLevel<Space::device>& from = hierarchy.levels()[l];
      if (from.last() || !tried.have(hierarchy.levels(), l)) continue;
      place_levels(ctx, k);
      LevelTrial<T, Space::device> trial(
          ctx, level.x.size(),
          [&](const DeviceArray<T>& x, DeviceArray<T>& y) {
            multiply<T>(ctx, level.a, x.data(), nullptr, y.data(), nullptr);
          },
          [&](Span<const T, Space::device> b, Span<T, Space::device> x) { launch(ctx, b.data, x.data); });
      if (!trial.is_slow()) continue;
      set_cycles(ctx, level, from, 2);
      place_levels(ctx, k);
      if (!trial.is_faster_now()) set_cycles(ctx, level, from, 1);
    }
    place_levels(ctx, 0);
    ctx.synchronize();
  }

  bool solved_twice(std::size_t k) const override { return k < levels_.size() && levels_[k].twice; }

  void refresh(const DeviceContext& ctx, const AmgHierarchy<Space::device>& hierarchy, bool prolongators) override {
    for (std::size_t k = 0; k < levels_.size(); ++k) {
      const AmgLevel<Space::device>& from = hierarchy.levels()[first_ + k];
      Level& level = levels_[k];
      level.a.refresh(ctx, from.a);
      if (level.exact.rows() > 0) level.exact.refresh(ctx, from.a);
      take_smoother(ctx, level, from);
      if (!prolongators || from.last()) continue;
      level.p.refresh(ctx, from.p);
      level.transposed.refresh(ctx, from.p, &from.galerkin.transposed());
    }
    if (args_.inverse.rows > 0) convert(ctx, hierarchy.inverse().cspan(), inverse_.span());
  }

  void apply(const DeviceContext& ctx, const T* b, T* x) const override { launch(ctx, b, x); }

  Offset entries() const override {
    Offset sum = inverse_.size();
    for (const Level& level : levels_) {
      sum += level.a.entries() + level.exact.entries() + level.p.entries() + level.transposed.entries();
    }
    return sum;
  }
  std::uint64_t matrix_bytes() const override {
    return sum([](const Level& level) { return level.a.bytes() + level.exact.bytes(); });
  }
  std::uint64_t prolongator_bytes() const override {
    return sum([](const Level& level) { return level.p.bytes() + level.transposed.bytes(); });
  }
  std::uint64_t inverse_bytes() const override { return inverse_.bytes(); }
  std::uint64_t vector_bytes() const override {
    return sum([](const Level& level) { return 5 * level.x.bytes() + level.b.bytes(); }) + inverse_b_.bytes() +
           inverse_x_.bytes();
  }
  std::uint64_t bytes_per_cycle() const override {
    std::uint64_t total = 0, cycles = 1;
    for (const Level& level : levels_) {
      if (level.twice) {
        total += cycles *
                 ((level.exact.rows() > 0 ? level.exact.bytes_read() : level.a.bytes_read()) + 5 * level.x.bytes());
        cycles *= 2;
      }
      const auto products = static_cast<std::uint64_t>(level.products);
      total += cycles * (products * level.a.bytes_read() + level.p.bytes_read() + level.transposed.bytes_read() +
                         products * 6 * level.x.bytes());
    }
    return total + cycles * inverse_.bytes();
  }

 private:
  struct Level {
    BlockRows<T> a, p, transposed;
    BlockRows<double> exact;  ///< a, for two cycles in single precision
    DeviceArray<T> smoother, b, x, r, d, e;
    bool twice = false;
    int products = 0;
    CoarseLevel<T> view{};
  };

  void launch(const DeviceContext& ctx, const T* b, T* x) const {
    CoarseArgs<T> args = args_;
    args.b = b;
    args.x = x;
    if (args.count == 0) args.inverse_x = x;
    if (args.count == 0 && args.inverse.rows == 0) return;
    void* arguments[] = {&args};
    const auto start = [&](auto kernel) {
      PURLIN_CHECK_CUDA(cudaLaunchCooperativeKernel(kernel, dim3(blocks_), dim3(static_cast<unsigned>(threads())),
                                                    arguments, 0, ctx.state().stream()));
    };
    if (much_) return start(coarse_cycle_kernel<T, CoarseTuning::many_threads>);
    start(coarse_cycle_kernel<T, CoarseTuning::few_threads>);
  }

  // What a cycle from level k on consists of, in its order.
  void add_parts(int k, std::vector<CoarsePart>& parts) const {
    if (k == args_.count) {
      if (args_.inverse.rows > 0) parts.push_back({CoarsePart::invert, 0, 0});
      return;
    }
    const Level& level = levels_[static_cast<std::size_t>(k)];
    for (int second = 0; second <= (level.twice ? 1 : 0); ++second) {
      parts.push_back({CoarsePart::down, k, second});
      add_parts(k + 1, parts);
      if (level.p.rows() > 0) parts.push_back({CoarsePart::up, k, second});
    }
  }

  // The levels as they are, for launches that begin with level k.
  void place_levels(const DeviceContext& ctx, int k) {
    std::vector<CoarseLevel<T>> views;
    for (const Level& level : levels_) views.push_back(level.view);
    std::vector<CoarsePart> parts;
    add_parts(k, parts);
    views_ = make_array(ctx, views);
    parts_ = make_array(ctx, parts);
    args_.levels = views_.data();
    args_.parts = parts_.data();
    args_.part_count = static_cast<int>(parts.size());
    args_.from = k;
  }

  // By one cycle, or by two of the first level's degree.
  void set_cycles(const DeviceContext& ctx, Level& level, const AmgLevel<Space::device>& from, int cycles) {
    const bool twice = cycles == 2;
    level.twice = twice;
    take_steps(level, from, twice ? degree_ : coarse_degree(degree_));
    level.view.weight[0] = static_cast<T>(twice ? 1 / TwoCycles::first_root : 1);
    level.view.weight[1] = static_cast<T>(1 / TwoCycles::second_root);
    level.b = twice ? DeviceArray<T>(ctx, level.x.size()) : DeviceArray<T>();
    level.view.b = level.b.data();
    if constexpr (std::is_same_v<T, double>) {
      level.view.exact = level.a.view();
    } else {
      level.exact = twice ? BlockRows<double>(ctx, from.a) : BlockRows<double>();
      level.view.exact = level.exact.view();
    }
  }

  Offset threads() const { return much_ ? CoarseTuning::many_threads : CoarseTuning::few_threads; }

  template <class F>
  std::uint64_t sum(F&& f) const {
    std::uint64_t total = 0;
    for (const Level& level : levels_) total += f(level);
    return total;
  }

  void take_smoother(const DeviceContext& ctx, Level& level, const AmgLevel<Space::device>& from) {
    convert(ctx, from.smoother_diagonal.cspan(), level.smoother.span());
  }

  const CoarseLevel<T>& take_level(const DeviceContext& ctx, Level& level, const AmgLevel<Space::device>& from) {
    level.a = BlockRows<T>(ctx, from.a);
    if (!from.last()) {
      level.p = BlockRows<T>(ctx, from.p);
      level.transposed = BlockRows<T>(ctx, from.p, &from.galerkin.transposed());
    }
    const Index rows = from.a.scalar_rows();
    for (auto* vector : {&level.smoother, &level.x, &level.r, &level.d, &level.e}) {
      *vector = DeviceArray<T>(ctx, rows);
    }
    take_smoother(ctx, level, from);
    CoarseLevel<T>& view = level.view;
    view.a = level.a.view();
    view.p = level.p.view();
    view.transposed = level.transposed.view();
    view.rows = rows;
    view.smoother = level.smoother.data();
    view.x = level.x.data();
    view.r = level.r.data();
    view.d = level.d.data();
    view.e = level.e.data();
    set_cycles(ctx, level, from, 1);
    return view;
  }

  void take_steps(Level& level, const AmgLevel<Space::device>& from, int degree) {
    const SmootherSteps steps = smoother_steps(from.smoother, degree, false);
    level.products = static_cast<int>(steps.next.size()) * (from.last() ? 1 : 2) + (from.last() ? 0 : 2);
    CoarseLevel<T>& view = level.view;
    view.next_steps = static_cast<int>(steps.next.size());
    view.first = static_cast<T>(steps.first);
    for (std::size_t k = 0; k < steps.next.size(); ++k) {
      view.c1[k] = static_cast<T>(steps.next[k].first);
      view.c2[k] = static_cast<T>(steps.next[k].second);
    }
  }

  // The inverse as one block, a row of it being a row of the matrix. Returns the threads that it has work for.
  Offset take_inverse(const DeviceContext& ctx, const AmgHierarchy<Space::device>& hierarchy) {
    const Index n = hierarchy.levels().back().a.scalar_rows();
    if (n == 0) return 0;
    inverse_ = DeviceArray<T>(ctx, Offset{n} * n);
    convert(ctx, hierarchy.inverse().cspan(), inverse_.span());
    inverse_b_ = DeviceArray<T>(ctx, n);
    inverse_x_ = DeviceArray<T>(ctx, n);
    inverse_row_ptr_ = make_array(ctx, std::vector<Offset>{0, 1});
    inverse_col_ = zeros<Index>(ctx, 1);
    BlockRowsView<T>& view = args_.inverse;
    view.rows = 1;
    view.m = view.n = n;
    view.lanes = 32;
    view.magic = static_cast<unsigned>(((std::uint64_t{1} << 32) + n - 1) / n);
    view.row_ptr = inverse_row_ptr_.data();
    view.col = inverse_col_.data();
    view.val = inverse_.data();
    args_.inverse_b = inverse_b_.data();
    args_.inverse_x = inverse_x_.data();
    return threads_for(view);
  }

  std::size_t first_;
  int degree_;  ///< of the first level's smoother
  std::vector<Level> levels_;
  DeviceArray<T> inverse_, inverse_b_, inverse_x_;
  DeviceArray<Offset> inverse_row_ptr_;
  DeviceArray<Index> inverse_col_;
  DeviceArray<CoarseLevel<T>> views_;
  DeviceArray<CoarsePart> parts_;
  DeviceArray<unsigned long long> arrived_;
  CoarseArgs<T> args_{};
  unsigned blocks_ = 1;
  bool much_ = false;  ///< work in a pass
};

}  // namespace

template <class T>
std::unique_ptr<CoarseCycle<T, Space::device>> make_coarse_cycle(const DeviceContext& ctx,
                                                                 const AmgHierarchy<Space::device>& hierarchy,
                                                                 std::size_t first, int degree) {
  return std::make_unique<DeviceCoarseCycle<T>>(ctx, hierarchy, first, degree);
}

#define X(T)                                                                 \
  template std::unique_ptr<CoarseCycle<T, Space::device>> make_coarse_cycle( \
      const DeviceContext&, const AmgHierarchy<Space::device>&, std::size_t, int);
X(double)
X(float)
#undef X

}  // namespace purlin::detail
