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
#include "distributed/rows/values_in_space.hpp"
#include "precond/amg/amg.hpp"
#include "precond/amg/cycle/single_rounding.hpp"
#include "spmv/plan/phase_clock.hpp"

namespace newel::detail {
namespace {

// A matrix and near-null vectors of the host in S.
template <Space S>
BlockCsr<S> in_space_of(const Context<S>& ctx, const HostBlockCsr& a) {
  BlockCsr<S> there;
  there.row_block = a.row_block;
  there.col_block = a.col_block;
  there.pattern.rows = a.pattern.rows;
  there.pattern.cols = a.pattern.cols;
  there.pattern.row_ptr = make_array(ctx, a.pattern.row_ptr.cspan());
  there.pattern.col = make_array(ctx, a.pattern.col.cspan());
  there.val = make_array(ctx, a.val.cspan());
  return there;
}

template <Space S>
StageArray<double, S> in_space_of(const Context<S>& ctx, const std::vector<double>& values) {
  if constexpr (S == Space::host) {
    static_cast<void>(ctx);
    return values;
  } else {
    return make_array(ctx, values);
  }
}

// Values of the caller in the order of the hierarchy, in double.
template <class T>
void place_values(const HostContext& ctx, Span<const T, Space::host> values, const ValueMap<Space::host>& source,
                  Span<double, Space::host> to) {
  if (to.size == 0) return;
  if constexpr (std::is_same_v<T, double>) {
    gather(ctx, values, source, to);
  } else {
    Array<T, Space::host> gathered(ctx, to.size);
    gather(ctx, values, source, gathered.span());
    convert(ctx, gathered.cspan(), to);
  }
}

// The scale of the nodes of the last level, and what the levels before it round: see `rounding_of_soft_vectors`.
double rounding_on_ranks(const HostContext& ctx, const RankHierarchy& hierarchy, FineScale<Space::host>& scale) {
  const std::vector<RankLevel>& levels = hierarchy.levels();
  scale = fine_scale(ctx, levels.front().own.a);
  double most = 0;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    if (l > 0 && l < hierarchy.smoothed_levels())
      most = std::max(most, largest_rounding(ctx, levels[l].own.a, scale));
    if (l + 1 == levels.size()) break;
    Aggregates<Space::host> own;  // without those of other ranks
    own.count = levels[l].own.aggregates.count;
    const auto& of_node = levels[l].own.aggregates.of_node;
    own.of_node.assign(of_node.begin(), of_node.begin() + levels[l].nodes());
    scale = coarse_scale(ctx, own, scale);
  }
  max_over_ranks(ctx, &most, 1);
  return most;
}

}  // namespace

template <class T, Space S>
RankAmg<T, S>::RankAmg(const Context<S>& ctx, const DistributedOperator<T, S>& A, const RankMatrix<T>& a,
                       const PrecondOptions& options, std::int64_t most_gathered)
    : rows_(A.rows()), options_(options), alone_(context_alone(ctx)) {
  PhaseClock clock;
  const HostContext& host = host_context(ctx);
  const AmgOptions& amg = options.of<AmgOptions>();
  if (amg.numbering == AmgNumbering::by_component) {
    throw RefusedAlike("AMG on ranks: the unknowns of a node must be adjacent, not numbered component by component");
  }
  RankNearNull near_null(host, a, amg);
  near_null_ = near_null.name;
  RankFirstLevel<T> first = make_rank_first_level(host, a, near_null.node_rows);
  source_ = std::move(first.source);
  require_diagonal_on_ranks(host, first.level);
  clock.end("matrix");
  clock.end("near-null vectors");
  hierarchy_ = RankHierarchy(host, std::move(first.level), std::move(near_null.vectors), amg, most_gathered,
                             S == Space::device);
  clock.end("hierarchy");
  if (hierarchy_.is_gathered()) {
    below_ = AmgHierarchy<S>(
        alone_, in_space_of(alone_, hierarchy_.gathered().matrix()),
        {hierarchy_.gathered().near_null().vectors, in_space_of(alone_, hierarchy_.gathered().near_null().values)},
        amg, static_cast<double>(std::numeric_limits<T>::epsilon()), true);
  }
  bool low = false;
  if constexpr (std::is_same_v<T, double>) low = single_suffices(ctx, a);
  if (low) {
    make_low_cycle(ctx, a);
  } else {
    cycle_.emplace(make_cycle<T>(ctx, RankFinest<T, S>{&A, nullptr, a}));
  }
  between_ = Array<T, S>(ctx, rows_);
  if constexpr (S == Space::device) capturable_ = ranks_of(ctx)->device->capturable();
  ctx.synchronize();
  clock.end("formats");
  seconds_ = clock.seconds();
}

template <class T, Space S>
template <class C>
RankCycle<C, S> RankAmg<T, S>::make_cycle(const Context<S>& ctx, RankFinest<C, S> finest) const {
  std::optional<GatheredCycle<C, S>> below;
  if (hierarchy_.is_gathered()) {
    const RankLevel& level = hierarchy_.levels().back();
    below.emplace(context_of_rows(ctx, level.first_rows()), alone_, level.first_rows(), below_,
                  options_.template of<AmgOptions>().degree, options_.symmetric);
  }
  return RankCycle<C, S>(ctx, std::move(finest), hierarchy_, options_, std::move(below));
}

template <class T, Space S>
void RankAmg<T, S>::make_low_cycle(const Context<S>& ctx, const RankMatrix<T>& a) {
  const std::vector<float> values(a.rows.val.begin(), a.rows.val.end());
  const RankRows<float> rows{a.rows.row_ptr, a.rows.col, Span<const float, Space::host>(values)};
  const RankMatrix<float> low{rows, a.first_rows, a.old_of_new, a.coordinates};
  RankFinest<float, S> finest{nullptr, nullptr, low};
  finest.own = std::make_unique<DistributedOperator<float, S>>(ctx, rows, a.first_rows, &a.old_of_new);
  finest.converts = true;
  low_cycle_.emplace(make_cycle<float>(ctx, std::move(finest)));
}

// Whether the cycle of a system in double is one in single precision: as AmgOperator judges it, of all ranks.
template <class T, Space S>
bool RankAmg<T, S>::single_suffices(const Context<S>& ctx, const RankMatrix<T>& a) {
  constexpr double least = 1e-15, most = 1e15;  // far from the range of single precision
  const AmgPrecision asked = options_.template of<AmgOptions>().precision;
  if (asked != AmgPrecision::automatic) return asked == AmgPrecision::single;
  const HostContext& host = host_context(ctx);
  double sums[] = {0, static_cast<double>(a.rows.val.size)};
  for (const T value : a.rows.val) sums[0] += static_cast<double>(value) * static_cast<double>(value);
  sum_over_ranks(host, sums, 2);
  const double usual = std::sqrt(sums[0] / std::max(1.0, sums[1]));
  if (!(usual > least && usual < most)) return false;
  constexpr double most_hidden = 0.02, rounding = 0.5 * std::numeric_limits<float>::epsilon();
  FineScale<Space::host> scale;
  double hidden = rounding_on_ranks(host, hierarchy_, scale);
  if (hierarchy_.is_gathered()) {
    FineScale<S> of_all{in_space_of(alone_, gather_values(host, scale.largest)),
                        in_space_of(alone_, gather_values(host, scale.nodes))};
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
  const HostContext& host = host_context(ctx);
  std::vector<T> here;
  place_values<T>(host, on_host(ctx, values, here), source_, hierarchy_.values());
  require_diagonal_on_ranks(host, hierarchy_.levels().front());
  const bool prolongators = scope == AmgRefresh::full;
  hierarchy_.refresh(host, prolongators);
  if (hierarchy_.is_gathered()) {
    copy<double>(alone_, hierarchy_.gathered().matrix().val.cspan(), below_.values());
    below_.refresh(alone_, prolongators);
  }
  if (cycle_) return cycle_->refresh(alone_, values, hierarchy_, below_, prolongators);
  if (low_values_.size() != values.size) low_values_ = Array<float, S>(ctx, values.size);
  convert(ctx, values, low_values_.span());
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
