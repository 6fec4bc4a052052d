// SPDX-License-Identifier: Apache-2.0
// The V-cycle, and the way of values from the hierarchy into its operators.
#include <purlin/precond/amg/amg_cycle.hpp>

#include <algorithm>

#include <purlin/core/instantiate.hpp>
#include <purlin/core/parallel.hpp>
#include <purlin/core/vector_ops.hpp>
#include <purlin/precond/amg/amg_steps.hpp>
#include <purlin/spmv/registry.hpp>

namespace purlin::detail {
namespace {

std::int64_t size_of(const std::vector<double>& x) { return static_cast<std::int64_t>(x.size()); }

// All entries of an n x n matrix, row by row.
ScalarPattern dense_pattern(const HostContext& ctx, Index n) {
  ScalarPattern dense;
  dense.rows = dense.cols = n;
  dense.row_ptr = Array<Offset, Space::host>(ctx, Offset{n} + 1);
  dense.col = Array<Index, Space::host>(ctx, Offset{n} * n);
  dense.source = Array<Offset, Space::host>(ctx, Offset{n} * n);
  for (Index i = 0; i <= n; ++i) dense.row_ptr[i] = Offset{i} * n;
  for (Offset k = 0; k < dense.col.size(); ++k) {
    dense.col[k] = static_cast<Index>(k % n);
    dense.source[k] = k;
  }
  return dense;
}

}  // namespace

SmootherSteps smoother_steps(AmgSmoother smoother, int degree) {
  SmootherSteps steps;
  steps.first = 4.0 / 3.0;
  for (int i = 1; i < degree; ++i) {
    if (smoother == AmgSmoother::chebyshev) {
      steps.next.emplace_back((2.0 * i - 1) / (2.0 * i + 3), (8.0 * i + 4) / (2.0 * i + 3));
    } else {
      steps.next.emplace_back(0.0, steps.first);
    }
  }
  return steps;
}

template <class T, Space S>
AmgCycle<T, S>::AmgCycle(const Context<S>& ctx, OperatorPtr<T, S> finest, const AmgHierarchy& hierarchy,
                         const std::vector<Index>& old_of_new, const SmootherSteps& steps)
    : old_of_new_(old_of_new), steps_(steps) {
  const HostContext& host = host_context(ctx);
  std::vector<Index> new_of_old(old_of_new.size());
  for (std::size_t i = 0; i < old_of_new.size(); ++i) new_of_old[old_of_new[i]] = static_cast<Index>(i);
  const std::vector<Index> natural;
  const std::vector<AmgLevel>& from = hierarchy.levels();
  levels_.resize(from.size());
  for (std::size_t l = 0; l < from.size(); ++l) {
    Level& level = levels_[l];
    const Index rows = from[l].a.scalar_rows();
    if (l > 0) {
      level.b = Array<T, S>(ctx, rows);
      level.x = Array<T, S>(ctx, rows);
    }
    if (from[l].smoother_diagonal.empty()) continue;
    level.a = l == 0 ? std::move(finest) : make_operator(ctx, scalar_rows(host, from[l].a), from[l].a.val.cspan());
    level.r = Array<T, S>(ctx, rows);
    level.d = Array<T, S>(ctx, rows);
    level.smoother = Array<T, S>(ctx, rows);
    place_smoother(ctx, l, hierarchy);
    if (from[l].last()) continue;
    const BlockCsr& p = from[l].p;
    level.p = make_operator(ctx, scalar_rows(host, p, l == 0 ? old_of_new : natural), p.val.cspan());
    level.pt = make_operator(ctx, scalar_columns(host, p, l == 0 ? new_of_old : natural), p.val.cspan());
  }
  const std::vector<double>& inverse = hierarchy.inverse();
  if (!from.back().smoother_diagonal.empty()) return;
  inverse_ = make_operator(ctx, dense_pattern(host, from.back().a.scalar_rows()), {inverse.data(), size_of(inverse)});
}

// The hierarchy's values in precision T and space S, until the next call.
template <class T, Space S>
Span<const T, S> AmgCycle<T, S>::place(const Context<S>& ctx, Span<const double, Space::host> values) {
  if constexpr (std::is_same_v<T, double> && S == Space::host) {
    return values;
  } else {
    const HostContext& host = host_context(ctx);
    if (converted_.size() < values.size) converted_ = Array<T, Space::host>(host, values.size);
    const Span<T, Space::host> converted = converted_.span().subspan(0, values.size);
    parallel_for(host, values.size, [&](std::int64_t i) { converted[i] = static_cast<T>(values[i]); });
    if constexpr (S == Space::host) {
      return converted;
    } else {
      if (placed_.size() < values.size) placed_ = Array<T, S>(ctx, values.size);
      const Span<T, S> placed = placed_.span().subspan(0, values.size);
      copy<T>(ctx, Span<const T, Space::host>(converted), placed);
      return placed;
    }
  }
}

// In the format csr, which takes rectangular matrices in any order.
template <class T, Space S>
OperatorPtr<T, S> AmgCycle<T, S>::make_operator(const Context<S>& ctx, const ScalarPattern& pattern,
                                                Span<const double, Space::host> values) const {
  const HostContext& host = host_context(ctx);
  Array<T, Space::host> ordered(host, pattern.source.size());
  parallel_for(host, ordered.size(), [&](Offset k) { ordered[k] = static_cast<T>(values[pattern.source[k]]); });
  const auto row_ptr = make_array(ctx, pattern.row_ptr.cspan());
  const auto col = make_array(ctx, pattern.col.cspan());
  const auto val = make_array(ctx, ordered.cspan());
  const auto source = make_array(ctx, pattern.source.cspan());
  const ValueMap<S> map = make_value_map(ctx, source.cspan(), values.size);
  CsrView<T, S> view(pattern.rows, pattern.cols, row_ptr.cspan(), col.cspan(), val.cspan());
  view.value_map = &map;
  return make_spmv<T, S>(ctx, view, RowOrder<S>{}, SpmvOptions{});
}

template <class T, Space S>
void AmgCycle<T, S>::place_smoother(const Context<S>& ctx, std::size_t l, const AmgHierarchy& hierarchy) {
  const std::vector<double>& in_hierarchy = hierarchy.levels()[l].smoother_diagonal;
  Span<const double, Space::host> values(in_hierarchy.data(), size_of(in_hierarchy));
  std::vector<double> ordered;
  if (l == 0 && !old_of_new_.empty()) {
    ordered.resize(in_hierarchy.size());
    for (std::size_t i = 0; i < ordered.size(); ++i) ordered[i] = in_hierarchy[old_of_new_[i]];
    values = {ordered.data(), size_of(ordered)};
  }
  copy<T>(ctx, place(ctx, values), levels_[l].smoother.span());
}

template <class T, Space S>
void AmgCycle<T, S>::refresh(const Context<S>& ctx, Span<const T, S> values, const AmgHierarchy& hierarchy,
                             bool prolongators) {
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    Level& level = levels_[l];
    const AmgLevel& from = hierarchy.levels()[l];
    if (level.a != nullptr) {
      level.a->refresh(ctx, l == 0 ? values : place(ctx, from.a.val.cspan()));
      place_smoother(ctx, l, hierarchy);
    }
    if (level.p == nullptr || !prolongators) continue;
    const Span<const T, S> of_p = place(ctx, from.p.val.cspan());
    level.p->refresh(ctx, of_p);
    level.pt->refresh(ctx, of_p);
  }
  const std::vector<double>& inverse = hierarchy.inverse();
  if (inverse_ != nullptr) inverse_->refresh(ctx, place(ctx, {inverse.data(), size_of(inverse)}));
}

// The steps of a smoother after its first, whose direction is `before`.
template <class T, Space S>
void AmgCycle<T, S>::smooth_further(const Context<S>& ctx, const Level& level, const T* before, T* x) const {
  const std::int64_t n = level.r.size();
  T* const d = level.d.data();
  for (const auto& [c1, c2] : steps_.next) {
    level.a->apply(ctx, T(-1), Span<const T, S>(before, n), T(1), level.r.span());
    sweep(
        ctx, n,
        AmgNextStep<T>(static_cast<T>(c1), static_cast<T>(c2), level.smoother.data(), level.r.data(), before, d, x));
    before = d;
  }
}

template <class T, Space S>
void AmgCycle<T, S>::descend(const Context<S>& ctx, std::size_t l, Span<const T, S> b, Span<T, S> x) const {
  const Level& level = levels_[l];
  if (level.a == nullptr) return inverse_->apply(ctx, T(1), b, T(0), x);
  const auto first = static_cast<T>(steps_.first);
  T* const r = level.r.data();
  T* const d = level.d.data();
  sweep(ctx, x.size, AmgFirstStep<T>(first, level.smoother.data(), b.data, x.data, r));
  smooth_further(ctx, level, x.data, x.data);
  if (level.p == nullptr) return;

  const T* const last = steps_.next.empty() ? x.data : d;
  level.a->apply(ctx, T(-1), Span<const T, S>(last, x.size), T(1), level.r.span());
  const Level& coarse = levels_[l + 1];
  level.pt->apply(ctx, T(1), level.r.cspan(), T(0), coarse.b.span());
  descend(ctx, l + 1, coarse.b.cspan(), coarse.x.span());
  level.p->apply(ctx, T(1), coarse.x.cspan(), T(0), level.d.span());

  level.a->apply(ctx, T(-1), level.d.cspan(), T(1), level.r.span());
  sweep(ctx, x.size, AmgAgainStep<T>(first, level.smoother.data(), r, d, x.data));
  smooth_further(ctx, level, d, x.data);
}

// f(operator, how often a cycle multiplies with it)
template <class T, Space S>
template <class F>
void AmgCycle<T, S>::for_operators(F&& f) const {
  const int steps = static_cast<int>(steps_.next.size());
  for (const Level& level : levels_) {
    if (level.a != nullptr) f(*level.a, level.p == nullptr ? steps : 2 * steps + 2);
    if (level.p != nullptr) f(*level.p, 1), f(*level.pt, 1);
  }
  if (inverse_ != nullptr) f(*inverse_, 1);
}

template <class T, Space S>
bool AmgCycle<T, S>::capturable() const {
  bool all = true;
  for_operators([&](const MatrixOperator<T, S>& op, int) { all = all && op.capturable(); });
  return all;
}

template <class T, Space S>
std::uint64_t AmgCycle<T, S>::bytes_per_cycle() const {
  std::uint64_t bytes = 0;
  for_operators([&](const MatrixOperator<T, S>& op, int times) {
    bytes += static_cast<std::uint64_t>(times) * op.info().bytes_per_product;
  });
  const auto steps = static_cast<std::uint64_t>(steps_.next.size());
  for (const Level& level : levels_) {
    // The first step moves 4 vectors, each further one 6, the one after the coarse correction 6.
    const std::uint64_t vectors = level.p == nullptr ? 4 + 6 * steps : 10 + 12 * steps;
    bytes += vectors * level.smoother.bytes();
  }
  return bytes;
}

template <class T, Space S>
std::vector<std::pair<std::string, std::uint64_t>> AmgCycle<T, S>::bytes() const {
  std::uint64_t matrices = 0, prolongators = 0,
                vectors = placed_.bytes() + (S == Space::host ? converted_.bytes() : 0);
  for (const Level& level : levels_) {
    if (level.a != nullptr) matrices += level.a->info().total_bytes();
    if (level.p != nullptr) prolongators += level.p->info().total_bytes() + level.pt->info().total_bytes();
    vectors += level.smoother.bytes() + level.r.bytes() + level.d.bytes() + level.b.bytes() + level.x.bytes();
  }
  return {{"matrices of the levels", matrices},
          {"prolongators", prolongators},
          {"coarsest inverse", inverse_ == nullptr ? 0 : inverse_->info().total_bytes()},
          {"vectors", vectors}};
}

template <class T, Space S>
std::pair<Offset, Offset> AmgCycle<T, S>::nonzeros_and_slots() const {
  std::pair<Offset, Offset> sums{0, 0};
  for_operators([&](const MatrixOperator<T, S>& op, int) {
    const OperatorInfo info = op.info();
    sums.first += info.nonzeros;
    sums.second += info.stored_slots;
  });
  return sums;
}

#define X(T, S) template class AmgCycle<T, S>;
PURLIN_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace purlin::detail
