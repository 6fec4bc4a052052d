// SPDX-License-Identifier: Apache-2.0
// The V-cycle, and the way of values from the hierarchy into its operators.
#include "precond/amg/cycle/amg_cycle.hpp"

#include <algorithm>

#include <newel/core/error.hpp>
#include <newel/core/parallel.hpp>
#include <newel/core/vector_ops.hpp>
#include <newel/spmv/registry.hpp>
#include "core/vectors/instantiate.hpp"
#include "precond/amg/blocks/placed_csr.hpp"
#include "precond/amg/cycle/level_cycle.hpp"

namespace newel::detail {
namespace {

constexpr double power_method_margin = 1.1;  // the power method comes from below
constexpr double most_of_groups = 1.5;

Span<const double, Space::host> span_of(const std::vector<double>& x) {
  return {x.data(), static_cast<std::int64_t>(x.size())};
}
template <Space S>
Span<const double, S> span_of(const Array<double, S>& x) {
  return x.cspan();
}

// The levels from here on have smoothers of a diagonal, or are inverted, and are not the first, unless that is all
// there is to invert. Where a pass over a level takes far longer than a launch, kernels of its own are as good; for
// single entries they are better, as csr's loads wait less for each other (generate:grid7:180 on an H200: 1.6 against
// 1.8 ms a cycle), and for blocks not, of which csr stores every column.
template <Space S>
std::size_t first_of_coarse(const std::vector<AmgLevel<S>>& levels) {
  if (levels.size() == 1) return levels[0].smoother_diagonal.size() == 0 ? 0 : 1;
  constexpr Offset many_entries = 4000000;
  const auto joins = [](const AmgLevel<S>& level) {
    return !is_sparse(level.smoother) && (level.a.row_block > 1 || level.a.val.size() < many_entries);
  };
  std::size_t first = levels.size();
  while (first > 1 && joins(levels[first - 1])) --first;
  return first;
}

// In the format csr.
template <class T, Space S>
OperatorPtr<T, S> make_operator(const Context<S>& ctx, const ScalarPattern<S>& pattern,
                                Span<const double, S> values) {
  const PlacedCsr<T, S> placed(ctx, pattern, values);
  return make_spmv<T, S>(ctx, placed.view(), RowOrder<S>{}, SpmvOptions{});
}

}  // namespace

template <class T, Space S>
OperatorPtr<T, S> make_block_matrix(const Context<S>& ctx, const BlockCsr<S>& a) {
  if constexpr (S == Space::host) {
    return std::make_unique<HostBlockRows<T>>(ctx, a);
  } else {
    return make_operator<T>(ctx, scalar_rows(ctx, a), a.val.cspan());
  }
}

template <class T, Space S>
AmgCycle<T, S>::AmgCycle(const Context<S>& ctx, AmgFinest<T, S> finest, const AmgHierarchy<S>& hierarchy,
                         LevelOrder<S> order, int degree)
    : order_(std::move(order)),
      symmetric_(finest.symmetric),
      below_first_(finest.below_first),
      finest_in_blocks_(finest.in_blocks) {
  const std::vector<AmgLevel<S>>& from = hierarchy.levels();
  levels_.resize(from.size());
  const LevelOrder<S> natural;
  coarse_first_ = first_of_coarse(from);
  if (finest.converts) {
    own_b_ = Array<T, S>(ctx, from.front().a.scalar_rows());
    own_x_ = Array<T, S>(ctx, from.front().a.scalar_rows());
  }
  if constexpr (S == Space::device) {  // on the host a pass over a level costs nothing but its work
    if (coarse_first_ < from.size()) {
      coarse_ = make_coarse_cycle<T>(ctx, hierarchy, coarse_first_, degree);
    }
  }
  for (std::size_t l = 0; l < from.size(); ++l) {
    Level& level = levels_[l];
    const Index rows = from[l].a.scalar_rows();
    if (l > 0 || below_first_) {
      level.b = Array<T, S>(ctx, rows);
      level.x = Array<T, S>(ctx, rows);
    }
    if (coarse_ != nullptr && l == coarse_first_) break;
    if (from[l].smoother_diagonal.size() == 0) continue;
    level.a = l == 0 ? std::move(finest.a) : make_block_matrix<T>(ctx, from[l].a);
    level.r = Array<T, S>(ctx, rows);
    level.d = Array<T, S>(ctx, rows);
    level.smoother = Array<T, S>(ctx, rows);
    take_smoother(ctx, l, is_first(l) ? std::move(finest.smoother) : make_smoother(ctx, from[l]), hierarchy, degree);
    if (!from[l].last()) level.transfer = AmgTransfer<T, S>(ctx, from[l], l == 0 ? order_ : natural);
  }
  if constexpr (S == Space::host) {
    if (from.back().smoother_diagonal.empty()) {
      const std::vector<double>& inverse = hierarchy.inverse();
      inverse_ = make_operator<T>(ctx, dense_pattern(ctx, from.back().a.scalar_rows()), span_of(inverse));
    }
  }
  if (symmetric_) choose_cycles(ctx, hierarchy, degree, finest.tried);
}

// A level's smoother with what depends on it, `degree` that of the first level.
template <class T, Space S>
void AmgCycle<T, S>::take_smoother(const Context<S>& ctx, std::size_t l, SparseSmoother<T, S> smoother,
                                   const AmgHierarchy<S>& hierarchy, int degree) {
  Level& level = levels_[l];
  const AmgLevel<S>& from = hierarchy.levels()[l];
  level.sparse = std::move(smoother);
  const double lambda = sparse_lambda(ctx, l, hierarchy);
  // With D^-1, G^T G of FSAI shares the trace of S A: a larger eigenvalue than the diagonal's slows the polynomial.
  // A few tied nodes may bring it close to that, and FSAI smooths far better all the same. Margins on both sides;
  // on groups, outside of which it is the diagonal, only what has gone wrong makes it that much larger.
  const double most = from.lambda * (level.sparse.of_groups ? most_of_groups : 1);
  if (hierarchy.chooses_smoothers() && power_method_margin * lambda > most) level.sparse.m.reset();
  const bool is_sparse = level.sparse.m != nullptr;
  if (is_sparse) level.z = Array<T, S>(ctx, level.r.size());
  level.steps = smoother_steps(used_smoother(from.smoother, is_sparse), is_first(l) ? degree : coarse_degree(degree),
                               is_sparse && level.sparse.of_groups);
  place_smoother(ctx, l, hierarchy, lambda);
}

// Which levels are solved by two cycles: from the last one on, as those below count.
template <class T, Space S>
void AmgCycle<T, S>::choose_cycles(const Context<S>& ctx, const AmgHierarchy<S>& hierarchy, int degree,
                                   const TriedLevels& tried) {
  if (coarse_ != nullptr && coarse_first_ > 0) coarse_->choose_cycles(ctx, hierarchy, tried);
  for (std::size_t l = levels_.size(); l-- > (below_first_ ? 0 : 1);) {
    Level& level = levels_[l];
    if (level.a == nullptr || !level.transfer.exists() || !tried.have(hierarchy.levels(), l)) continue;
    LevelTrial<T, S> trial(
        ctx, level.x.size(),
        [&](const Array<T, S>& x, Array<T, S>& y) { level.a->apply(ctx, T(1), x.cspan(), T(0), y.span()); },
        [&](Span<const T, S> b, Span<T, S> x) {
          copy<T>(ctx, b, level.b.span());
          correct(ctx, level, l);
          copy<T>(ctx, level.x.cspan(), x);
        });
    if (!trial.is_slow()) continue;
    const SmootherSteps steps = level.steps;
    solve_twice(ctx, hierarchy.levels()[l], level, degree);
    if (trial.is_faster_now()) continue;
    level.steps = steps;
    level.again.reset();
  }
  int cycles = 1;
  for (std::size_t l = below_first_ ? 0 : 1; l < levels_.size(); ++l) {
    levels_[l].cycles = cycles *= solved_twice(l) ? 2 : 1;
  }
}

// By cycles of the first level's degree: two of them smooth as often as one of a higher degree, or more.
template <class T, Space S>
void AmgCycle<T, S>::solve_twice(const Context<S>& ctx, const AmgLevel<S>& from, Level& level, int degree) const {
  const bool is_sparse = level.sparse.m != nullptr;
  level.steps = smoother_steps(used_smoother(from.smoother, is_sparse), degree, is_sparse && level.sparse.of_groups);
  level.again = std::make_unique<Again>();
  Again& again = *level.again;
  again.b = Array<T, S>(ctx, level.b.size());
  again.x = Array<T, S>(ctx, level.b.size());
  if (std::is_same_v<T, double>) return;
  again.exact = make_block_matrix<double>(ctx, from.a);
  again.exact_r = Array<double, S>(ctx, level.b.size());
  again.exact_x = Array<double, S>(ctx, level.b.size());
}

// The hierarchy's values in precision T, until the next call.
template <class T, Space S>
Span<const T, S> AmgCycle<T, S>::place(const Context<S>& ctx, Span<const double, S> values) {
  if constexpr (std::is_same_v<T, double>) {
    return values;
  } else {
    if (converted_.size() < values.size) converted_ = Array<T, S>(ctx, values.size);
    const Span<T, S> converted = converted_.span().subspan(0, values.size);
    convert(ctx, values, converted);
    return converted;
  }
}

template <class T, Space S>
SparseSmoother<T, S> AmgCycle<T, S>::make_smoother(const Context<S>& ctx, const AmgLevel<S>& level) const {
  if (!is_sparse(level.smoother)) return {};
  const auto values = regular_values(ctx, level.a);
  const PlacedCsr<T, S> placed(ctx, scalar_rows(ctx, level.a), span_of(values));
  try {
    const RowOrder<S> natural;
    return make_sparse_smoother<T, S>(ctx, placed.view(), natural, level.a, natural, level.smoother, symmetric_,
                                      SpmvOptions{}, true);
  } catch (const InputError&) {
    return {};
  }
}

// New values for what smooths a level. FSAI that refuses them stays as it is: any positive definite matrix smooths.
template <class T, Space S>
void AmgCycle<T, S>::refresh_smoother(const Context<S>& ctx, std::size_t l, Span<const T, S> values,
                                      const AmgHierarchy<S>& hierarchy) {
  Level& level = levels_[l];
  try {
    if (level.sparse.m != nullptr && is_first(l)) level.sparse.m->refresh(ctx, values);
    if (level.sparse.m != nullptr && !is_first(l)) {
      const auto regular = regular_values(ctx, hierarchy.levels()[l].a);
      level.sparse.m->refresh(ctx, place(ctx, span_of(regular)));
    }
  } catch (const NotPositiveDefinite&) {
  }
  place_smoother(ctx, l, hierarchy, sparse_lambda(ctx, l, hierarchy));
}

// The largest eigenvalue that a sparse smoother makes of a level's matrix; 0 where there is none.
template <class T, Space S>
double AmgCycle<T, S>::sparse_lambda(const Context<S>& ctx, std::size_t l, const AmgHierarchy<S>& hierarchy) const {
  const Level& level = levels_[l];
  if (level.sparse.m == nullptr) return 0;
  const bool definite = hierarchy.levels()[l].smoother == AmgSmoother::fsai;
  return largest_eigenvalue<T, S>(ctx, *level.a, *level.sparse.m, definite,
                                  l == 0 ? order_.old_of_new.cspan() : Span<const Index, S>());
}

template <class T, Space S>
void AmgCycle<T, S>::place_smoother(const Context<S>& ctx, std::size_t l, const AmgHierarchy<S>& hierarchy,
                                    double lambda) {
  Level& level = levels_[l];
  if (level.sparse.m != nullptr) {
    return fill<T, S>(ctx, static_cast<T>(1 / (power_method_margin * lambda)), level.smoother.span());
  }
  const Span<const T, S> values = place(ctx, span_of(hierarchy.levels()[l].smoother_diagonal));
  if (l == 0 && !order_.old_of_new.empty()) {
    gather(ctx, values, order_.old_of_new.cspan(), level.smoother.span());
  } else {
    copy<T>(ctx, values, level.smoother.span());
  }
}

template <class T, Space S>
void AmgCycle<T, S>::refresh(const Context<S>& ctx, Span<const T, S> values, const AmgHierarchy<S>& hierarchy,
                             bool prolongators) {
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    Level& level = levels_[l];
    const AmgLevel<S>& from = hierarchy.levels()[l];
    if (level.a != nullptr) {
      level.a->refresh(ctx, l == 0 && !finest_in_blocks_ ? values : place(ctx, from.a.val.cspan()));
      refresh_smoother(ctx, l, values, hierarchy);
    }
    if (level.again != nullptr && level.again->exact != nullptr) level.again->exact->refresh(ctx, from.a.val.cspan());
    if (prolongators && level.transfer.exists()) level.transfer.refresh(ctx, from);
  }
  if (coarse_ != nullptr) coarse_->refresh(ctx, hierarchy, prolongators);
  if (inverse_ != nullptr) inverse_->refresh(ctx, place(ctx, span_of(hierarchy.inverse())));
}

// What follows the first step on level l.
template <class T, Space S>
template <class Last>
void AmgCycle<T, S>::smooth(const Context<S>& ctx, std::size_t l, T* x, Last&& last) const {
  const Level& level = levels_[l];
  if (!level.transfer.exists()) return smooth_further<T>(ctx, level, x, x, last);
  const auto correct_coarse = [&] {
    const Level& coarse = levels_[l + 1];
    level.transfer.restrict_to(ctx, level.r.data(), coarse.b.data());
    correct(ctx, coarse, l + 1);
    level.transfer.prolong(ctx, coarse.x.data(), level.d.data());
  };
  smooth_around(ctx, level, x, correct_coarse, last);
}

// x from b on level l, below the first.
template <class T, Space S>
void AmgCycle<T, S>::correct(const Context<S>& ctx, const Level& level, std::size_t l) const {
  correct_level<T>(ctx, level, [&](Span<const T, S> b, Span<T, S> x) { descend(ctx, l, b, x); });
}

template <class T, Space S>
void AmgCycle<T, S>::descend(const Context<S>& ctx, std::size_t l, Span<const T, S> b, Span<T, S> x) const {
  const Level& level = levels_[l];
  if (coarse_ != nullptr && l == coarse_first_) return coarse_->apply(ctx, b.data, x.data);
  if (level.a == nullptr) return inverse_->apply(ctx, T(1), b, T(0), x);
  start_smoothing(ctx, level, b.data, x.data);
  smooth(ctx, l, x.data, [&](const AmgNextStep<T>& step) { sweep(ctx, x.size, step); });
}

// The first step reads b as it comes, and the last one writes x as it goes out, with b.x where that is wanted.
template <class T, Space S>
template <class V>
void AmgCycle<T, S>::apply(const Context<S>& ctx, Span<const V, S> b, Span<V, S> x, double* bx) const {
  constexpr bool converts = !std::is_same_v<T, V>;
  const Level& level = levels_.front();
  if constexpr (!converts) {
    if (level.again != nullptr) {
      copy<T>(ctx, b, level.b.span());
      correct(ctx, level, 0);
      copy<T>(ctx, level.x.cspan(), x);
      if (bx != nullptr) dot(ctx, b, Span<const T, S>(x), bx);
      return;
    }
  }
  Span<T, S> own;
  if constexpr (converts)
    own = own_x_.span();
  else
    own = x;
  if (level.r.size() > 0 && !level.steps.next.empty()) {
    start_smoothing(ctx, level, b.data, own.data);
    return smooth(ctx, 0, own.data, [&](const AmgNextStep<T>& s) {
      if (bx != nullptr) {
        return sweep(ctx, x.size, AmgLastStep<T, V>(s.c1, s.c2, s.s, s.r, s.before, s.x, b.data, x.data, bx));
      }
      sweep(ctx, x.size, s);
      if constexpr (converts) convert(ctx, Span<const T, S>(own), x);
    });
  }
  if constexpr (converts) {
    convert(ctx, b, own_b_.span());
    descend(ctx, 0, own_b_.cspan(), own);
    convert(ctx, Span<const T, S>(own), x);
  } else {
    descend(ctx, 0, b, x);
  }
  if (bx != nullptr) dot(ctx, b, Span<const V, S>(x), bx);
}

#define X(T, S)                                                                                           \
  template class AmgCycle<T, S>;                                                                          \
  template void AmgCycle<T, S>::apply<T>(const Context<S>&, Span<const T, S>, Span<T, S>, double*) const; \
  template OperatorPtr<T, S> make_block_matrix<T>(const Context<S>&, const BlockCsr<S>&);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

#define X(S)                                                                                                 \
  template void AmgCycle<float, S>::apply<double>(const Context<S>&, Span<const double, S>, Span<double, S>, \
                                                  double*) const;
NEWEL_FOR_SPACES(X)
#undef X

}  // namespace newel::detail
