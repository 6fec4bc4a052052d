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

constexpr double most_of_groups = 1.5;

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

template <class T, Space S>
SparseSmoother<T, S> make_smoother(const Context<S>& ctx, const AmgLevel<S>& level, bool symmetric) {
  if (!is_sparse(level.smoother)) return {};
  const auto values = regular_values(ctx, level.a);
  const PlacedCsr<T, S> placed(ctx, scalar_rows(ctx, level.a), span_of(values));
  try {
    const RowOrder<S> natural;
    return make_sparse_smoother<T, S>(ctx, placed.view(), natural, level.a, natural, level.smoother, symmetric,
                                      SpmvOptions{}, true);
  } catch (const InputError&) {
    return {};
  }
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
    : order_(std::move(order)), below_first_(finest.below_first), finest_in_blocks_(finest.in_blocks) {
  const std::vector<AmgLevel<S>>& from = hierarchy.levels();
  levels_.all.resize(from.size());
  const LevelOrder<S> natural;
  levels_.coarse_first = first_of_coarse(from);
  if (finest.converts) {
    levels_.own_b = Array<T, S>(ctx, from.front().a.scalar_rows());
    levels_.own_x = Array<T, S>(ctx, from.front().a.scalar_rows());
  }
  if constexpr (S == Space::device) {  // on the host a pass over a level costs nothing but its work
    if (levels_.coarse_first < from.size()) {
      levels_.coarse = make_coarse_cycle<T>(ctx, hierarchy, levels_.coarse_first, degree);
    }
  }
  for (std::size_t l = 0; l < from.size(); ++l) {
    CycleLevel<T, S>& level = levels_.all[l];
    const Index rows = from[l].a.scalar_rows();
    if (l >= first_below()) {
      level.b = Array<T, S>(ctx, rows);
      level.x = Array<T, S>(ctx, rows);
    }
    if (levels_.in_coarse(l)) break;
    if (from[l].smoother_diagonal.size() == 0) continue;
    level.a = l == 0 ? std::move(finest.a) : make_block_matrix<T>(ctx, from[l].a);
    level.r = Array<T, S>(ctx, rows);
    level.d = Array<T, S>(ctx, rows);
    level.smoother = Array<T, S>(ctx, rows);
    take_smoother(ctx, l,
                  l < first_below() ? std::move(finest.smoother) : make_smoother<T>(ctx, from[l], finest.symmetric),
                  hierarchy, degree);
    if (!from[l].last()) level.transfer = AmgTransfer<T, S>(ctx, from[l], l == 0 ? order_ : natural);
  }
  if constexpr (S == Space::host) {
    if (from.back().smoother_diagonal.empty()) {
      const std::vector<double>& inverse = hierarchy.inverse();
      levels_.inverse = make_operator<T>(ctx, dense_pattern(ctx, from.back().a.scalar_rows()), span_of(inverse));
    }
  }
  if (finest.symmetric) choose_cycles(ctx, hierarchy, degree, finest.tried);
}

// A level's smoother with what depends on it, `degree` that of the first level.
template <class T, Space S>
void AmgCycle<T, S>::take_smoother(const Context<S>& ctx, std::size_t l, SparseSmoother<T, S> smoother,
                                   const AmgHierarchy<S>& hierarchy, int degree) {
  CycleLevel<T, S>& level = levels_.all[l];
  const AmgLevel<S>& from = hierarchy.levels()[l];
  level.sparse = std::move(smoother);
  const double lambda = sparse_lambda(ctx, *level.a, level, from.smoother, order_of(l));
  // With D^-1, G^T G of FSAI shares the trace of S A: a larger eigenvalue than the diagonal's slows the polynomial.
  // A few tied nodes may bring it close to that, and FSAI smooths far better all the same. Margins on both sides;
  // on groups, outside of which it is the diagonal, only what has gone wrong makes it that much larger.
  const double most = from.lambda * (level.sparse.of_groups ? most_of_groups : 1);
  if (hierarchy.chooses_smoothers() && power_method_margin * lambda > most) level.sparse.m.reset();
  if (level.sparse.m != nullptr) level.z = Array<T, S>(ctx, level.r.size());
  take_steps(level, from.smoother, l < first_below() ? degree : coarse_degree(degree));
  place_smoother(ctx, level, from, order_of(l), lambda, levels_.converted);
}

// Which levels are solved by two cycles: from the last one on, as those below count.
template <class T, Space S>
void AmgCycle<T, S>::choose_cycles(const Context<S>& ctx, const AmgHierarchy<S>& hierarchy, int degree,
                                   const TriedLevels& tried) {
  if (levels_.coarse != nullptr && levels_.coarse_first > 0) levels_.coarse->choose_cycles(ctx, hierarchy, tried);
  for (std::size_t l = levels_.all.size(); l-- > first_below();) {
    CycleLevel<T, S>& level = levels_.all[l];
    if (level.a == nullptr || !levels_.coarsens(l) || !tried.have(hierarchy.levels(), l)) continue;
    const AmgLevel<S>& from = hierarchy.levels()[l];
    const auto twice = [&] {
      solve_twice(ctx, level, from.smoother, degree, [&] { return make_block_matrix<double>(ctx, from.a); });
    };
    try_two_cycles(
        ctx, *level.a, level, [&] { correct_from<T>(ctx, levels_, l); }, twice);
  }
  int cycles = 1;
  for (std::size_t l = first_below(); l < levels_.all.size(); ++l) {
    levels_.all[l].cycles = cycles *= levels_.solved_twice(l) ? 2 : 1;
  }
}

// New values for what smooths a level. FSAI that refuses them stays as it is: any positive definite matrix smooths.
template <class T, Space S>
void AmgCycle<T, S>::refresh_smoother(const Context<S>& ctx, std::size_t l, Span<const T, S> values,
                                      const AmgHierarchy<S>& hierarchy) {
  CycleLevel<T, S>& level = levels_.all[l];
  const AmgLevel<S>& from = hierarchy.levels()[l];
  try {
    if (level.sparse.m != nullptr && l < first_below()) level.sparse.m->refresh(ctx, values);
    if (level.sparse.m != nullptr && l >= first_below()) {
      const auto regular = regular_values(ctx, from.a);
      level.sparse.m->refresh(ctx, levels_.converted.of(ctx, span_of(regular)));
    }
  } catch (const NotPositiveDefinite&) {
  }
  const double lambda = sparse_lambda(ctx, *level.a, level, from.smoother, order_of(l));
  place_smoother(ctx, level, from, order_of(l), lambda, levels_.converted);
}

template <class T, Space S>
void AmgCycle<T, S>::refresh(const Context<S>& ctx, Span<const T, S> values, const AmgHierarchy<S>& hierarchy,
                             bool prolongators) {
  for (std::size_t l = 0; l < levels_.all.size(); ++l) {
    CycleLevel<T, S>& level = levels_.all[l];
    const AmgLevel<S>& from = hierarchy.levels()[l];
    if (level.a != nullptr) {
      level.a->refresh(ctx, l == 0 && !finest_in_blocks_ ? values : levels_.converted.of(ctx, from.a.val.cspan()));
      refresh_smoother(ctx, l, values, hierarchy);
    }
    if (level.again != nullptr && level.again->exact != nullptr) level.again->exact->refresh(ctx, from.a.val.cspan());
    if (prolongators && level.transfer.exists()) level.transfer.refresh(ctx, from);
  }
  if (levels_.coarse != nullptr) levels_.coarse->refresh(ctx, hierarchy, prolongators);
  if (levels_.inverse != nullptr) {
    levels_.inverse->refresh(ctx, levels_.converted.of(ctx, span_of(hierarchy.inverse())));
  }
}

template <class T, Space S>
template <class V>
void AmgCycle<T, S>::apply(const Context<S>& ctx, Span<const V, S> b, Span<V, S> x, double* bx) const {
  if constexpr (std::is_same_v<T, V>) {
    if (const CycleLevel<T, S>& level = levels_[0]; level.again != nullptr) {
      copy<T>(ctx, b, level.b.span());
      correct_from<T>(ctx, levels_, 0);
      copy<T>(ctx, level.x.cspan(), x);
      if (bx != nullptr) dot(ctx, b, Span<const T, S>(x), bx);
      return;
    }
  }
  apply_cycle<T>(ctx, levels_, b, x, bx);
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
