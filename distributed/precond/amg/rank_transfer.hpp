// SPDX-License-Identifier: Apache-2.0
/// RankTransfer: between a level of multigrid on ranks and the next, within a rank. Internal.
#pragma once

#include <vector>

#include "distributed/precond/amg/rank_level.hpp"
#include "distributed/rows/rank_product.hpp"

namespace newel::detail {

/// Where the rows of a level that a rank has stand in the order of its vectors, from 0; both empty: as they are.
struct RankLevelOrder {
  std::vector<Index> old_of_new, new_of_old;

  RankLevelOrder() = default;
  explicit RankLevelOrder(std::vector<Index> old);
  Index old_row(Index row) const { return old_of_new.empty() ? row : old_of_new[static_cast<std::size_t>(row)]; }
  Index new_row(Index row) const { return new_of_old.empty() ? row : new_of_old[static_cast<std::size_t>(row)]; }
};

/// P and its transpose in CSR, for vectors in the orders of both levels.
template <class T, Space S>
class RankTransfer {
 public:
  RankTransfer() = default;
  RankTransfer(const Context<S>& ctx, const RankLevel& level, const RankLevelOrder& fine,
               const RankLevelOrder& coarse);
  /// New values of the same pattern.
  void refresh(const Context<S>& ctx, const RankLevel& level);

  /// b = P^T r
  void restrict_to(const Context<S>& ctx, Span<const T, S> r, Span<T, S> b) const {
    transposed_->apply(ctx, T(1), r, T(0), b);
  }
  /// x = P e
  void prolong(const Context<S>& ctx, Span<const T, S> e, Span<T, S> x) const { p_->apply(ctx, T(1), e, T(0), x); }

  bool exists() const { return p_ != nullptr; }
  bool capturable() const { return !exists() || (p_->capturable() && transposed_->capturable()); }
  /// Entries, bytes, and bytes of both products.
  OperatorInfo info() const;

 private:
  OperatorPtr<T, S> p_, transposed_;  ///< exist together
};

}  // namespace newel::detail
