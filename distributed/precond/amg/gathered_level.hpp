// SPDX-License-Identifier: Apache-2.0
/// GatheredLevel: a level of multigrid that is small, of all ranks, on each of them. Internal.
#pragma once

#include <memory>

#include "distributed/precond/amg/rank_level.hpp"

namespace newel::detail {

/// All ranks make theirs together, and refresh together. Contexts have ranks.
template <Space S>
class GatheredLevel {
 public:
  GatheredLevel() = default;
  /// `symmetric`: blocks of zeros make the pattern symmetric.
  GatheredLevel(const Context<S>& ctx, const RankLevel<S>& level, const NearNull<S>& near_null, bool symmetric);

  /// Gathers the values of `level`, which has the pattern of the constructor.
  void refresh(const Context<S>& ctx, const RankLevel<S>& level);

  const BlockCsr<S>& matrix() const { return a_; }
  const NearNull<S>& near_null() const { return near_null_; }
  std::uint64_t bytes() const;

 private:
  BlockCsr<S> a_;
  NearNull<S> near_null_;
  ValueMap<S> source_;  ///< of the values of `a_` among those that come
  std::unique_ptr<ValueExchange<double, S>> values_;
};

/// The values of all ranks, one rank after the other, on each of them.
std::vector<double> gather_values(const HostContext& ctx, const std::vector<double>& own);

}  // namespace newel::detail
