// SPDX-License-Identifier: Apache-2.0
/// AMG of a matrix whose rows are distributed over ranks. Internal.
#pragma once

#include <optional>
#include <string>

#include "distributed/precond/amg/rank_cycle.hpp"

namespace newel::detail {

/// z = M r by one cycle. Levels with few rows are gathered, and set up and multiplied on each rank. All ranks make
/// theirs together, and call its functions together.
template <class T, Space S = Space::host>
class RankAmg final : public MatrixOperator<T, S> {
 public:
  /// AmgOptions apply; `a.coordinates` and AmgOptions::vectors are of this rank's rows. `A` outlives M, and is
  /// refreshed before. A level with at most `most_gathered` rows is gathered. Throws ZeroDiagonal on all ranks alike,
  /// and InputError.
  RankAmg(const Context<S>& ctx, const DistributedOperator<T, S>& A, const RankMatrix<T>& a,
          const PrecondOptions& options, std::int64_t most_gathered = gathered_rows);

  Index rows() const override { return rows_; }
  Index cols() const override { return rows_; }
  /// As AmgOperator::refresh.
  void refresh(const Context<S>& ctx, Span<const T, S> values) override;
  void apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const override;
  void apply_dot(const Context<S>& ctx, Span<const T, S> x, Span<T, S> y, double* xy) const override;
  OperatorTraits<T, S> traits() const override;
  /// Entries and bytes are those of this rank, figures those of all.
  OperatorInfo info() const override;

  const RankHierarchy<S>& hierarchy() const { return hierarchy_; }

 private:
  bool single_suffices();
  template <class C>
  RankCycle<C, S> make_cycle(const Context<S>& ctx, RankFinest<C, S> finest, PhaseClock& clock) const;
  void make_low_cycle(const Context<S>& ctx, const DistributedOperator<T, S>& A, const RankMatrix<T>& a,
                      PhaseClock& clock);
  template <class F>
  decltype(auto) with_cycle(F&& f) const {
    return low_cycle_ ? f(*low_cycle_) : f(*cycle_);
  }

  Index rows_;
  PrecondOptions options_;
  Context<S> setup_, alone_;
  std::string near_null_;
  ValueMap<S> source_;  ///< where the hierarchy's values stand among the caller's
  RankHierarchy<S> hierarchy_;
  AmgHierarchy<S> below_;  ///< of the gathered level, if there is one
  bool contrast_ = false;  ///< single precision would hide soft vectors
  std::optional<RankCycle<T, S>> cycle_;
  std::optional<RankCycle<float, S>> low_cycle_;  ///< in single precision, in a system in double
  Array<float, S> low_values_;                    ///< for the smoother of the first level
  mutable Array<T, S> between_;                   ///< M x, where apply adds to y
  bool capturable_ = true;
  std::vector<std::pair<std::string, double>> seconds_;
};

/// AMG for so many rows: of one rank, and of small systems, as one rank makes it.
template <class T, Space S>
OperatorPtr<T, S> make_amg_on_ranks(const Context<S>& ctx, const DistributedOperator<T, S>& A, const RankMatrix<T>& a,
                                    const PrecondOptions& options);

}  // namespace newel::detail
