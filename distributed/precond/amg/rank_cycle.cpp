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
#include "precond/amg/cycle/two_cycles.hpp"
#include "precond/amg/setup/strength.hpp"

namespace newel::detail {
namespace {

constexpr double power_method_margin = 1.1;  // the power method comes from below

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

}  // namespace

template <class T, Space S>
RankCycle<T, S>::RankCycle(const Context<S>& ctx, RankFinest<T, S> finest, const RankHierarchy<S>& hierarchy,
                           const PrecondOptions& options, std::optional<GatheredCycle<T, S>> below, PhaseClock& clock)
    : options_(options), chooses_smoothers_(hierarchy.chooses_smoothers()), below_(std::move(below)) {
  const std::vector<RankLevel<S>>& from = hierarchy.levels();
  const std::size_t count = hierarchy.smoothed_levels();
  levels_.reserve(count);
  for (std::size_t l = 0; l < count; ++l) levels_.emplace_back(context_of_rows(ctx, from[l].first_rows()));
  levels_.front().order = std::move(finest.order);
  finest_ = std::move(finest.own);
  levels_.front().a = finest.shared != nullptr ? finest.shared : finest_.get();
  if (finest.shared != nullptr) shared_info_ = finest.shared->rank_info();
  if (finest_ != nullptr) shared_info_ = finest_->rank_info();
  for (std::size_t l = 0; l < count; ++l) {
    make_level(from[l], l, finest.rows);
    clock.end(l == 0 ? "finest matrix" : "coarse matrices");
  }
  for (std::size_t l = 0; l + 1 < from.size(); ++l) {
    levels_[l].transfer = AmgTransfer<T, S>(levels_[l].ctx, from[l].own, levels_[l].order);
    levels_[l].coarsens = true;
  }
  if (finest.converts) {
    own_b_ = Array<T, S>(ctx, levels_.front().a->rows());
    own_x_ = Array<T, S>(ctx, levels_.front().a->rows());
  }
  clock.end("formats");
  if (options.symmetric) choose_cycles(hierarchy);
  clock.end("trial of two cycles");
  if (!is_put_off(from.front(), true)) return;
  tried_ = true;
  if (first_needs_fsai(from.front())) make_smoother(from.front(), levels_.front(), true, finest.rows);
}

// On a host FSAI has to show first that the first level needs it: see chebyshev_trial.hpp.
template <class T, Space S>
bool RankCycle<T, S>::is_put_off(const RankLevel<S>& from, bool first) const {
  return S == Space::host && first && !tried_ && chooses_smoothers_ && from.own.smoother == AmgSmoother::fsai;
}

template <class T, Space S>
bool RankCycle<T, S>::first_needs_fsai(const RankLevel<S>& from) const {
  if constexpr (S == Space::host) {
    const Level& level = levels_.front();
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
  Level& level = levels_[l];
  if (level.a == nullptr) {
    level.own = std::make_unique<LevelOperator<T, S>>(level.ctx, from, level.order);
    level.a = level.own.get();
  }
  const Index n = level.a->rows();
  for (Array<T, S>* vector : {&level.r, &level.d, &level.smoother}) *vector = Array<T, S>(level.ctx, n);
  if (l == 0) return make_smoother(from, level, true, rows);
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
  make_smoother(from, level, false, RankMatrix<T>{own_rows, first_rows, {}});
}

// A sparse smoother that refuses the matrix gives way to the diagonal, unless it is asked for on the first level.
template <class T, Space S>
void RankCycle<T, S>::make_smoother(const RankLevel<S>& from, Level& level, bool first, const RankMatrix<T>& rows) {
  if (is_sparse(from.own.smoother) && !is_put_off(from, first)) {
    PrecondOptions named;
    named.symmetric = options_.symmetric;
    named.of<FsaiOptions>().symmetric_product = !first;
    const auto make = [&] {
      if (from.own.smoother == AmgSmoother::fsai) {
        level.sparse.m = std::make_unique<RankFsai<T, S>>(level.ctx, rows, named);
      } else {
        level.sparse.m = std::make_unique<RankSpai<T, S>>(level.ctx, rows, named);
      }
    };
    LocatedText why;
    if (first && !chooses_smoothers_) {
      make();
    } else {
      static_cast<void>(is_taken(make, why));
    }
    if (level.sparse.m != nullptr && !takes_smoother(from, level)) level.sparse.m.reset();
  }
  if (level.sparse.m != nullptr) level.z = Array<T, S>(level.ctx, level.r.size());
  const int degree = options_.of<AmgOptions>().degree;
  level.steps = steps_of(from, level, first ? degree : coarse_degree(degree));
  place_smoother(from, level);
}

// Not if it leaves a larger eigenvalue than the diagonal does: see AmgCycle.
template <class T, Space S>
bool RankCycle<T, S>::takes_smoother(const RankLevel<S>& from, Level& level) const {
  return !chooses_smoothers_ || power_method_margin * sparse_lambda(from, level) <= from.own.lambda;
}

template <class T, Space S>
SmootherSteps RankCycle<T, S>::steps_of(const RankLevel<S>& from, const Level& level, int degree) const {
  return smoother_steps(used_smoother(from.own.smoother, level.sparse.m != nullptr), degree, false);
}

// The largest eigenvalue that a sparse smoother makes of a level's matrix.
template <class T, Space S>
double RankCycle<T, S>::sparse_lambda(const RankLevel<S>& from, const Level& level) const {
  return largest_eigenvalue<T, S>(level.ctx, *level.a, *level.sparse.m, from.own.smoother == AmgSmoother::fsai,
                                  level.order.old_of_new.cspan());
}

template <class T, Space S>
void RankCycle<T, S>::place_smoother(const RankLevel<S>& from, Level& level) const {
  if (level.sparse.m != nullptr) {
    const double lambda = power_method_margin * sparse_lambda(from, level);
    return fill<T, S>(level.ctx, static_cast<T>(1 / lambda), level.smoother.span());
  }
  const Span<const double, S> diagonal = span_of(from.own.smoother_diagonal);
  Array<T, S> converted;
  Span<const T, S> values;
  if constexpr (std::is_same_v<T, double>) {
    values = diagonal;
  } else {
    converted = Array<T, S>(level.ctx, diagonal.size);
    convert(level.ctx, diagonal, converted.span());
    values = converted.cspan();
  }
  if (level.order.old_of_new.empty()) return copy<T>(level.ctx, values, level.smoother.span());
  gather<T, S>(level.ctx, values, level.order.old_of_new.cspan(), level.smoother.span());
}

// Which levels are solved by two cycles: from the last one on, as those below count.
template <class T, Space S>
void RankCycle<T, S>::choose_cycles(const RankHierarchy<S>& hierarchy) {
  const TriedLevels tried = tried_levels<S>;
  const std::vector<RankLevel<S>>& from = hierarchy.levels();
  for (std::size_t l = levels_.size(); l-- > 1;) {
    Level& level = levels_[l];
    if (!level.coarsens || from[l].all_rows() < tried.rows || from[l].own.a.row_block < tried.row_block ||
        from.front().all_rows() < tried.first_rows) {
      continue;
    }
    LevelTrial<T, S> trial(
        level.ctx, level.x.size(),
        [&](const Array<T, S>& x, Array<T, S>& y) { level.a->apply(level.ctx, T(1), x.cspan(), T(0), y.span()); },
        [&](Span<const T, S> b, Span<T, S> x) {
          copy<T>(level.ctx, b, level.b.span());
          correct(level.ctx, l);
          copy<T>(level.ctx, level.x.cspan(), x);
        });
    if (!trial.is_slow()) continue;
    const SmootherSteps steps = level.steps;
    solve_twice(from[l], level);
    if (trial.is_faster_now()) continue;
    level.steps = steps;
    level.again.reset();
  }
}

template <class T, Space S>
void RankCycle<T, S>::solve_twice(const RankLevel<S>& from, Level& level) const {
  level.steps = steps_of(from, level, options_.of<AmgOptions>().degree);
  level.again = std::make_unique<Again>();
  Again& again = *level.again;
  again.b = Array<T, S>(level.ctx, level.b.size());
  again.x = Array<T, S>(level.ctx, level.b.size());
  if (std::is_same_v<T, double>) return;
  again.exact = std::make_unique<LevelOperator<double, S>>(level.ctx, from, level.order);
  again.exact_r = Array<double, S>(level.ctx, level.b.size());
  again.exact_x = Array<double, S>(level.ctx, level.b.size());
}

// `values`: of the first level.
template <class T, Space S>
void RankCycle<T, S>::refresh_level(const RankLevel<S>& from, Level& level, Span<const T, S> values) {
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
  place_smoother(from, level);
}

template <class T, Space S>
void RankCycle<T, S>::refresh(const Context<S>& alone, Span<const T, S> values, const RankHierarchy<S>& hierarchy,
                              const AmgHierarchy<S>& below, bool prolongators) {
  if (finest_ != nullptr) finest_->refresh(levels_.front().ctx, values);
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    const RankLevel<S>& from = hierarchy.levels()[l];
    refresh_level(from, levels_[l], values);
    if (prolongators && levels_[l].coarsens) levels_[l].transfer.refresh(levels_[l].ctx, from.own);
  }
  if (below_) below_->refresh(alone, below, prolongators);
}

// x from b on level l, below the first.
template <class T, Space S>
void RankCycle<T, S>::correct(const Context<S>& ctx, std::size_t l) const {
  correct_level<T>(ctx, levels_[l], [&](Span<const T, S> b, Span<T, S> x) { descend(ctx, l, b, x); });
}

// d of level l, from its r.
template <class T, Space S>
void RankCycle<T, S>::correct_below(const Context<S>& ctx, std::size_t l) const {
  const Level& level = levels_[l];
  const bool gathered = l + 1 == levels_.size();
  level.transfer.restrict_to(ctx, level.r.data(), gathered ? below_->b().data : levels_[l + 1].b.data());
  if (gathered) return level.transfer.prolong(ctx, below_->apply(ctx).data, level.d.data());
  correct(ctx, l + 1);
  level.transfer.prolong(ctx, levels_[l + 1].x.data(), level.d.data());
}

template <class T, Space S>
template <class Last>
void RankCycle<T, S>::smooth(const Context<S>& ctx, std::size_t l, T* x, Last&& last) const {
  const Level& level = levels_[l];
  if (!level.coarsens) return smooth_further<T>(ctx, level, x, x, last);
  smooth_around(
      ctx, level, x, [&] { correct_below(ctx, l); }, last);
}

template <class T, Space S>
void RankCycle<T, S>::descend(const Context<S>& ctx, std::size_t l, Span<const T, S> b, Span<T, S> x) const {
  start_smoothing(ctx, levels_[l], b.data, x.data);
  smooth(ctx, l, x.data, [&](const AmgNextStep<T>& step) { sweep(ctx, x.size, step); });
}

// The first step reads b as it comes, and the last one writes x as it goes out, with b.x where that is wanted.
template <class T, Space S>
template <class V>
void RankCycle<T, S>::apply(const Context<S>& ctx, Span<const V, S> b, Span<V, S> x, double* bx) const {
  constexpr bool converts = !std::is_same_v<T, V>;
  const Level& level = levels_.front();
  Span<T, S> own;
  if constexpr (converts)
    own = own_x_.span();
  else
    own = x;
  if (!level.steps.next.empty()) {
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

template <class T, Space S>
std::string RankCycle<T, S>::smoother_text(const RankHierarchy<S>& hierarchy, const AmgHierarchy<S>& below) const {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    add(name_of(used_smoother(hierarchy.levels()[l].own.smoother, levels_[l].sparse.m != nullptr)));
  }
  if (below_ && below.levels().front().smoother_diagonal.size() > 0) add(below_->cycle().smoother_text(below));
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " and ") + name;
  return text;
}

template <class T, Space S>
std::string RankCycle<T, S>::cycles_text() const {
  std::string levels;
  for (std::size_t l = 1; l < levels_.size(); ++l) {
    if (levels_[l].again != nullptr) levels += (levels.empty() ? "" : " and ") + std::to_string(l + 1);
  }
  return levels.empty() ? "" : ", two cycles on level " + levels;
}

template <class T, Space S>
bool RankCycle<T, S>::capturable() const {
  return (!below_ || below_->cycle().capturable()) && std::all_of(levels_.begin(), levels_.end(), [](const Level& l) {
           return l.a->capturable() && (l.sparse.m == nullptr || l.sparse.m->capturable());
         });
}

template <class T, Space S>
OperatorInfo RankCycle<T, S>::info() const {
  OperatorInfo info;
  std::uint64_t matrices = finest_ == nullptr ? 0 : finest_->bytes(), prolongators = 0, smoothers = 0,
                vectors = own_b_.bytes() + own_x_.bytes();
  const auto add = [&](const OperatorInfo& part, std::uint64_t products) {
    info.nonzeros += part.nonzeros;
    info.stored_slots += part.stored_slots;
    info.bytes_per_product += products * part.bytes_per_product;
  };
  for (const Level& level : levels_) {
    // Vectors as in AmgCycle::bytes_per_cycle; the next level's cycles are counted once.
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
    vectors += level.r.bytes() + level.d.bytes() + level.z.bytes() + level.b.bytes() + level.x.bytes() +
               (level.again == nullptr ? 0 : level.again->bytes());
  }
  info.bytes = {
      {"matrices", matrices}, {"prolongators", prolongators}, {"smoothers", smoothers}, {"vectors", vectors}};
  if (below_) {
    std::uint64_t gathered = below_->vector_bytes();
    for (const auto& part : below_->cycle().bytes()) gathered += part.second;
    info.bytes.emplace_back(gathered_levels, gathered);
    const auto [nonzeros, slots] = below_->cycle().nonzeros_and_slots();
    info.nonzeros += nonzeros;
    info.stored_slots += slots;
    info.bytes_per_product += below_->cycle().bytes_per_cycle();
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
