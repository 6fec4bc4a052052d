// SPDX-License-Identifier: Apache-2.0
// A multigrid cycle for several vectors at once.
#include "precond/amg/cycle/column_cycle.hpp"

#include <algorithm>

#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"
#include "precond/amg/cycle/level_cycle.hpp"

namespace newel::detail {

template <class T, Space S>
class ColumnCycle<T, S>::Shares {
 public:
  explicit Shares(char* memory) : memory_(memory) {}

  template <class Value>
  Vector<Value> vector(std::int64_t size) {
    return {{reinterpret_cast<Value*>(take(static_cast<std::uint64_t>(size) * sizeof(Value)).data), size}};
  }
  Span<char, S> take(std::uint64_t bytes) {
    constexpr std::uint64_t alignment = 256;
    char* const at = memory_ == nullptr ? nullptr : memory_ + used_;
    used_ += (bytes + alignment - 1) / alignment * alignment;
    return {at, static_cast<std::int64_t>(bytes)};
  }
  std::uint64_t used() const { return used_; }

 private:
  char* memory_;
  std::uint64_t used_ = 0;
};

template <class T, Space S>
ColumnCycle<T, S>::ColumnCycle(const AmgCycle<T, S>& cycle, int columns, Span<char, S> work)
    : levels_{cycle.levels(), columns, {}, {}, {}, {}, {}, {}} {
  share_out(Shares(work.data));
}

// Products take their work one after the other, and so in one place.
template <class T, Space S>
void ColumnCycle<T, S>::share_out(Shares shares) {
  const CycleLevels<T, S>& cycle = levels_.of;
  const int columns = levels_.columns;
  std::uint64_t product_bytes = 0, transfer_bytes = 0;
  const auto needs = [&](const auto* op) {
    if (op != nullptr) product_bytes = std::max(product_bytes, op->column_work_bytes(columns));
  };
  needs(cycle.inverse.get());
  for (const CycleLevel<T, S>& of : cycle.all) {
    needs(of.a.get());
    needs(of.sparse.m.get());
    if (of.again != nullptr) needs(of.again->exact.get());
    if (of.transfer.exists()) transfer_bytes = std::max(transfer_bytes, of.transfer.column_work_bytes(columns));
  }
  const Span<char, S> work = levels_.product_work = shares.take(product_bytes);
  levels_.transfer_work = shares.take(transfer_bytes);
  if (cycle.own_b.size() > 0) {
    levels_.own_b = shares.template vector<T>(cycle[0].r.size() > 0 ? 0 : columns * cycle.own_b.size());
    levels_.own_x = shares.template vector<T>(columns * cycle.own_x.size());
  }
  levels_.all.reserve(cycle.all.size());
  for (std::size_t l = 0; l < cycle.all.size(); ++l) {
    const CycleLevel<T, S>& of = cycle[l];
    const auto vector = [&](const auto& one) { return shares.template vector<T>(columns * one.size()); };
    levels_.all.push_back({of, of.steps, {}, {}, {}, {}, {}, {}, vector(of.b), vector(of.x), nullptr});
    Level& level = levels_.all.back();
    if (cycle.in_coarse(l)) {
      levels_.coarse_work = shares.take(cycle.coarse->column_work_bytes(columns));
      break;
    }
    if (of.a == nullptr) continue;
    level.a = {of.a.get(), columns, work};
    level.sparse.m = {of.sparse.m.get(), columns, work};
    level.smoother = vector(of.smoother);
    level.r = vector(of.r);
    level.d = vector(of.d);
    level.z = vector(of.z);
    if (of.again == nullptr) continue;
    const auto exact = [&](const auto& one) { return shares.template vector<double>(columns * one.size()); };
    level.again = std::make_unique<Again>(Again{vector(of.again->b),
                                                vector(of.again->x),
                                                {of.again->exact.get(), columns, work},
                                                exact(of.again->exact_r),
                                                exact(of.again->exact_x)});
  }
  work_bytes_ = shares.used();
}

template <class T, Space S>
bool ColumnCycle<T, S>::Levels::end(const Context<S>& ctx, std::size_t l, Span<const T, S> b, Span<T, S> x) const {
  if (of.in_coarse(l)) {
    of.coarse->apply_columns(ctx, columns, b.data, x.data, coarse_work);
  } else if (of[l].a == nullptr) {
    of.inverse->apply_columns(ctx, columns, T(1), b, T(0), x, product_work);
  } else {
    return false;
  }
  return true;
}

template <class T, Space S>
template <class Next>
void ColumnCycle<T, S>::Levels::correct_below(const Context<S>& ctx, std::size_t l, const Next& next) const {
  const AmgTransfer<T, S>& transfer = of[l].transfer;
  const Level &level = all[l], &coarser = all[l + 1];
  ColumnLayout of_coarser = interleaved(columns);
  if (of.in_coarse(l + 1)) of_coarser = {1, coarser.x.size() / columns};
  transfer.restrict_columns(ctx, columns, level.r.data(), coarser.b.data(), of_coarser, transfer_work);
  next();
  transfer.prolong_columns(ctx, columns, coarser.x.data(), of_coarser, level.d.data(), transfer_work);
}

template <class T, Space S>
template <class V>
void ColumnCycle<T, S>::apply(const Context<S>& ctx, Span<const V, S> b, Span<V, S> x) {
  constexpr bool converts = !std::is_same_v<T, V>;
  for (const Level& level : levels_.all) {
    if (level.of.a == nullptr) continue;
    const int columns = levels_.columns;
    sweep(ctx, level.smoother.size(), RepeatStep<T>(level.of.smoother.data(), columns, level.smoother.data()));
  }
  Span<T, S> own;
  if constexpr (converts)
    own = levels_.own_x.span();
  else
    own = x;
  if (const Level& level = levels_[0]; level.of.a != nullptr) {
    start_smoothing(ctx, level, b.data, own.data);
    smooth_from(ctx, levels_, 0, own.data, [&](const AmgNextStep<T>& step) { sweep(ctx, own.size, step); });
  } else if constexpr (converts) {
    convert(ctx, b, levels_.own_b.span());
    cycle_from(ctx, levels_, 0, levels_.own_b.cspan(), own);
  } else {
    cycle_from(ctx, levels_, 0, b, x);
  }
  if constexpr (converts) convert(ctx, Span<const T, S>(own), x);
}

#define X(T, S)                     \
  template class ColumnCycle<T, S>; \
  template void ColumnCycle<T, S>::apply<T>(const Context<S>&, Span<const T, S>, Span<T, S>);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

#define X(S) \
  template void ColumnCycle<float, S>::apply<double>(const Context<S>&, Span<const double, S>, Span<double, S>);
NEWEL_FOR_SPACES(X)
#undef X

}  // namespace newel::detail
