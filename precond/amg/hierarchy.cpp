// SPDX-License-Identifier: Apache-2.0
// Level after level until the matrix is small enough to be inverted, or does not get smaller.
#include "precond/amg/cycle/hierarchy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/vectors/instantiate.hpp"
#include "core/memory/work_limit.hpp"
#include "precond/amg/smooth/amg_smoother.hpp"
#include "precond/amg/blocks/small_dense.hpp"

namespace newel::detail {
namespace {

constexpr int usual_coarse = 256;
// On a device the inverse of more rows takes less time than another level does, in the setup and in a cycle, and the
// iterations do not grow with the levels: part_wheelset of elasticity, refined once, takes 28 with three and 47 with
// four.
constexpr int definite_coarse = 1024;

// Of a singular matrix a pivot remains that the elimination's rounding has left, or that of the values, which is
// `epsilon`.
double pivot_tolerance(Index rows, double epsilon) {
  const double of_elimination = 16 * std::sqrt(static_cast<double>(rows)) * std::numeric_limits<double>::epsilon();
  return std::max(of_elimination, 8 * epsilon);
}

template <Space S>
void measure_spectrum(const Context<S>& ctx, AmgLevel<S>& level) {
  if (!level.measured) level.spectrum = largest_eigenvalue(ctx, level.a, AmgRules::lanczos_steps);
  level.measured = true;
}

}  // namespace

template <Space S>
AmgHierarchy<S>::AmgHierarchy(const Context<S>& ctx, BlockCsr<S> a, NearNull<S> near_null, const AmgOptions& options,
                              double epsilon, bool below_first)
    : max_coarse_(options.max_coarse > 0 ? options.max_coarse : usual_coarse),
      max_width_(options.max_width),
      below_first_(below_first),
      inverts_more_(options.max_coarse == 0 && S == Space::device),
      smoother_(options.smoother),
      epsilon_(epsilon) {
  levels_.emplace_back();
  levels_.back().a = std::move(a);
  PhaseClock clock;
  const NearNull<S>* now = &near_null;
  while (!small_enough(ctx, clock) && coarsen(ctx, *now, options, clock)) {
    now = &levels_[levels_.size() - 2].tentative.coarse;
  }
  finish(ctx, clock);
  seconds_ = clock.seconds();
}

// Whether the last matrix is to be inverted; if that needs a look at its values, it is inverted then.
template <Space S>
bool AmgHierarchy<S>::small_enough(const Context<S>& ctx, PhaseClock& clock) {
  const Index rows = levels_.back().a.scalar_rows();
  if (rows <= max_coarse_) return true;
  if constexpr (S == Space::device) {
    if (!inverts_more_ || rows > definite_coarse) return false;
    const auto null_vectors = invert_if_definite(ctx, levels_.back().a, pivot_tolerance(rows, epsilon_), inverse_);
    clock.end("coarsest inverse");
    if (!null_vectors) return false;
    null_vectors_ = *null_vectors;
    max_coarse_ = rows;
    inverted_ = true;
  }
  return rows <= max_coarse_;
}

// Adds a level, or says in the remark why not.
template <Space S>
bool AmgHierarchy<S>::coarsen(const Context<S>& ctx, const NearNull<S>& near_null, const AmgOptions& options,
                              PhaseClock& clock) {
  const WorkLimit& limit = work_limit(ctx);
  limit.check();
  AmgLevel<S>& level = levels_.back();
  Strength<S> strength = find_strength(ctx, level.a, options.theta);
  clock.end("strength");
  Aggregates<S> aggregates = aggregate(ctx, strength);
  clock.end("aggregates");
  if (aggregates.count == 0) {
    remark_ = nothing_strong_remark;
  } else if (aggregates.count * static_cast<double>(near_null.vectors) >
             AmgRules::least_coarsening * level.a.scalar_rows()) {
    remark_ = hardly_smaller_remark;
  } else if (levels_.size() == AmgRules::most_levels) {
    remark_ = "coarsening ended at the limit of " + std::to_string(AmgRules::most_levels) + " levels";
  }
  if (!remark_.empty()) return false;
  level.aggregates = std::move(aggregates);
  if (!strength.all_kept) level.kept = std::move(strength.kept);
  level.tentative = make_tentative(ctx, level.aggregates, level.a.row_block, near_null);
  limit.check();
  compute_prolongator(ctx, level);
  clock.end("prolongators");
  limit.check();
  BlockCsr<S> coarse;
  level.galerkin = GalerkinProduct<S>(ctx, level.a, level.p, coarse);
  clock.end("galerkin products");
  levels_.emplace_back();
  levels_.back().a = std::move(coarse);
  return true;
}

template <Space S>
void compute_prolongator(const Context<S>& ctx, AmgLevel<S>& level, double omega, Index width, bool keeps_pattern) {
  level.p.row_block = level.a.row_block;
  level.p.col_block = level.tentative.coarse.vectors;
  if constexpr (S == Space::host) {
    if (keeps_pattern) {
      smooth_prolongator(ctx, level.a, level.kept, omega, level.aggregates, level.tentative, level.p);
    } else {
      make_prolongator(ctx, level.a, level.kept, omega, level.aggregates, level.tentative, width, level.p);
    }
  } else {
    BlockCsr<S> filtered;
    if (level.kept.size() > 0) filtered = filter(ctx, level.a, level.kept);
    const BlockCsr<S>& a = level.kept.size() == 0 ? level.a : filtered;
    if (keeps_pattern) {
      smooth_prolongator(ctx, a, omega, level.aggregates, level.tentative, level.p);
    } else {
      make_prolongator(ctx, a, omega, level.aggregates, level.tentative, width, level.p);
    }
  }
}

// On the pattern that P has; without one, on that of the smoothed prolongator. The filtered matrix has the largest
// eigenvalue of A up to half a per cent, also on meshes with flat elements.
template <Space S>
void AmgHierarchy<S>::compute_prolongator(const Context<S>& ctx, AmgLevel<S>& level) {
  measure_spectrum(ctx, level);
  const double omega = level.spectrum.lambda > 0 ? AmgRules::damping / level.spectrum.lambda : 0;
  const bool first = !below_first_ && &level == &levels_.front();
  const Index width = first ? max_width_ : AmgRules::coarse_width * max_width_;
  detail::compute_prolongator(ctx, level, omega, width, !level.last());
}

// The smoothers, and the inverse of the last matrix.
template <Space S>
void AmgHierarchy<S>::finish(const Context<S>& ctx, PhaseClock& clock) {
  const BlockCsr<S>& coarsest = levels_.back().a;
  const bool invert = coarsest.scalar_rows() <= max_coarse_;
  for (AmgLevel<S>& level : levels_) {
    if (invert && &level == &levels_.back()) continue;
    work_limit(ctx).check();
    measure_spectrum(ctx, level);
    level.measured = false;
    level.lambda = std::min(AmgRules::eigenvalue_margin * level.spectrum.lambda, level.spectrum.bound);
    const bool first = !below_first_ && &level == &levels_.front();
    if (!decided_) level.smoother = choose_smoother(ctx, level.a, smoother_, first);
    scaled_inverse_diagonal(ctx, level.a, level.lambda, level.smoother_diagonal);
  }
  decided_ = true;
  clock.end("smoothers");
  if (!invert || std::exchange(inverted_, false)) return;
  null_vectors_ = invert_dense(ctx, coarsest, pivot_tolerance(coarsest.scalar_rows(), epsilon_), inverse_);
  clock.end("coarsest inverse");
}

template <Space S>
void AmgHierarchy<S>::refresh(const Context<S>& ctx, bool prolongators) {
  for (std::size_t l = 0; l + 1 < levels_.size(); ++l) {
    if (prolongators) compute_prolongator(ctx, levels_[l]);
    levels_[l].galerkin.compute(ctx, levels_[l].a, levels_[l].p, levels_[l + 1].a);
  }
  PhaseClock clock;
  finish(ctx, clock);
}

template <Space S>
void AmgHierarchy<S>::replace_near_null(const Context<S>& ctx, const NearNull<S>& near_null) {
  const NearNull<S>* now = &near_null;
  for (std::size_t l = 0; l + 1 < levels_.size(); ++l) {
    AmgLevel<S>& level = levels_[l];
    level.tentative = make_tentative(ctx, level.aggregates, level.a.row_block, *now);
    now = &level.tentative.coarse;
  }
}

template <Space S>
double operator_complexity(const std::vector<AmgLevel<S>>& levels) {
  double entries = 0;
  for (const AmgLevel<S>& level : levels) entries += static_cast<double>(level.a.val.size());
  const auto first = static_cast<double>(levels.front().a.val.size());
  return first == 0 ? 1 : entries / first;
}

template <Space S>
std::uint64_t AmgHierarchy<S>::bytes() const {
  std::uint64_t bytes = inverse_.size() * sizeof(double);
  for (const AmgLevel<S>& level : levels_) {
    bytes += level.a.bytes() + level.p.bytes() + level.galerkin.bytes() + level.kept.size() +
             sizeof(double) * (level.smoother_diagonal.size() + level.tentative.q.size()) +
             sizeof(Index) * level.aggregates.of_node.size();
  }
  return bytes;
}

#define X(S)                                                                               \
  template void compute_prolongator(const Context<S>&, AmgLevel<S>&, double, Index, bool); \
  template double operator_complexity(const std::vector<AmgLevel<S>>&);                    \
  template class AmgHierarchy<S>;
NEWEL_FOR_SPACES(X)
#undef X

}  // namespace newel::detail
