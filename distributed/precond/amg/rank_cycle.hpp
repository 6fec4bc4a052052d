// SPDX-License-Identifier: Apache-2.0
/// RankCycle: the V-cycle on the levels of a RankHierarchy, in one space and precision. Internal.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <newel/precond/preconditioner.hpp>
#include "distributed/precond/amg/gathered_cycle.hpp"
#include "distributed/precond/amg/level_operator.hpp"
#include "distributed/precond/amg/rank_hierarchy.hpp"
#include "distributed/rows/distributed_operator.hpp"
#include "precond/amg/cycle/smoothed_level.hpp"
#include "spmv/plan/phase_clock.hpp"

namespace newel::detail {

/// The part of the bytes of AMG on ranks that all ranks have alike.
inline constexpr const char* gathered_levels = "gathered levels";

/// What the first level of a cycle is made from.
template <class T, Space S>
struct RankFinest {
  /// The matrix; null: `own`.
  const DistributedOperator<T, S>* shared = nullptr;
  /// The matrix in the precision of the cycle; null too: the hierarchy's.
  std::unique_ptr<DistributedOperator<T, S>> own;
  const RankMatrix<T>& rows;  ///< without values if neither the matrix nor a sparse smoother is made from them
  LevelOrder<S> order;        ///< of the system's vectors
  bool converts = false;      ///< b and x of a cycle in single precision are in double
};

template <class T, Space S>
struct RankCycleLevel : SmoothedLevel<T, S, LevelOperator<double, S>> {
  explicit RankCycleLevel(const Context<S>& of_level) : ctx(of_level) {}

  Context<S> ctx;  ///< of vectors of the level
  const LinearOperator<T, S>* a = nullptr;
  std::unique_ptr<LevelOperator<T, S>> own;  ///< null: `a` is the system's
  std::optional<LevelRows> rows;             ///< for a sparse smoother below the first level
  LevelOrder<S> order;                       ///< of vectors; that of the hierarchy below the first level
  AmgTransfer<T, S> transfer;                ///< to the next level
  bool coarsens = false;                     ///< there is a next level, of all ranks
};

/// With what level_cycle.hpp asks of levels.
template <class T, Space S>
struct RankCycleLevels {
  std::vector<RankCycleLevel<T, S>> all;
  std::optional<GatheredCycle<T, S>> below;
  mutable Array<T, S> own_b, own_x;  ///< b and x of a cycle that converts

  const RankCycleLevel<T, S>& operator[](std::size_t l) const { return all[l]; }
  bool coarsens(std::size_t l) const { return all[l].coarsens; }
  bool end(const Context<S>&, std::size_t, Span<const T, S>, Span<T, S>) const { return false; }
  template <class Next>
  void correct_below(const Context<S>& ctx, std::size_t l, const Next& next) const {
    const RankCycleLevel<T, S>& level = all[l];
    const bool gathered = l + 1 == all.size();
    level.transfer.restrict_to(ctx, level.r.data(), gathered ? below->b().data : all[l + 1].b.data());
    if (gathered) return level.transfer.prolong(ctx, below->apply(ctx).data, level.d.data());
    next();
    level.transfer.prolong(ctx, all[l + 1].x.data(), level.d.data());
  }
};

/// Matrices are multiplied on all ranks together; prolongators within a rank. All ranks make theirs together, and
/// call its functions together, with contexts that have ranks.
template <class T, Space S>
class RankCycle {
 public:
  /// `options` with the name of AMG. `below`: the cycle of the gathered level, if there is one. `clock` gets phases.
  RankCycle(const Context<S>& ctx, RankFinest<T, S> finest, const RankHierarchy<S>& hierarchy,
            const PrecondOptions& options, std::optional<GatheredCycle<T, S>> below, PhaseClock& clock);

  /// As AmgCycle::refresh; `alone` and `below` are for the gathered level.
  void refresh(const Context<S>& alone, Span<const T, S> values, const RankHierarchy<S>& hierarchy,
               const AmgHierarchy<S>& below, bool prolongators);

  /// As AmgCycle::apply.
  template <class V>
  void apply(const Context<S>& ctx, Span<const V, S> b, Span<V, S> x, double* bx) const;

  /// The smoothers in use: "chebyshev", "fsai and chebyshev".
  std::string smoother_text(const RankHierarchy<S>& hierarchy, const AmgHierarchy<S>& below) const;
  /// Which levels are solved by two cycles: ", two cycles on levels 2 and 3"; else empty.
  std::string cycles_text() const;
  bool capturable() const;
  /// Whether `refresh` reads its values.
  bool reads_values() const { return finest_ != nullptr || levels_[0].sparse.m != nullptr; }
  /// Of this rank.
  OperatorInfo info() const;

 private:
  void make_level(const RankLevel<S>& from, std::size_t l, const RankMatrix<T>& rows);
  void make_smoother(const RankLevel<S>& from, std::size_t l, const RankMatrix<T>& rows);
  bool is_put_off(const RankLevel<S>& from, std::size_t l) const;
  bool first_needs_fsai(const RankLevel<S>& from) const;
  void refresh_level(const RankLevel<S>& from, std::size_t l, Span<const T, S> values);
  void choose_cycles(const RankHierarchy<S>& hierarchy);

  PrecondOptions options_;
  bool chooses_smoothers_;
  bool tried_ = false;                                 ///< the diagonal on the first level, for which FSAI was chosen
  std::unique_ptr<DistributedOperator<T, S>> finest_;  ///< of the first level; null: that is the system's or its own
  OperatorInfo shared_info_;                           ///< of the first level's matrix, if it is the system's
  RankCycleLevels<T, S> levels_;
};

}  // namespace newel::detail
