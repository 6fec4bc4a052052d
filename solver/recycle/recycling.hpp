// SPDX-License-Identifier: Apache-2.0
/// Recycling: what the solves of a system pass on to the next. Internal.
#pragma once

#include <functional>
#include <vector>

#include "solver/recycle/deflation.hpp"

namespace newel::detail {

/// Between a method and its driver: a solve is driven with a deflation at work.
///
/// Operators that may be replaced on the way are left alone: a solve recycles if nobody would replace them, or if the
/// solve before had the same. It is then not asked for others.
template <class T, Space S>
class Recycling {
 public:
  using Drive = std::function<SolveReport(const SolveRequest<T, S>&)>;

  explicit Recycling(const RecycleRule& rule = {})
      : rule_(rule), vectors_(rule.vectors), policy_(rule.decides, S == Space::device) {}
  Recycling(const Recycling&) = delete;
  Recycling& operator=(const Recycling&) = delete;

  /// Whether it has a say in solves.
  bool used() const { return rule_.keeps(); }
  /// What an iteration costs, with so many vectors; for "auto".
  void weigh_by(std::function<RecycleCosts(RecycledKind kind, int vectors)> costs) { costs_ = std::move(costs); }
  /// Of a request by the method that `deflation` belongs to.
  SolveReport solve(const SolveRequest<T, S>& request, Deflation<T, S>& deflation, const Drive& drive);
  void values_changed() { vectors_.values_changed(); }

  const RecycleRule& rule() const { return rule_; }
  RecycledVectors<S>& vectors() { return vectors_; }
  RecyclePolicy& policy() { return policy_; }
  /// As another run left it; the caller writes the vectors. The operators of the next solve are taken for those.
  void begin_state(const Context<S>& ctx, std::int64_t rows, const RecycledState& state,
                   const std::vector<double>& policy);
  void forget();

 private:
  bool follows(const SolveRequest<T, S>& request, RecycledKind kind);
  bool begin(const SolveRequest<T, S>& request, Deflation<T, S>& deflation, RecyclePolicy::Use use);
  SolveReport driven(const SolveRequest<T, S>& request, Deflation<T, S>& deflation, const Drive& drive);
  RecycleCosts costs_of_ranks(const Context<S>& ctx) const;
  void learn(const SolveRequest<T, S>& request, Deflation<T, S>& deflation, SolveReport& report,
             const RecyclePolicy::Use& use);

  RecycleRule rule_;
  RecycledVectors<S> vectors_;
  RecyclePolicy policy_;
  std::function<RecycleCosts(RecycledKind, int)> costs_;
  std::uint64_t A_ = 0, M_ = 0;  ///< serial numbers of the solve before
  RecycledKind kind_ = RecycledKind::none;
  bool adopts_ = false;  ///< a state: the next operators are those that it belongs to
  bool no_memory_ = false;
  std::int64_t products_before_ = 0;
};

}  // namespace newel::detail
