// SPDX-License-Identifier: Apache-2.0
// The V-cycle on ranks, and the way of values from the hierarchy into its operators.
#include "distributed/precond/amg/rank_cycle.hpp"

#include <algorithm>
#include <utility>

#include <newel/core/vector_ops.hpp>
#include <newel/precond/fsai/fsai_options.hpp>
#include "core/vectors/instantiate.hpp"
#include "core/vectors/over_ranks.hpp"
#include "distributed/precond/rank_fsai.hpp"
#include "distributed/precond/rank_refusal.hpp"
#include "distributed/precond/rank_spai.hpp"
#include "distributed/rows/rank_info.hpp"
#include "distributed/rows/values_in_space.hpp"
#include "precond/amg/cycle/chebyshev_trial.hpp"
#include "precond/amg/cycle/level_cycle.hpp"
#include "precond/amg/setup/strength.hpp"

namespace newel::detail {
namespace {

// The values of a level's rows with a 1 for each 0 on the diagonal, which SPAI and FSAI need.
template <class T>
std::vector<T> regular_values_of(const LevelRows& rows, std::int64_t first_row, std::vector<T> values) {
  const RankPattern& pattern = rows.pattern;
  for (Index i = 0; i < pattern.rows(); ++i) {
    const auto begin = pattern.col.begin() + pattern.row_ptr[static_cast<std::size_t>(i)];
    const auto end = pattern.col.begin() + pattern.row_ptr[static_cast<std::size_t>(i) + 1];
    const auto at = std::lower_bound(begin, end, first_row + i);
    if (at == end || *at != first_row + i) continue;
    T& entry = values[static_cast<std::size_t>(at - pattern.col.begin())];
    if (entry == T(0)) entry = 1;
  }
  return values;
}

// The largest eigenvalue that a sparse smoother makes of a level's matrix; 0 without one.
template <class T, Space S>
double lambda_of(const RankLevel<S>& from, const RankCycleLevel<T, S>& level) {
  return sparse_lambda(level.ctx, *level.a, level, from.own.smoother, level.order.old_of_new.cspan());
}

template <class T, Space S>
void scale_smoother(const RankLevel<S>& from, RankCycleLevel<T, S>& level, double lambda) {
  ConvertedValues<T, S> converted;
  place_smoother(level.ctx, level, from.own, level.order.old_of_new.cspan(), lambda, converted);
}

}  // namespace

template <class T, Space S>
RankCycle<T, S>::RankCycle(const Context<S>& ctx, RankFinest<T, S> finest, const RankHierarchy<S>& hierarchy,
                           const PrecondOptions& options, std::optional<GatheredCycle<T, S>> below, PhaseClock& clock)
    : options_(options), chooses_smoothers_(hierarchy.chooses_smoothers()) {
  const std::vector<RankLevel<S>>& from = hierarchy.levels();
  const std::size_t count = hierarchy.smoothed_levels();
  levels_.below = std::move(below);
  levels_.all.reserve(count);
  for (std::size_t l = 0; l < count; ++l) levels_.all.emplace_back(context_of_rows(ctx, from[l].first_rows()));
  levels_.all.front().order = std::move(finest.order);
  finest_ = std::move(finest.own);
  levels_.all.front().a = finest.shared != nullptr ? finest.shared : finest_.get();
  if (finest.shared != nullptr) shared_info_ = finest.shared->stored().info();
  if (finest_ != nullptr) shared_info_ = finest_->stored().info();
  for (std::size_t l = 0; l < count; ++l) {
    make_level(from[l], l, finest.rows);
    clock.end(l == 0 ? "finest matrix" : "coarse matrices");
  }
  for (std::size_t l = 0; l + 1 < from.size(); ++l) {
    RankCycleLevel<T, S>& level = levels_.all[l];
    level.transfer = AmgTransfer<T, S>(level.ctx, from[l].own, level.order);
    level.coarsens = true;
  }
  if (finest.converts) {
    levels_.own_b = Array<T, S>(ctx, levels_[0].a->rows());
    levels_.own_x = Array<T, S>(ctx, levels_[0].a->rows());
  }
  clock.end("formats");
  if (options.symmetric) choose_cycles(hierarchy);
  clock.end("trial of two cycles");
  if (!is_put_off(from.front(), 0)) return;
  tried_ = true;
  if (first_needs_fsai(from.front())) make_smoother(from.front(), 0, finest.rows);
}

// On a host FSAI has to show first that the first level needs it: see chebyshev_trial.hpp.
template <class T, Space S>
bool RankCycle<T, S>::is_put_off(const RankLevel<S>& from, std::size_t l) const {
  return S == Space::host && l == 0 && !tried_ && chooses_smoothers_ && from.own.smoother == AmgSmoother::fsai;
}

template <class T, Space S>
bool RankCycle<T, S>::first_needs_fsai(const RankLevel<S>& from) const {
  if constexpr (S == Space::host) {
    const RankCycleLevel<T, S>& level = levels_[0];
    using Vector = Array<T, S>;
    SmootherTrial<T> trial{
        [&](const Vector& x, Vector& y) { level.a->apply(level.ctx, T(1), x.cspan(), T(0), y.span()); },
        [&](Span<const T, S> b, Span<T, S> x) { this->template apply<T>(level.ctx, b, x, nullptr); }, from.own.a,
        diagonal_norms(level.ctx, from.own.a), level.order.old_of_new.cspan()};
    from.ghosts.append(level.ctx, 1, trial.diagonal);
    return !chebyshev_suffices(level.ctx, trial);
  } else {
    static_cast<void>(from);
    return true;
  }
}

// `rows`: of the first level.
template <class T, Space S>
void RankCycle<T, S>::make_level(const RankLevel<S>& from, std::size_t l, const RankMatrix<T>& rows) {
  RankCycleLevel<T, S>& level = levels_.all[l];
  if (level.a == nullptr) {
    level.own = std::make_unique<LevelOperator<T, S>>(level.ctx, from, level.order);
    level.a = level.own.get();
  }
  const Index n = level.a->rows();
  for (Array<T, S>* vector : {&level.r, &level.d, &level.smoother}) *vector = Array<T, S>(level.ctx, n);
  if (l == 0) return make_smoother(from, l, rows);
  level.b = Array<T, S>(level.ctx, n);
  level.x = Array<T, S>(level.ctx, n);
  std::vector<T> values;
  RankRows<T> own_rows;
  if (is_sparse(from.own.smoother)) {
    level.rows.emplace(level.ctx, from);
    values =
        regular_values_of(*level.rows, first_row(level.ctx), level.rows->template values<T>(level.ctx, from.own.a));
    own_rows = level.rows->pattern.template with<T>(Span<const T, Space::host>(values));
  }
  const std::vector<std::int64_t> first_rows = from.first_rows();
  make_smoother(from, l, RankMatrix<T>{own_rows, first_rows, {}});
}

// A sparse smoother that refuses the matrix gives way to the diagonal, unless it is asked for on the first level; and
// one that leaves a larger eigenvalue than the diagonal does: see AmgCycle.
template <class T, Space S>
void RankCycle<T, S>::make_smoother(const RankLevel<S>& from, std::size_t l, const RankMatrix<T>& rows) {
  RankCycleLevel<T, S>& level = levels_.all[l];
  if (is_sparse(from.own.smoother) && !is_put_off(from, l)) {
    PrecondOptions named;
    named.symmetric = options_.symmetric;
    named.of<FsaiOptions>().symmetric_product = l > 0;
    const auto make = [&] {
      if (from.own.smoother == AmgSmoother::fsai) {
        level.sparse.m = std::make_unique<RankFsai<T, S>>(level.ctx, rows, named);
      } else {
        level.sparse.m = std::make_unique<RankSpai<T, S>>(level.ctx, rows, named);
      }
    };
    LocatedText why;
    if (l == 0 && !chooses_smoothers_) {
      make();
    } else {
      static_cast<void>(is_taken(make, why));
    }
  }
  const double lambda = lambda_of(from, level);
  if (chooses_smoothers_ && !(power_method_margin * lambda <= from.own.lambda)) level.sparse.m.reset();
  if (level.sparse.m != nullptr) level.z = Array<T, S>(level.ctx, level.r.size());
  const int degree = options_.of<AmgOptions>().degree;
  take_steps(level, from.own.smoother, l == 0 ? degree : coarse_degree(degree));
  scale_smoother(from, level, lambda);
}

// Which levels are solved by two cycles: from the last one on, as those below count.
template <class T, Space S>
void RankCycle<T, S>::choose_cycles(const RankHierarchy<S>& hierarchy) {
  const TriedLevels tried = tried_levels<S>;
  const std::vector<RankLevel<S>>& from = hierarchy.levels();
  for (std::size_t l = levels_.all.size(); l-- > 1;) {
    RankCycleLevel<T, S>& level = levels_.all[l];
    if (!level.coarsens || from[l].all_rows() < tried.rows || from[l].own.a.row_block < tried.row_block ||
        from.front().all_rows() < tried.first_rows) {
      continue;
    }
    const auto make_exact = [&] {
      return std::make_unique<LevelOperator<double, S>>(level.ctx, from[l], level.order);
    };
    const auto twice = [&] {
      solve_twice(level.ctx, level, from[l].own.smoother, options_.of<AmgOptions>().degree, make_exact);
    };
    try_two_cycles(
        level.ctx, *level.a, level, [&] { correct_from<T>(level.ctx, levels_, l); }, twice);
  }
}

// `values`: of the first level.
template <class T, Space S>
void RankCycle<T, S>::refresh_level(const RankLevel<S>& from, std::size_t l, Span<const T, S> values) {
  RankCycleLevel<T, S>& level = levels_.all[l];
  if (level.own != nullptr) level.own->refresh(level.ctx, from.own.a);
  if (level.again != nullptr && level.again->exact != nullptr) level.again->exact->refresh(level.ctx, from.own.a);
  if (level.sparse.m != nullptr) {
    Array<T, S> there;
    std::vector<T> regular;
    if (level.rows) {
      regular =
          regular_values_of(*level.rows, first_row(level.ctx), level.rows->template values<T>(level.ctx, from.own.a));
      values = in_space<T, S>(level.ctx, Span<const T, Space::host>(regular), there);
    }
    try {
      level.sparse.m->refresh(level.ctx, values);
    } catch (const NotPositiveDefinite&) {  // of all ranks: it stays as it is, for any definite matrix smooths
    }
  }
  scale_smoother(from, level, lambda_of(from, level));
}

template <class T, Space S>
void RankCycle<T, S>::refresh(const Context<S>& alone, Span<const T, S> values, const RankHierarchy<S>& hierarchy,
                              const AmgHierarchy<S>& below, bool prolongators) {
  if (finest_ != nullptr) finest_->refresh(levels_[0].ctx, values);
  for (std::size_t l = 0; l < levels_.all.size(); ++l) {
    const RankLevel<S>& from = hierarchy.levels()[l];
    refresh_level(from, l, values);
    RankCycleLevel<T, S>& level = levels_.all[l];
    if (prolongators && level.coarsens) level.transfer.refresh(level.ctx, from.own);
  }
  if (levels_.below) levels_.below->refresh(alone, below, prolongators);
}

template <class T, Space S>
template <class V>
void RankCycle<T, S>::apply(const Context<S>& ctx, Span<const V, S> b, Span<V, S> x, double* bx) const {
  apply_cycle<T>(ctx, levels_, b, x, bx);
}

template <class T, Space S>
std::string RankCycle<T, S>::smoother_text(const RankHierarchy<S>& hierarchy, const AmgHierarchy<S>& below) const {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (std::size_t l = 0; l < levels_.all.size(); ++l) {
    add(name_of(used_smoother(hierarchy.levels()[l].own.smoother, levels_[l].sparse.m != nullptr)));
  }
  if (levels_.below && below.levels().front().smoother_diagonal.size() > 0) {
    add(levels_.below->cycle().levels().smoother_text(below));
  }
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " and ") + name;
  return text;
}

template <class T, Space S>
std::string RankCycle<T, S>::cycles_text() const {
  std::string levels;
  for (std::size_t l = 1; l < levels_.all.size(); ++l) {
    if (levels_[l].again != nullptr) levels += (levels.empty() ? "" : " and ") + std::to_string(l + 1);
  }
  return levels.empty() ? "" : ", two cycles on level " + levels;
}

template <class T, Space S>
bool RankCycle<T, S>::capturable() const {
  const auto is_capturable = [](const RankCycleLevel<T, S>& level) {
    return level.a->capturable() && (level.sparse.m == nullptr || level.sparse.m->capturable());
  };
  return (!levels_.below || levels_.below->cycle().levels().capturable()) &&
         std::all_of(levels_.all.begin(), levels_.all.end(), is_capturable);
}

template <class T, Space S>
OperatorInfo RankCycle<T, S>::info() const {
  OperatorInfo info;
  std::uint64_t matrices = finest_ == nullptr ? 0 : finest_->stored().bytes(), prolongators = 0, smoothers = 0,
                vectors = levels_.own_b.bytes() + levels_.own_x.bytes();
  const auto add = [&](const OperatorInfo& part, std::uint64_t products) {
    info.nonzeros += part.nonzeros;
    info.stored_slots += part.stored_slots;
    info.bytes_per_product += products * part.bytes_per_product;
  };
  for (const RankCycleLevel<T, S>& level : levels_.all) {
    // Vectors as in CycleLevels::info; the next level's cycles are counted once.
    const std::uint64_t steps = level.steps.next.size() + 1;
    add(level.own != nullptr ? level.own->info() : shared_info_, 2 * steps);
    info.bytes_per_product += (level.coarsens ? 12 * steps - 2 : 6 * steps - 2) * level.smoother.bytes();
    if (level.own != nullptr) matrices += level.own->bytes();
    if (level.coarsens) {
      info.nonzeros += level.transfer.entries();
      info.stored_slots += level.transfer.entries();
      info.bytes_per_product += level.transfer.bytes_read();
      prolongators += level.transfer.bytes();
    }
    if (level.sparse.m != nullptr) {
      add(level.sparse.m->info(), 2 * steps);
      smoothers += level.sparse.m->info().total_bytes();
    }
    smoothers += level.smoother.bytes();
    vectors += level.vector_bytes();
    if (level.again != nullptr && level.again->exact != nullptr) vectors += level.again->exact->bytes();
  }
  info.bytes = {
      {"matrices", matrices}, {"prolongators", prolongators}, {"smoothers", smoothers}, {"vectors", vectors}};
  if (levels_.below) {
    const OperatorInfo gathered = levels_.below->cycle().levels().info();
    add(gathered, 1);
    info.bytes.emplace_back(gathered_levels, levels_.below->vector_bytes() + gathered.total_bytes());
  }
  return info;
}

#define X(T, S)                   \
  template class RankCycle<T, S>; \
  template void RankCycle<T, S>::apply<T>(const Context<S>&, Span<const T, S>, Span<T, S>, double*) const;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

#define X(S)                                                                                                  \
  template void RankCycle<float, S>::apply<double>(const Context<S>&, Span<const double, S>, Span<double, S>, \
                                                   double*) const;
NEWEL_FOR_SPACES(X)
#undef X

}  // namespace newel::detail
