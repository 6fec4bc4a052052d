// SPDX-License-Identifier: Apache-2.0
// Coarse levels in one cooperative kernel: a launch in place of some twenty for each level, which take longer than
// their work.
#include <algorithm>

#include <newel/core/vector_ops.hpp>
#include "precond/amg/blocks/elements_device.cuh"
#include "precond/amg/cycle/coarse_cycle.hpp"
#include "precond/amg/cycle/coarse_cycle_device.cuh"
#include "precond/amg/smooth/amg_smoother.hpp"

namespace newel::detail {
namespace {

// How many threads a pass has rows for.
template <class T>
Offset threads_for(const BlockRowsView<T>& b) {
  return Offset{b.rows} * (b.m / b.together) * b.lanes;
}

template <class T>
class DeviceCoarseCycle final : public CoarseCycle<T, Space::device> {
  static constexpr int most_columns = 8;

 public:
  DeviceCoarseCycle(const DeviceContext& ctx, const AmgHierarchy<Space::device>& hierarchy, std::size_t first,
                    int degree)
      : first_(first), degree_(degree) {
    const auto& from = hierarchy.levels();
    const bool inverted = from.back().smoother_diagonal.empty();
    levels_.resize(from.size() - first - (inverted ? 1 : 0));
    Offset work = 0;
    for (std::size_t k = 0; k < levels_.size(); ++k) {
      const CoarseCycleLevel<T>& view = take_level(ctx, levels_[k], from[first + k]);
      work = std::max({work, threads_for(view.a), threads_for(view.p), threads_for(view.transposed)});
    }
    if (inverted) work = std::max(work, take_inverse(ctx, hierarchy));
    args_.columns = 1;
    vectors_ = DeviceArray<T>(ctx, args_.of_column);
    args_.vectors = vectors_.data();
    arrived_ = zeros<unsigned long long>(ctx, 2 * most_columns);
    much_ = work > Offset{CoarseTuning::rounds} * CoarseTuning::few_threads * ctx.multiprocessors();
    wanted_blocks_ = (work + threads() - 1) / threads();
    args_.count = static_cast<int>(levels_.size());
    args_.arrived = arrived_.data();
    place_levels(ctx, 0);
    ctx.synchronize();
  }

  void choose_cycles(const DeviceContext& ctx, const AmgHierarchy<Space::device>& hierarchy,
                     const TriedLevels& tried) override {
    bool any = false;
    for (int k = static_cast<int>(levels_.size()); k-- > 0;) {
      Level& level = levels_[static_cast<std::size_t>(k)];
      const std::size_t l = first_ + static_cast<std::size_t>(k);
      const AmgLevel<Space::device>& from = hierarchy.levels()[l];
      if (from.last() || !tried.have(hierarchy.levels(), l)) continue;
      any = true;
      place_levels(ctx, k);
      LevelTrial<T, Space::device> trial(
          ctx, level.rows(),
          [&](const DeviceArray<T>& x, DeviceArray<T>& y) {
            multiply<T>(ctx, level.a, x.data(), nullptr, y.data(), nullptr);
          },
          [&](Span<const T, Space::device> b, Span<T, Space::device> x) { launch(ctx, b.data, x.data); });
      if (!trial.is_slow()) continue;
      set_cycles(ctx, level, from, 2);
      place_levels(ctx, k);
      if (!trial.is_faster_now()) set_cycles(ctx, level, from, 1);
    }
    if (!any) return;
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
  void apply_columns(const DeviceContext& ctx, int columns, const T* b, T* x,
                     Span<char, Space::device> work) const override {
    launch(ctx, b, x, columns, reinterpret_cast<T*>(work.data));
  }
  std::uint64_t column_work_bytes(int columns) const override {
    return static_cast<std::uint64_t>(columns) * vectors_.bytes();
  }

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
    return sum([](const Level& level) { return level.smoother.bytes(); }) + vectors_.bytes();
  }
  std::uint64_t bytes_per_cycle() const override {
    std::uint64_t total = 0, cycles = 1;
    for (const Level& level : levels_) {
      if (level.twice) {
        total += cycles * ((level.exact.rows() > 0 ? level.exact.bytes_read() : level.a.bytes_read()) +
                           5 * level.smoother.bytes());
        cycles *= 2;
      }
      const auto products = static_cast<std::uint64_t>(level.products);
      total += cycles * (products * level.a.bytes_read() + level.p.bytes_read() + level.transposed.bytes_read() +
                         products * 6 * level.smoother.bytes());
    }
    return total + cycles * inverse_.bytes();
  }

 private:
  struct Level {
    BlockRows<T> a, p, transposed;
    BlockRows<double> exact;  ///< a, for two cycles in single precision
    DeviceArray<T> smoother;
    bool twice = false;
    int products = 0;
    CoarseCycleLevel<T> view{};
    Index rows() const { return view.rows; }
  };

  // `vectors`: of the levels, for several columns.
  void launch(const DeviceContext& ctx, const T* b, T* x, int columns = 1, T* vectors = nullptr) const {
    CoarseArgs<T> args = args_;
    args.b = b;
    args.x = x;
    args.columns = columns;
    if (vectors != nullptr) args.vectors = vectors;
    if (args.count == 0 && args.inverse.rows == 0) return;
    void* arguments[] = {&args};
    const Offset of_column = std::clamp<Offset>(wanted_blocks_, 1, ctx.multiprocessors() / columns);
    const auto blocks = static_cast<unsigned>(of_column * columns);
    const auto start = [&](auto kernel) {
      NEWEL_CHECK_CUDA(cudaLaunchCooperativeKernel(kernel, dim3(blocks), dim3(static_cast<unsigned>(threads())),
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
    std::vector<CoarseCycleLevel<T>> views;
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
    level.view.keeps_b = twice;
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

  const CoarseCycleLevel<T>& take_level(const DeviceContext& ctx, Level& level, const AmgLevel<Space::device>& from) {
    level.a = BlockRows<T>(ctx, from.a);
    if (!from.last()) {
      level.p = BlockRows<T>(ctx, from.p);
      level.transposed = BlockRows<T>(ctx, from.p, &from.galerkin.transposed());
    }
    const Index rows = from.a.scalar_rows();
    level.smoother = DeviceArray<T>(ctx, rows);
    take_smoother(ctx, level, from);
    CoarseCycleLevel<T>& view = level.view;
    view.a = level.a.view();
    view.p = level.p.view();
    view.transposed = level.transposed.view();
    view.rows = rows;
    view.smoother = level.smoother.data();
    view.at = args_.of_column;
    args_.of_column += Offset{CoarseVectors<T>::count} * rows;
    set_cycles(ctx, level, from, 1);
    return view;
  }

  void take_steps(Level& level, const AmgLevel<Space::device>& from, int degree) {
    const SmootherSteps steps = smoother_steps(from.smoother, degree, false);
    level.products = static_cast<int>(steps.next.size()) * (from.last() ? 1 : 2) + (from.last() ? 0 : 2);
    CoarseCycleLevel<T>& view = level.view;
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
    args_.inverse_at = args_.of_column;
    args_.of_column += Offset{2} * n;
    return threads_for(view);
  }

  std::size_t first_;
  int degree_;  ///< of the first level's smoother
  std::vector<Level> levels_;
  DeviceArray<T> inverse_;
  DeviceArray<T> vectors_;  ///< of one column
  DeviceArray<Offset> inverse_row_ptr_;
  DeviceArray<Index> inverse_col_;
  DeviceArray<CoarseCycleLevel<T>> views_;
  DeviceArray<CoarsePart> parts_;
  DeviceArray<unsigned long long> arrived_;
  CoarseArgs<T> args_{};
  Offset wanted_blocks_ = 1;
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

}  // namespace newel::detail
