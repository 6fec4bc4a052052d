// SPDX-License-Identifier: Apache-2.0
/// RankHierarchy: the levels of multigrid for a matrix whose rows are distributed over ranks. Internal.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "distributed/precond/amg/gathered_level.hpp"
#include "distributed/precond/amg/rank_level.hpp"

namespace newel::detail {

/// A level with at most this many rows, of all ranks, is gathered on each of them, which then work on it and on the
/// levels below as one rank does: a product with it takes little more than an exchange with another rank. With 500,
/// 1,000, 4,000 and 16,000 rows CG took 9, 9, 9 and 8 iterations on 8 ranks for generate:grid7:40, and setups took
/// 0.14, 0.13, 0.17 and 0.58 s (threads on two processors). For generate:elasticity:20 it took 18, 17, 20 and 20, and
/// 18 on one rank.
inline constexpr std::int64_t gathered_rows = 4000;

/// What reports say of each level.
using LevelFigures = std::vector<std::vector<std::pair<std::string, double>>>;

/// In double, in the space of the system. Aggregates lie within a rank, and prolongators are smoothed within it: what
/// the rows of other ranks would add to a row of P goes to the aggregates that the row has, by the smallest change
/// that leaves P R as it would be (see `smooth_prolongator`). Galerkin products take the rows of P of the other
/// ranks. All ranks make theirs together, and refresh together, with a context for setups (`context_for_setup`).
template <Space S>
class RankHierarchy {
 public:
  RankHierarchy() = default;
  /// `near_null`: of this rank's rows. A level of at most `most_gathered` rows below the first is gathered.
  RankHierarchy(const Context<S>& ctx, RankLevel<S> first, NearNull<S> near_null, const AmgOptions& options,
                std::int64_t most_gathered);

  /// As AmgHierarchy::refresh.
  void refresh(const Context<S>& ctx, bool prolongators);

  /// All levels. The last one is gathered if there is a gathered one; else a smoother ends the cycle.
  const std::vector<RankLevel<S>>& levels() const { return levels_; }
  /// How many levels have smoothers on ranks.
  std::size_t smoothed_levels() const { return levels_.size() - (is_gathered_ ? 1 : 0); }
  bool is_gathered() const { return is_gathered_; }
  const GatheredLevel<S>& gathered() const { return gathered_; }
  /// The values of the first level's matrix, to be replaced before a refresh.
  Span<double, S> values() { return levels_.front().own.a.val.span(); }
  bool chooses_smoothers() const { return options_.smoother == AmgSmoother::automatic; }

  /// Of levels on ranks, with the sizes of all ranks.
  const LevelFigures& figures() const { return figures_; }
  /// Why there is no further level, if none is gathered.
  const std::string& remark() const { return remark_; }
  std::uint64_t bytes() const;  ///< without the gathered level
  const std::vector<std::pair<std::string, double>>& seconds() const { return seconds_; }

 private:
  bool coarsen(const Context<S>& ctx, const NearNull<S>& near_null, PhaseClock& clock);
  void compute_prolongator(const Context<S>& ctx, RankLevel<S>& level, bool keeps_pattern) const;
  void finish(const Context<S>& ctx, PhaseClock& clock);

  AmgOptions options_;
  std::vector<RankLevel<S>> levels_;
  bool is_gathered_ = false;
  GatheredLevel<S> gathered_;
  bool decided_ = false;  ///< smoothers
  std::string remark_;
  LevelFigures figures_;
  std::vector<std::pair<std::string, double>> seconds_;
};

}  // namespace newel::detail
