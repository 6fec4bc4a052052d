// SPDX-License-Identifier: Apache-2.0
/// DecisionCache: what the systems of a pattern ended with, kept in the plan cache for those that come. Internal.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <newel/solver/candidate.hpp>
#include <newel/solver/system_options.hpp>
#include <newel/solver/system_parts.hpp>
#include "spmv/plan/plan_cache.hpp"

namespace newel::detail {

/// Of all systems before that were made of a pattern on a machine with the same options.
struct KeptDecision {
  SystemDecision decision;   ///< of the last one; `solves` counts those of all
  double fewest_solves = 0;  ///< that one of them made
};

/// Whether `auto` may profit from what was learnt elsewhere: it has a folder and something to decide by itself, and
/// is not asked for the same bits whatever the folder holds.
template <class T, Space S>
bool takes_kept_decision(const SystemOptions& options, const SystemParts<T, S>& parts);

/// Whether both matrices are of one kind: what is known of solvers and preconditioners for one holds for the other.
bool same_kind(const MatrixTraits& a, const MatrixTraits& b);

/// Whether a system that made `now`, and has the `candidates`, does better with what others ended with, by the cost
/// model, setup included, though it should make as few solves as the shortest-lived of them: iterations are those
/// that they measured. So too where the preconditioner it has made is one that has failed.
bool kept_decision_pays(const KeptDecision& kept, const SystemDecision& now,
                        const std::vector<SystemCandidate>& candidates);

/// The kept decision for new values of the same kind, whose solves are yet to come.
SystemDecision decision_to_begin_with(const KeptDecision& kept, const SystemDecision& now);

/// One file of the plan cache.
class DecisionCache {
 public:
  /// Reads the pattern once, where it is, for the key, and the file, for a system of values of so many bytes. A file
  /// that is damaged or of another version is as good as none, and `remark` says so.
  template <Space S>
  DecisionCache(const Context<S>& ctx, const Pattern<S>& pattern, const SystemOptions& options,
                std::size_t value_bytes);

  /// Nothing where there was no sound file.
  const std::optional<KeptDecision>& kept() const { return kept_; }
  const std::string& remark() const { return cache_.remark(); }

  /// Adds a system that has made `decision.history.solves` solves to those that were there when this was made, and
  /// writes the file, unless it holds as many of it. Failure leaves the file as it was.
  void keep(SystemDecision decision);

 private:
  PlanCache cache_;
  PlanKey key_;
  std::optional<KeptDecision> kept_;
  int solves_kept_ = 0;  // of this system, in the file
};

}  // namespace newel::detail
