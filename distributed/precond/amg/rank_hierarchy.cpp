// SPDX-License-Identifier: Apache-2.0
// Level after level on ranks, until one is small enough to be gathered.
#include "distributed/precond/amg/rank_hierarchy.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/memory/work_limit.hpp"
#include "core/vectors/instantiate.hpp"
#include "core/vectors/over_ranks.hpp"
#include "distributed/rows/halo.hpp"
#include "precond/amg/setup/strength.hpp"
#include "precond/amg/smooth/amg_smoother.hpp"

namespace newel::detail {
namespace {

// A level below the first that does not get smaller on ranks is gathered if it has no more than so many times the
// usual rows.
constexpr std::int64_t more_if_stuck = 16;

// The near-null vectors of the coarse nodes of this rank.
template <Space S>
NearNull<S> coarse_near_null(const Context<S>& ctx, const RankLevel<S>& level) {
  const NearNull<S>& all = level.own.tentative.coarse;
  const int k = all.vectors;
  return {k, first_of(ctx, span_of(all.values), Offset{level.own.aggregates.count} * k * k)};
}

// Why the last level gets no other with so many aggregates; empty: it does.
template <Space S>
std::string reason_to_end(const std::vector<RankLevel<S>>& levels, double aggregates, int vectors) {
  if (aggregates == 0) return nothing_strong_remark;
  if (aggregates * vectors > AmgRules::least_coarsening * static_cast<double>(levels.back().all_rows())) {
    return hardly_smaller_remark;
  }
  if (levels.size() < AmgRules::most_levels) return {};
  return "coarsening ended at the limit of " + std::to_string(AmgRules::most_levels) + " levels";
}

// The ghosts after this rank's nodes, each an aggregate of its own with its near-null vectors as they are.
template <Space S>
void add_ghosts(const Context<S>& ctx, RankLevel<S>& level, const NearNull<S>& near_null) {
  AmgLevel<S>& own = level.own;
  const int k = near_null.vectors, node_values = own.a.row_block * k;
  const Index ghosts = level.ghosts.count();
  StageArray<double, S> known = vectors_in_aggregates(ctx, own.aggregates, own.a.row_block, near_null);
  level.ghosts.append(ctx, node_values, known);
  append(ctx, own.tentative.q, Span<const double, S>(last_of(span_of(known), Offset{ghosts} * node_values)));
  std::vector<Index> numbers(static_cast<std::size_t>(ghosts));
  std::iota(numbers.begin(), numbers.end(), own.aggregates.count);
  append(ctx, own.aggregates.of_node, Span<const Index, Space::host>(numbers));
  own.aggregates.others = ghosts;
  std::vector<double> as_they_are(static_cast<std::size_t>(ghosts) * k * k);
  for (std::size_t e = 0; e < as_they_are.size(); ++e) as_they_are[e] = e % (k * k) % (k + 1) == 0 ? 1 : 0;
  append(ctx, own.tentative.coarse.values, Span<const double, Space::host>(as_they_are));
}

template <Space S>
void measure_spectrum(const Context<S>& ctx, RankLevel<S>& level) {
  AmgLevel<S>& own = level.own;
  if (own.measured) return;
  const Context<S> of_level = context_of_rows(ctx, level.first_rows());
  own.spectrum = largest_eigenvalue(of_level, own.a, AmgRules::lanczos_steps,
                                    [&](StageArray<double, S>& x) { level.fill_ghosts(ctx, x); });
  own.measured = true;
}

template <Space S>
LevelFigures figures_of(const Context<S>& ctx, const std::vector<RankLevel<S>>& levels) {
  LevelFigures figures;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const AmgLevel<S>& own = levels[l].own;
    double sums[] = {static_cast<double>(own.a.val.size()), static_cast<double>(own.aggregates.count),
                     static_cast<double>(own.p.val.size())};
    sum_over_ranks(ctx, sums, 3);
    figures.push_back({{"rows", static_cast<double>(levels[l].all_rows())}, {"entries", sums[0]}});
    if (l + 1 == levels.size()) continue;
    figures.back().insert(figures.back().end(), {{"vectors", static_cast<double>(own.tentative.coarse.vectors)},
                                                 {"aggregates", sums[1]},
                                                 {"entries of P", sums[2]}});
  }
  return figures;
}

}  // namespace

template <Space S>
RankHierarchy<S>::RankHierarchy(const Context<S>& ctx, RankLevel<S> first, NearNull<S> near_null,
                                const AmgOptions& options, std::int64_t most_gathered)
    : options_(options) {
  PhaseClock clock;
  levels_.push_back(std::move(first));
  const auto is_small = [&](std::int64_t most) { return levels_.back().all_rows() <= most; };
  while ((levels_.size() == 1 || !is_small(most_gathered)) && coarsen(ctx, near_null, clock)) {
    near_null = coarse_near_null(ctx, levels_[levels_.size() - 2]);
  }
  is_gathered_ = levels_.size() > 1 && is_small(remark_.empty() ? most_gathered : more_if_stuck * most_gathered);
  if (is_gathered_) {
    remark_.clear();
    gathered_ = GatheredLevel<S>(ctx, levels_.back(), near_null, S == Space::device);
    clock.end("gathered level");
  }
  finish(ctx, clock);
  figures_ = figures_of(ctx, levels_);
  seconds_ = clock.seconds();
}

// Adds a level, or says in the remark why not.
template <Space S>
bool RankHierarchy<S>::coarsen(const Context<S>& ctx, const NearNull<S>& near_null, PhaseClock& clock) {
  work_limit(ctx).check();
  RankLevel<S>& level = levels_.back();
  AmgLevel<S>& own = level.own;
  StageArray<double, S> diagonal = diagonal_norms(ctx, own.a);
  level.ghosts.append(ctx, 1, diagonal);
  Strength<S> strength = find_strength(ctx, own.a, options_.theta, diagonal);
  clock.end("strength");
  Aggregates<S> aggregates = aggregate(ctx, strength);
  clock.end("aggregates");
  auto count = static_cast<double>(aggregates.count);
  sum_over_ranks(ctx, &count, 1);
  remark_ = reason_to_end(levels_, count, near_null.vectors);
  if (!remark_.empty()) return false;
  own.aggregates = std::move(aggregates);
  if (!strength.all_kept) own.kept = std::move(strength.kept);
  own.tentative = make_tentative(ctx, own.aggregates, own.a.row_block, near_null);
  add_ghosts(ctx, level, near_null);
  clock.end("near-null vectors of ghosts");
  measure_spectrum(ctx, level);
  clock.end("eigenvalues");
  compute_prolongator(ctx, level, false);
  clock.end("prolongators");
  work_limit(ctx).check();
  std::vector<std::int64_t> first_coarse = first_rows(*ranks_of(ctx)->communicator, own.aggregates.count);
  level.p_rows = ColumnRows<S>(ctx, level.ghosts, own.p, first_coarse);
  clock.end("rows of other ranks");
  BlockCsr<S> coarse;
  own.galerkin = GalerkinProduct<S>(ctx, own.a, own.p, level.p_rows.rows(), coarse);
  std::vector<std::int64_t> ghosts = level.p_rows.coarse_ghosts();
  levels_.emplace_back(ctx, std::move(first_coarse), std::move(coarse), std::move(ghosts));
  clock.end("galerkin products");
  return true;
}

template <Space S>
void RankHierarchy<S>::compute_prolongator(const Context<S>& ctx, RankLevel<S>& level, bool keeps_pattern) const {
  measure_spectrum(ctx, level);
  AmgLevel<S>& own = level.own;
  const double omega = own.spectrum.lambda > 0 ? AmgRules::damping / own.spectrum.lambda : 0;
  const Index width = (&level == &levels_.front() ? 1 : AmgRules::coarse_width) * options_.max_width;
  detail::compute_prolongator(ctx, own, omega, width, keeps_pattern);
}

// The smoothers of levels on ranks.
template <Space S>
void RankHierarchy<S>::finish(const Context<S>& ctx, PhaseClock& clock) {
  for (std::size_t l = 0; l < smoothed_levels(); ++l) {
    work_limit(ctx).check();
    AmgLevel<S>& own = levels_[l].own;
    measure_spectrum(ctx, levels_[l]);
    clock.end("eigenvalues");
    own.measured = false;
    own.lambda = std::min(AmgRules::eigenvalue_margin * own.spectrum.lambda, own.spectrum.bound);
    if (!decided_) own.smoother = choose_smoother(ctx, own.a, options_.smoother, l == 0);
    scaled_inverse_diagonal(ctx, own.a, own.lambda, own.smoother_diagonal);
  }
  decided_ = true;
  clock.end("smoothers");
}

template <Space S>
void RankHierarchy<S>::refresh(const Context<S>& ctx, bool prolongators) {
  for (std::size_t l = 0; l + 1 < levels_.size(); ++l) {
    RankLevel<S>& level = levels_[l];
    if (prolongators) {
      compute_prolongator(ctx, level, true);
      level.p_rows.refresh(ctx, level.own.p);
    }
    level.own.galerkin.compute(ctx, level.own.a, level.own.p, level.p_rows.rows(), levels_[l + 1].own.a);
  }
  if (is_gathered_) gathered_.refresh(ctx, levels_.back());
  PhaseClock clock;
  finish(ctx, clock);
}

template <Space S>
std::uint64_t RankHierarchy<S>::bytes() const {
  std::uint64_t bytes = 0;
  for (const RankLevel<S>& level : levels_) {
    const AmgLevel<S>& own = level.own;
    bytes += own.a.bytes() + own.p.bytes() + own.galerkin.bytes() + level.p_rows.bytes() + own.kept.size() +
             level.ghosts.bytes() + level.ghost_rows->bytes() +
             sizeof(double) * (own.smoother_diagonal.size() + own.tentative.q.size()) +
             sizeof(Index) * own.aggregates.of_node.size();
  }
  return bytes;
}

#define X(S) template class RankHierarchy<S>;
NEWEL_FOR_SPACES(X)
#undef X

}  // namespace newel::detail
