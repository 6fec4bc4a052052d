// SPDX-License-Identifier: Apache-2.0
// AMG on ranks: what the hierarchy is made from, its refresh, and reports.
#include "distributed/precond/amg/rank_amg.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include <newel/core/vector_ops.hpp>
#include "core/ranks/device_ranks.hpp"
#include "core/vectors/instantiate.hpp"
#include "core/vectors/over_ranks.hpp"
#include "distributed/precond/amg/rank_near_null.hpp"
#include "distributed/precond/amg/whole_precond.hpp"
#include "distributed/precond/rank_refusal.hpp"
#include "precond/amg/amg.hpp"
#include "precond/amg/cycle/single_rounding.hpp"
#include "spmv/plan/phase_clock.hpp"

namespace newel::detail {
namespace {

// Values of the caller in the order of the hierarchy, in double.
template <class T, Space S>
void place_values(const Context<S>& ctx, Span<const T, S> values, const ValueMap<S>& source, Span<double, S> to) {
  if (to.size == 0) return;
  if constexpr (std::is_same_v<T, double>) {
    gather(ctx, values, source, to);
  } else {
    Array<T, S> gathered(ctx, to.size);
    gather(ctx, values, source, gathered.span());
    convert(ctx, gathered.cspan(), to);
  }
}

// The scale of the nodes of the last level, and what the levels before it round: see `rounding_of_soft_vectors`.
template <Space S>
double rounding_on_ranks(const Context<S>& ctx, const RankHierarchy<S>& hierarchy, FineScale<S>& scale) {
  const std::vector<RankLevel<S>>& levels = hierarchy.levels();
  scale = fine_scale(ctx, levels.front().own.a);
  double most = 0;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    if (l > 0 && l < hierarchy.smoothed_levels())
      most = std::max(most, largest_rounding(ctx, levels[l].own.a, scale));
    if (l + 1 == levels.size()) break;
    const Aggregates<S>& all = levels[l].own.aggregates;
    Aggregates<S> own;  // without those of other ranks
    own.count = all.count;
    own.of_node = first_of(ctx, span_of(all.of_node), levels[l].nodes());
    scale = coarse_scale(ctx, own, scale);
  }
  max_over_ranks(ctx, &most, 1);
  return most;
}

template <class T, Space S>
LevelOrder<S> order_of(const Context<S>& ctx, const DistributedOperator<T, S>& A) {
  return {make_array(ctx, A.order().old_of_new.cspan()), make_array(ctx, A.order().new_of_old.cspan())};
}

// The values of all ranks.
template <Space S>
StageArray<double, S> gathered(const Context<S>& ctx, const StageArray<double, S>& own) {
  return staged(ctx, gather_values(host_context(ctx), to_vector(ctx, span_of(own))));
}

}  // namespace

template <class T, Space S>
RankAmg<T, S>::RankAmg(const Context<S>& ctx, const DistributedOperator<T, S>& A, const RankMatrix<T>& a,
                       const PrecondOptions& options, std::int64_t most_gathered)
    : rows_(A.rows()), options_(options), setup_(context_for_setup(ctx)), alone_(context_alone(ctx)) {
  PhaseClock clock;
  const AmgOptions& amg = options.of<AmgOptions>();
  if (amg.numbering == AmgNumbering::by_component) {
    throw RefusedAlike("AMG on ranks: the unknowns of a node must be adjacent, not numbered component by component");
  }
  RankNearNull<S> near_null(setup_, a, amg);
  near_null_ = near_null.name;
  clock.end("near-null vectors");
  RankFirstLevel<S> first = make_rank_first_level(setup_, a, near_null.node_rows);
  source_ = std::move(first.source);
  require_diagonal_on_ranks(setup_, first.level);
  clock.end("matrix");
  hierarchy_ = RankHierarchy<S>(setup_, std::move(first.level), std::move(near_null.vectors), amg, most_gathered);
  for (const auto& phase : hierarchy_.seconds()) seconds_.push_back(phase);
  PhaseClock rest;
  if (hierarchy_.is_gathered()) {
    const NearNull<S>& of_gathered = hierarchy_.gathered().near_null();
    below_ =
        AmgHierarchy<S>(alone_, copy_of(alone_, hierarchy_.gathered().matrix()),
                        {of_gathered.vectors, staged(alone_, Span<const double, S>(span_of(of_gathered.values)))},
                        amg, static_cast<double>(std::numeric_limits<T>::epsilon()), true);
    rest.end("levels below");
  }
  bool low = false;
  if constexpr (std::is_same_v<T, double>) low = single_suffices();
  rest.end("precision");
  if (low) {
    make_low_cycle(ctx, A, a, rest);
  } else {
    cycle_.emplace(make_cycle<T>(ctx, RankFinest<T, S>{&A, nullptr, a, order_of(ctx, A)}, rest));
  }
  between_ = Array<T, S>(ctx, rows_);
  if constexpr (S == Space::device) capturable_ = ranks_of(ctx)->device->capturable();
  ctx.synchronize();
  rest.end("formats");
  seconds_.insert(seconds_.begin(), clock.seconds().begin(), clock.seconds().end());
  seconds_.insert(seconds_.end(), rest.seconds().begin(), rest.seconds().end());
}

template <class T, Space S>
template <class C>
RankCycle<C, S> RankAmg<T, S>::make_cycle(const Context<S>& ctx, RankFinest<C, S> finest, PhaseClock& clock) const {
  std::optional<GatheredCycle<C, S>> below;
  if (hierarchy_.is_gathered()) {
    const RankLevel<S>& level = hierarchy_.levels().back();
    below.emplace(context_of_rows(ctx, level.first_rows()), alone_, level.first_rows(), below_,
                  options_.template of<AmgOptions>().degree, options_.symmetric);
    clock.end("gathered cycle");
  }
  return RankCycle<C, S>(ctx, std::move(finest), hierarchy_, options_, std::move(below), clock);
}

template <class T, Space S>
void RankAmg<T, S>::make_low_cycle(const Context<S>& ctx, const DistributedOperator<T, S>& A, const RankMatrix<T>& a,
                                   PhaseClock& clock) {
  std::unique_ptr<DistributedOperator<float, S>> own;
  if constexpr (std::is_same_v<T, double>) {
    if (auto rows = in_precision<float>(ctx, a.first_rows, A.stored())) {
      own = std::make_unique<DistributedOperator<float, S>>(std::move(*rows));
    }
  }
  clock.end("finest matrix");
  std::vector<float> values;
  if (is_sparse(hierarchy_.levels().front().own.smoother)) values.assign(a.rows.val.begin(), a.rows.val.end());
  const RankRows<float> rows{a.rows.row_ptr, a.rows.col, Span<const float, Space::host>(values)};
  const RankMatrix<float> low{rows, a.first_rows, a.old_of_new, a.coordinates};
  low_cycle_.emplace(
      make_cycle<float>(ctx, RankFinest<float, S>{nullptr, std::move(own), low, order_of(ctx, A), true}, clock));
}

// Whether the cycle of a system in double is one in single precision: as AmgOperator judges it, of all ranks.
template <class T, Space S>
bool RankAmg<T, S>::single_suffices() {
  constexpr double least = 1e-15, most = 1e15;  // far from the range of single precision
  const AmgPrecision asked = options_.template of<AmgOptions>().precision;
  if (asked != AmgPrecision::automatic) return asked == AmgPrecision::single;
  const HostContext& host = host_context(setup_);
  const Span<const double, S> values = hierarchy_.values();
  Array<double, S> norm(alone_, 1);
  norm2<double, S>(alone_, values, norm.data());
  const double own = fetch<double, S>(alone_, norm.data());
  double sums[] = {own * own, static_cast<double>(values.size)};
  sum_over_ranks(host, sums, 2);
  const double usual = std::sqrt(sums[0] / std::max(1.0, sums[1]));
  if (!(usual > least && usual < most)) return false;
  constexpr double most_hidden = 0.02, rounding = 0.5 * std::numeric_limits<float>::epsilon();
  FineScale<S> scale;
  double hidden = rounding_on_ranks(setup_, hierarchy_, scale);
  if (hierarchy_.is_gathered()) {
    FineScale<S> of_all{gathered(setup_, scale.largest), gathered(setup_, scale.nodes)};
    double below = rounding_of_soft_vectors(alone_, below_, std::move(of_all));
    max_over_ranks(host, &below, 1);
    hidden = std::max(hidden, below);
  }
  contrast_ = !(rounding * hidden <= most_hidden);
  return !contrast_;
}

template <class T, Space S>
void RankAmg<T, S>::refresh(const Context<S>& ctx, Span<const T, S> values) {
  const AmgRefresh scope = options_.template of<AmgOptions>().refresh;
  if (scope == AmgRefresh::keep) return;
  place_values<T, S>(setup_, values, source_, hierarchy_.values());
  require_diagonal_on_ranks(setup_, hierarchy_.levels().front());
  const bool prolongators = scope == AmgRefresh::full;
  hierarchy_.refresh(setup_, prolongators);
  if (hierarchy_.is_gathered()) {
    copy<double>(alone_, hierarchy_.gathered().matrix().val.cspan(), below_.values());
    below_.refresh(alone_, prolongators);
  }
  if (cycle_) return cycle_->refresh(alone_, values, hierarchy_, below_, prolongators);
  if (low_cycle_->reads_values()) {
    if (low_values_.size() != values.size) low_values_ = Array<float, S>(ctx, values.size);
    convert(ctx, values, low_values_.span());
  }
  low_cycle_->refresh(alone_, low_values_.cspan(), hierarchy_, below_, prolongators);
}

template <class T, Space S>
void RankAmg<T, S>::apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const {
  const bool plain = alpha == T(1) && beta == T(0);
  const Span<T, S> to = plain ? y : between_.span();
  with_cycle([&](const auto& cycle) { cycle.apply(ctx, x, to, nullptr); });
  if (!plain) axpby(ctx, alpha, between_.cspan(), beta, y);
}

template <class T, Space S>
void RankAmg<T, S>::apply_dot(const Context<S>& ctx, Span<const T, S> x, Span<T, S> y, double* xy) const {
  with_cycle([&](const auto& cycle) { cycle.apply(ctx, x, y, xy); });
}

template <class T, Space S>
OperatorTraits<T, S> RankAmg<T, S>::traits() const {
  return {capturable_ && with_cycle([](const auto& cycle) { return cycle.capturable(); }), true};
}

template <class T, Space S>
OperatorInfo RankAmg<T, S>::info() const {
  OperatorInfo info = with_cycle([](const auto& cycle) { return cycle.info(); });
  info.name = "amg";
  info.detail = with_cycle([&](const auto& cycle) { return cycle.smoother_text(hierarchy_, below_); });
  info.detail +=
      " of degree " + std::to_string(options_.template of<AmgOptions>().degree) + ", " + near_null_ + ", on ranks";
  if (low_cycle_) info.detail += single_remark;
  if (contrast_) info.detail += contrast_remark;
  info.detail += with_cycle([](const auto& cycle) { return cycle.cycles_text(); });
  if (!hierarchy_.remark().empty()) info.detail += "; " + hierarchy_.remark();
  if (!below_.remark().empty()) info.detail += "; " + below_.remark();
  info.rows = info.cols = rows_;
  info.levels = hierarchy_.figures();
  for (std::size_t l = 1; l < below_.levels().size(); ++l) {
    const BlockCsr<S>& a = below_.levels()[l].a;
    info.levels.push_back(
        {{"rows", static_cast<double>(a.scalar_rows())}, {"entries", static_cast<double>(a.val.size())}});
  }
  double entries = 0;
  for (const auto& figures : info.levels) entries += figures[1].second;
  info.figures = {{"levels", static_cast<double>(info.levels.size())},
                  {"operator complexity", entries == 0 ? 1 : entries / info.levels.front()[1].second}};
  info.bytes.emplace_back("intermediate vectors", between_.bytes());
  info.bytes.emplace_back("hierarchy for refreshes", hierarchy_.bytes() + source_.bytes() + low_values_.bytes());
  for (auto& [part, bytes] : info.bytes) {
    if (part == gathered_levels) bytes += hierarchy_.gathered().bytes() + below_.bytes();
  }
  info.setup_seconds = seconds_;
  return info;
}

template <class T, Space S>
OperatorPtr<T, S> make_amg_on_ranks(const Context<S>& ctx, const DistributedOperator<T, S>& A, const RankMatrix<T>& a,
                                    const PrecondOptions& options) {
  if (a.first_rows.size() == 2 || a.first_rows.back() <= gathered_rows) {
    return std::make_unique<WholePrecond<T, S>>(ctx, A, a, options);
  }
  return std::make_unique<RankAmg<T, S>>(ctx, A, a, options);
}

#define X(T, S)                                                                                     \
  template class RankAmg<T, S>;                                                                     \
  template OperatorPtr<T, S> make_amg_on_ranks(const Context<S>&, const DistributedOperator<T, S>&, \
                                               const RankMatrix<T>&, const PrecondOptions&);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
