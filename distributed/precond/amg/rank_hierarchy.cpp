// SPDX-License-Identifier: Apache-2.0
// Level after level on ranks, until one is small enough to be gathered.
#include "distributed/precond/amg/rank_hierarchy.hpp"

#include <algorithm>
#include <cmath>

#include "core/memory/work_limit.hpp"
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
NearNull<Space::host> coarse_near_null(const RankLevel& level) {
  const Tentative<Space::host>& tentative = level.own.tentative;
  const int k = tentative.coarse.vectors;
  const auto own = tentative.coarse.values.begin();
  return {k, {own, own + static_cast<std::ptrdiff_t>(level.own.aggregates.count) * k * k}};
}

}  // namespace

RankHierarchy::RankHierarchy(const HostContext& ctx, RankLevel first, NearNull<Space::host> near_null,
                             const AmgOptions& options, std::int64_t most_gathered, bool symmetric_pattern)
    : options_(options) {
  PhaseClock clock;
  levels_.push_back(std::move(first));
  const auto is_small = [&](std::int64_t most) { return levels_.back().all_rows() <= most; };
  while ((levels_.size() == 1 || !is_small(most_gathered)) && coarsen(ctx, near_null, clock)) {
    near_null = coarse_near_null(levels_[levels_.size() - 2]);
  }
  is_gathered_ = levels_.size() > 1 && is_small(remark_.empty() ? most_gathered : more_if_stuck * most_gathered);
  if (is_gathered_) {
    remark_.clear();
    gathered_ = GatheredLevel(ctx, levels_.back(), near_null, symmetric_pattern);
    clock.end("gathered level");
  }
  finish(ctx, clock);
  describe(ctx);
  seconds_ = clock.seconds();
}

bool RankHierarchy::is_worth_it(const RankLevel& level, double aggregates, int vectors) {
  if (aggregates == 0) {
    remark_ = nothing_strong_remark;
  } else if (aggregates * vectors > AmgRules::least_coarsening * static_cast<double>(level.all_rows())) {
    remark_ = hardly_smaller_remark;
  } else if (levels_.size() == AmgRules::most_levels) {
    remark_ = "coarsening ended at the limit of " + std::to_string(AmgRules::most_levels) + " levels";
  }
  return remark_.empty();
}

// Adds a level, or says in the remark why not.
bool RankHierarchy::coarsen(const HostContext& ctx, const NearNull<Space::host>& near_null, PhaseClock& clock) {
  work_limit(ctx).check();
  RankLevel& level = levels_.back();
  AmgLevel<Space::host>& own = level.own;
  std::vector<double> diagonal = diagonal_norms(ctx, own.a);
  level.ghosts.append(ctx, 1, diagonal);
  Strength<Space::host> strength = find_strength(ctx, own.a, options_.theta, diagonal);
  clock.end("strength");
  Aggregates<Space::host> aggregates = aggregate(ctx, strength);
  clock.end("aggregates");
  auto count = static_cast<double>(aggregates.count);
  sum_over_ranks(ctx, &count, 1);
  if (!is_worth_it(level, count, near_null.vectors)) return false;
  own.aggregates = std::move(aggregates);
  if (!strength.all_kept) own.kept = std::move(strength.kept);
  own.tentative = make_tentative(ctx, own.aggregates, own.a.row_block, near_null);
  add_ghosts(ctx, level, near_null);
  compute_prolongator(ctx, level, true);
  clock.end("prolongators");
  work_limit(ctx).check();
  std::vector<std::int64_t> first_coarse = first_rows(*ctx.ranks()->communicator, own.aggregates.count);
  level.p_rows = ColumnRows(ctx, level.ghosts, own.p, first_coarse);
  HostBlockCsr coarse;
  own.galerkin = GalerkinProduct<Space::host>(ctx, own.a, own.p, level.p_rows.rows(), coarse);
  std::vector<std::int64_t> ghosts = level.p_rows.coarse_ghosts();
  levels_.emplace_back(ctx, std::move(first_coarse), std::move(coarse), std::move(ghosts));
  clock.end("galerkin products");
  return true;
}

// The ghosts after this rank's nodes, each an aggregate of its own with its near-null vectors as they are.
void RankHierarchy::add_ghosts(const HostContext& ctx, RankLevel& level,
                               const NearNull<Space::host>& near_null) const {
  AmgLevel<Space::host>& own = level.own;
  const int k = near_null.vectors, node_values = own.a.row_block * k;
  std::vector<double> known = near_null.values;  // 0 in nodes that are left out
  for (std::size_t i = 0; i < own.aggregates.of_node.size(); ++i) {
    if (own.aggregates.of_node[i] < 0)
      std::fill_n(known.begin() + static_cast<std::ptrdiff_t>(i) * node_values, node_values, 0.0);
  }
  const auto before = static_cast<std::ptrdiff_t>(known.size());
  level.ghosts.append(ctx, node_values, known);
  own.tentative.q.insert(own.tentative.q.end(), known.begin() + before, known.end());
  own.aggregates.others = level.ghosts.count();
  for (Index g = 0; g < level.ghosts.count(); ++g) {
    own.aggregates.of_node.push_back(own.aggregates.count + g);
    for (int e = 0; e < k * k; ++e) own.tentative.coarse.values.push_back(e % (k + 1) == 0 ? 1 : 0);
  }
}

void RankHierarchy::measure_spectrum(const HostContext& ctx, RankLevel& level) const {
  AmgLevel<Space::host>& own = level.own;
  if (own.measured) return;
  const HostContext of_level = context_of_rows(ctx, level.first_rows());
  own.spectrum = largest_eigenvalue(of_level, own.a, AmgRules::lanczos_steps,
                                    [&](std::vector<double>& x) { level.fill_ghosts(x); });
  own.measured = true;
}

// With `pattern` that of P too.
void RankHierarchy::compute_prolongator(const HostContext& ctx, RankLevel& level, bool pattern) const {
  measure_spectrum(ctx, level);
  AmgLevel<Space::host>& own = level.own;
  const double omega = own.spectrum.lambda > 0 ? AmgRules::damping / own.spectrum.lambda : 0;
  const Index width = (&level == &levels_.front() ? 1 : AmgRules::coarse_width) * options_.max_width;
  own.p.row_block = own.a.row_block;
  own.p.col_block = own.tentative.coarse.vectors;
  if (pattern) {
    make_prolongator(ctx, own.a, own.kept, omega, own.aggregates, own.tentative, width, own.p);
  } else {
    smooth_prolongator(ctx, own.a, own.kept, omega, own.aggregates, own.tentative, own.p);
  }
}

// The smoothers of levels on ranks.
void RankHierarchy::finish(const HostContext& ctx, PhaseClock& clock) {
  for (std::size_t l = 0; l < smoothed_levels(); ++l) {
    work_limit(ctx).check();
    AmgLevel<Space::host>& own = levels_[l].own;
    measure_spectrum(ctx, levels_[l]);
    own.measured = false;
    own.lambda = std::min(AmgRules::eigenvalue_margin * own.spectrum.lambda, own.spectrum.bound);
    if (!decided_) own.smoother = choose_smoother(ctx, own.a, options_.smoother, l == 0);
    scaled_inverse_diagonal(ctx, own.a, own.lambda, own.smoother_diagonal);
  }
  decided_ = true;
  clock.end("smoothers");
}

void RankHierarchy::refresh(const HostContext& ctx, bool prolongators) {
  for (std::size_t l = 0; l + 1 < levels_.size(); ++l) {
    RankLevel& level = levels_[l];
    if (prolongators) {
      compute_prolongator(ctx, level, false);
      level.p_rows.refresh(level.own.p);
    }
    level.own.galerkin.compute(ctx, level.own.a, level.own.p, level.p_rows.rows(), levels_[l + 1].own.a);
  }
  if (is_gathered_) gathered_.refresh(levels_.back());
  PhaseClock clock;
  finish(ctx, clock);
}

void RankHierarchy::describe(const HostContext& ctx) {
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    const AmgLevel<Space::host>& own = levels_[l].own;
    double sums[] = {static_cast<double>(own.a.val.size()), static_cast<double>(own.aggregates.count),
                     static_cast<double>(own.p.val.size())};
    sum_over_ranks(ctx, sums, 3);
    figures_.push_back({{"rows", static_cast<double>(levels_[l].all_rows())}, {"entries", sums[0]}});
    if (l + 1 == levels_.size()) continue;
    figures_.back().insert(figures_.back().end(), {{"vectors", static_cast<double>(own.tentative.coarse.vectors)},
                                                   {"aggregates", sums[1]},
                                                   {"entries of P", sums[2]}});
  }
}

std::uint64_t RankHierarchy::bytes() const {
  std::uint64_t bytes = 0;
  for (const RankLevel& level : levels_) {
    const AmgLevel<Space::host>& own = level.own;
    bytes += own.a.bytes() + own.p.bytes() + own.galerkin.bytes() + level.p_rows.bytes() + own.kept.size() +
             level.ghosts.bytes() + level.ghost_rows->bytes() +
             sizeof(double) * (own.smoother_diagonal.size() + own.tentative.q.size()) +
             sizeof(Index) * own.aggregates.of_node.size();
  }
  return bytes;
}

}  // namespace newel::detail
