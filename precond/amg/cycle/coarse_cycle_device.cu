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

// A level: its matrices in blocks, the diagonal that smooths it, and what the kernel sees of them.
template <class T>
struct CoarseLevel {
  // `degree`: of the smoother. The level's vectors are at `at` of those of a column.
  CoarseLevel(const DeviceContext& ctx, const AmgLevel<Space::device>& from, int degree, Offset at)
      : a(ctx, from.a), smoother(ctx, from.a.scalar_rows()) {
    if (!from.last()) {
      p = BlockRows<T>(ctx, from.p);
      transposed = BlockRows<T>(ctx, from.p, &from.galerkin.transposed());
    }
    convert(ctx, from.smoother_diagonal.cspan(), smoother.span());
    view.a = a.view();
    view.p = p.view();
    view.transposed = transposed.view();
    view.rows = from.a.scalar_rows();
    view.smoother = smoother.data();
    view.at = at;
    solve_once(from, degree);
  }

  void refresh(const DeviceContext& ctx, const AmgLevel<Space::device>& from, bool prolongators) {
    a.refresh(ctx, from.a);
    if (exact.rows() > 0) exact.refresh(ctx, from.a);
    convert(ctx, from.smoother_diagonal.cspan(), smoother.span());
    if (!prolongators || from.last()) return;
    p.refresh(ctx, from.p);
    transposed.refresh(ctx, from.p, &from.galerkin.transposed());
  }

  void solve_once(const AmgLevel<Space::device>& from, int degree) {
    exact = BlockRows<double>();
    set_cycles(from, degree, false);
  }
  void solve_twice(const DeviceContext& ctx, const AmgLevel<Space::device>& from, int degree) {
    if (!std::is_same_v<T, double>) exact = BlockRows<double>(ctx, from.a);
    set_cycles(from, degree, true);
  }

  // Bytes that it moves in a cycle; `cycles`: in which the level is, then the next one.
  std::uint64_t bytes_moved(std::uint64_t& cycles) const {
    std::uint64_t total = 0;
    if (twice) {
      total += cycles * ((exact.rows() > 0 ? exact.bytes_read() : a.bytes_read()) + 5 * smoother.bytes());
      cycles *= 2;
    }
    const auto every = static_cast<std::uint64_t>(products);
    return total + cycles * (every * a.bytes_read() + p.bytes_read() + transposed.bytes_read() +
                             every * 6 * smoother.bytes());
  }

  BlockRows<T> a, p, transposed;
  BlockRows<double> exact;  ///< a, for two cycles in single precision
  DeviceArray<T> smoother;
  bool twice = false;
  int products = 0;
  CoarseCycleLevel<T> view{};

 private:
  void set_cycles(const AmgLevel<Space::device>& from, int degree, bool two) {
    twice = two;
    view.weight[0] = static_cast<T>(two ? 1 / TwoCycles::first_root : 1);
    view.weight[1] = static_cast<T>(1 / TwoCycles::second_root);
    view.keeps_b = two;
    if constexpr (std::is_same_v<T, double>) {
      view.exact = a.view();
    } else {
      view.exact = exact.view();
    }
    const SmootherSteps steps = smoother_steps(from.smoother, degree, false);
    products = static_cast<int>(steps.next.size()) * (from.last() ? 1 : 2) + (from.last() ? 0 : 2);
    view.next_steps = static_cast<int>(steps.next.size());
    view.first = static_cast<T>(steps.first);
    for (std::size_t k = 0; k < steps.next.size(); ++k) {
      view.c1[k] = static_cast<T>(steps.next[k].first);
      view.c2[k] = static_cast<T>(steps.next[k].second);
    }
  }
};

// The inverse as one block, a row of it being a row of the matrix.
template <class T>
struct CoarseInverse {
  void place(const DeviceContext& ctx, const AmgHierarchy<Space::device>& hierarchy) {
    const Index n = hierarchy.levels().back().a.scalar_rows();
    if (n == 0) return;
    val = DeviceArray<T>(ctx, Offset{n} * n);
    refresh(ctx, hierarchy);
    row_ptr = make_array(ctx, std::vector<Offset>{0, 1});
    col = zeros<Index>(ctx, 1);
    view.rows = 1;
    view.m = view.n = n;
    view.lanes = 32;
    view.magic = static_cast<unsigned>(((std::uint64_t{1} << 32) + n - 1) / n);
    view.row_ptr = row_ptr.data();
    view.col = col.data();
    view.val = val.data();
  }
  void refresh(const DeviceContext& ctx, const AmgHierarchy<Space::device>& hierarchy) {
    convert(ctx, hierarchy.inverse().cspan(), val.span());
  }

  DeviceArray<T> val;
  DeviceArray<Offset> row_ptr;
  DeviceArray<Index> col;
  BlockRowsView<T> view{};
};

template <class T>
class DeviceCoarseCycle final : public CoarseCycle<T, Space::device> {
  static constexpr int most_columns = 8;

 public:
  DeviceCoarseCycle(const DeviceContext& ctx, const AmgHierarchy<Space::device>& hierarchy, std::size_t first,
                    int degree)
      : first_(first), degree_(degree) {
    const auto& from = hierarchy.levels();
    const bool inverted = from.back().smoother_diagonal.empty();
    const std::size_t count = from.size() - first - (inverted ? 1 : 0);
    levels_.reserve(count);
    Offset work = 0;
    for (std::size_t k = 0; k < count; ++k) {
      levels_.emplace_back(ctx, from[first + k], coarse_degree(degree), args_.of_column);
      const CoarseCycleLevel<T>& view = levels_.back().view;
      args_.of_column += Offset{CoarseVectors<T>::count} * view.rows;
      work = std::max({work, threads_for(view.a), threads_for(view.p), threads_for(view.transposed)});
    }
    if (inverted) {
      inverse_.place(ctx, hierarchy);
      args_.inverse = inverse_.view;
      args_.inverse_at = args_.of_column;
      args_.of_column += Offset{2} * inverse_.view.n;
      work = std::max(work, threads_for(inverse_.view));
    }
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
      CoarseLevel<T>& level = levels_[static_cast<std::size_t>(k)];
      const std::size_t l = first_ + static_cast<std::size_t>(k);
      const AmgLevel<Space::device>& from = hierarchy.levels()[l];
      if (from.last() || !tried.have(hierarchy.levels(), l)) continue;
      any = true;
      place_levels(ctx, k);
      LevelTrial<T, Space::device> trial(
          ctx, level.view.rows,
          [&](const DeviceArray<T>& x, DeviceArray<T>& y) {
            multiply<T>(ctx, level.a, x.data(), nullptr, y.data(), nullptr);
          },
          [&](Span<const T, Space::device> b, Span<T, Space::device> x) { launch(ctx, b.data, x.data); });
      if (!trial.is_slow()) continue;
      level.solve_twice(ctx, from, degree_);
      place_levels(ctx, k);
      if (!trial.is_faster_now()) level.solve_once(from, coarse_degree(degree_));
    }
    if (!any) return;
    place_levels(ctx, 0);
    ctx.synchronize();
  }

  bool solved_twice(std::size_t k) const override { return k < levels_.size() && levels_[k].twice; }

  void refresh(const DeviceContext& ctx, const AmgHierarchy<Space::device>& hierarchy, bool prolongators) override {
    for (std::size_t k = 0; k < levels_.size(); ++k) {
      levels_[k].refresh(ctx, hierarchy.levels()[first_ + k], prolongators);
    }
    if (inverse_.view.rows > 0) inverse_.refresh(ctx, hierarchy);
  }

  void apply(const DeviceContext& ctx, const T* b, T* x) const override { launch(ctx, b, x); }
  void apply_columns(const DeviceContext& ctx, int columns, const T* b, T* x,
                     Span<char, Space::device> work) const override {
    launch(ctx, b, x, columns, reinterpret_cast<T*>(work.data));
  }
  std::uint64_t column_work_bytes(int columns) const override {
    return static_cast<std::uint64_t>(columns) * vectors_.bytes();
  }

  CoarseCycleSizes sizes() const override {
    CoarseCycleSizes sizes;
    sizes.entries = inverse_.val.size();
    sizes.inverse_bytes = inverse_.val.bytes();
    sizes.vector_bytes = vectors_.bytes();
    std::uint64_t cycles = 1;
    for (const CoarseLevel<T>& level : levels_) {
      sizes.entries += level.a.entries() + level.exact.entries() + level.p.entries() + level.transposed.entries();
      sizes.matrix_bytes += level.a.bytes() + level.exact.bytes();
      sizes.prolongator_bytes += level.p.bytes() + level.transposed.bytes();
      sizes.vector_bytes += level.smoother.bytes();
      sizes.bytes_per_cycle += level.bytes_moved(cycles);
    }
    sizes.bytes_per_cycle += cycles * inverse_.val.bytes();
    return sizes;
  }

 private:
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
    const CoarseLevel<T>& level = levels_[static_cast<std::size_t>(k)];
    for (int second = 0; second <= (level.twice ? 1 : 0); ++second) {
      parts.push_back({CoarsePart::down, k, second});
      add_parts(k + 1, parts);
      if (level.p.rows() > 0) parts.push_back({CoarsePart::up, k, second});
    }
  }

  // The levels as they are, for launches that begin with level k.
  void place_levels(const DeviceContext& ctx, int k) {
    std::vector<CoarseCycleLevel<T>> views;
    for (const CoarseLevel<T>& level : levels_) views.push_back(level.view);
    std::vector<CoarsePart> parts;
    add_parts(k, parts);
    views_ = make_array(ctx, views);
    parts_ = make_array(ctx, parts);
    args_.levels = views_.data();
    args_.parts = parts_.data();
    args_.part_count = static_cast<int>(parts.size());
    args_.from = k;
  }

  Offset threads() const { return much_ ? CoarseTuning::many_threads : CoarseTuning::few_threads; }

  std::size_t first_;
  int degree_;  ///< of the first level's smoother
  std::vector<CoarseLevel<T>> levels_;
  CoarseInverse<T> inverse_;
  DeviceArray<T> vectors_;  ///< of one column
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
