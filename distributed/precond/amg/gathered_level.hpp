// SPDX-License-Identifier: Apache-2.0
/// GatheredLevel: a level of multigrid that is small, of all ranks, on each of them. Internal.
#pragma once

#include <memory>

#include "distributed/precond/amg/rank_level.hpp"

namespace newel::detail {

/// All ranks make theirs together, and refresh together. Contexts have ranks.
class GatheredLevel {
 public:
  GatheredLevel() = default;
  /// `symmetric`: blocks of zeros make the pattern symmetric.
  GatheredLevel(const HostContext& ctx, const RankLevel& level, const NearNull<Space::host>& near_null,
                bool symmetric);

  /// Gathers the values of `level`, which has the pattern of the constructor.
  void refresh(const RankLevel& level);

  const HostBlockCsr& matrix() const { return a_; }
  const NearNull<Space::host>& near_null() const { return near_null_; }
  std::uint64_t bytes() const;

 private:
  HostBlockCsr a_;
  NearNull<Space::host> near_null_;
  Array<Offset, Space::host> place_;  ///< of each block that comes, in `a_`; empty: they stand as they come
  std::unique_ptr<ValueExchange<double>> values_;
};

/// The values of all ranks, one rank after the other, on each of them.
std::vector<double> gather_values(const HostContext& ctx, const std::vector<double>& own);

}  // namespace newel::detail
