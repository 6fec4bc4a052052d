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
    : cycle_(cycle), columns_(columns) {
  share_out(Shares(work.data));
}

// Products take their work one after the other, and so in one place.
template <class T, Space S>
void ColumnCycle<T, S>::share_out(Shares shares) {
  std::uint64_t product_bytes = 0, transfer_bytes = 0;
  const auto needs = [&](const auto* op) {
    if (op != nullptr) product_bytes = std::max(product_bytes, op->column_work_bytes(columns_));
  };
  needs(cycle_.inverse_.get());
  for (const auto& of : cycle_.levels_) {
    needs(of.a.get());
    needs(of.sparse.m.get());
    if (of.again != nullptr) needs(of.again->exact.get());
    if (of.transfer.exists()) transfer_bytes = std::max(transfer_bytes, of.transfer.column_work_bytes(columns_));
  }
  const Span<char, S> work = product_work_ = shares.take(product_bytes);
  transfer_work_ = shares.take(transfer_bytes);
  const auto& first = cycle_.levels_.front();
  if (cycle_.own_b_.size() > 0) {
    own_b_ = shares.template vector<T>(first.r.size() > 0 ? 0 : columns_ * cycle_.own_b_.size());
    own_x_ = shares.template vector<T>(columns_ * cycle_.own_x_.size());
  }
  levels_.clear();
  levels_.reserve(cycle_.levels_.size());
  for (std::size_t l = 0; l < cycle_.levels_.size(); ++l) {
    const auto& of = cycle_.levels_[l];
    const auto vector = [&](const auto& one) { return shares.template vector<T>(columns_ * one.size()); };
    levels_.push_back({of, of.steps, {}, {}, {}, {}, {}, {}, vector(of.b), vector(of.x), nullptr});
    Level& level = levels_.back();
    if (in_coarse(l)) {
      coarse_work_ = shares.take(cycle_.coarse_->column_work_bytes(columns_));
      break;
    }
    if (of.a == nullptr) continue;
    level.a = {of.a.get(), columns_, work};
    level.sparse.m = {of.sparse.m.get(), columns_, work};
    level.smoother = vector(of.smoother);
    level.r = vector(of.r);
    level.d = vector(of.d);
    level.z = vector(of.z);
    if (of.again == nullptr) continue;
    const auto exact = [&](const auto& one) { return shares.template vector<double>(columns_ * one.size()); };
    level.again = std::make_unique<Again>(Again{vector(of.again->b),
                                                vector(of.again->x),
                                                {of.again->exact.get(), columns_, work},
                                                exact(of.again->exact_r),
                                                exact(of.again->exact_x)});
  }
  work_bytes_ = shares.used();
}

template <class T, Space S>
template <class Last>
void ColumnCycle<T, S>::smooth(const Context<S>& ctx, std::size_t l, T* x, Last&& last) {
  const Level& level = levels_[l];
  if (!level.of.transfer.exists()) return smooth_further<T>(ctx, level, x, x, last);
  const auto correct_coarse = [&] {
    const Level& coarse = levels_[l + 1];
    ColumnLayout of_coarse = interleaved(columns_);
    if (in_coarse(l + 1)) of_coarse = {1, coarse.x.size() / columns_};
    level.of.transfer.restrict_columns(ctx, columns_, level.r.data(), coarse.b.data(), of_coarse, transfer_work_);
    correct(ctx, l + 1);
    level.of.transfer.prolong_columns(ctx, columns_, coarse.x.data(), of_coarse, level.d.data(), transfer_work_);
  };
  smooth_around(ctx, level, x, correct_coarse, last);
}

// x from b on level l, below the first.
template <class T, Space S>
void ColumnCycle<T, S>::correct(const Context<S>& ctx, std::size_t l) {
  correct_level<T>(ctx, levels_[l], [&](Span<const T, S> b, Span<T, S> x) { descend(ctx, l, b, x); });
}

template <class T, Space S>
void ColumnCycle<T, S>::descend(const Context<S>& ctx, std::size_t l, Span<const T, S> b, Span<T, S> x) {
  const Level& level = levels_[l];
  if (in_coarse(l)) return cycle_.coarse_->apply_columns(ctx, columns_, b.data, x.data, coarse_work_);
  if (level.of.a == nullptr) {
    return cycle_.inverse_->apply_columns(ctx, columns_, T(1), b, T(0), x, product_work_);
  }
  start_smoothing(ctx, level, b.data, x.data);
  smooth(ctx, l, x.data, [&](const AmgNextStep<T>& step) { sweep(ctx, x.size, step); });
}

template <class T, Space S>
template <class V>
void ColumnCycle<T, S>::apply(const Context<S>& ctx, Span<const V, S> b, Span<V, S> x) {
  constexpr bool converts = !std::is_same_v<T, V>;
  for (const Level& level : levels_) {
    if (level.of.a == nullptr) continue;
    sweep(ctx, level.smoother.size(), RepeatStep<T>(level.of.smoother.data(), columns_, level.smoother.data()));
  }
  Span<T, S> own;
  if constexpr (converts)
    own = own_x_.span();
  else
    own = x;
  const Level& level = levels_.front();
  if (level.of.a != nullptr) {
    start_smoothing(ctx, level, b.data, own.data);
    smooth(ctx, 0, own.data, [&](const AmgNextStep<T>& step) { sweep(ctx, own.size, step); });
  } else if constexpr (converts) {
    convert(ctx, b, own_b_.span());
    descend(ctx, 0, own_b_.cspan(), own);
  } else {
    descend(ctx, 0, b, x);
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
