// SPDX-License-Identifier: Apache-2.0
/// FSAI of a matrix whose rows are distributed over ranks: the factor that one rank computes. Internal.
#pragma once

#include <memory>
#include <vector>

#include "distributed/rows/distributed_operator.hpp"
#include "distributed/precond/near_rows.hpp"
#include "distributed/precond/rank_matrix.hpp"
#include "distributed/precond/rank_transpose.hpp"
#include "precond/factored_inverse.hpp"
#include "precond/fsai/fsai_factor.hpp"

namespace newel::detail {

/// M = G^T G. A rank has its rows of G and of G^T. Its local problems read rows of other ranks, which are fetched:
/// for G on the pattern of A^p those that its rows reach in p steps. In the device space too the host computes G, of
/// which the device gets the values.
template <class T, Space S = Space::host>
class RankFsai final : public FactoredInverse<T, S, DistributedOperator<T, S>> {
 public:
  /// FsaiOptions and PatternOptions::drop apply. All ranks make theirs together. What one refuses is refused by all
  /// alike: throws NotSymmetric, NotPositiveDefinite, and LongRow (rank_refusal.hpp) for a row of G that has more
  /// than 4,096 entries.
  RankFsai(const Context<S>& ctx, const RankMatrix<T>& a, const PrecondOptions& options);

  /// The values of G on the pattern of the constructor; `values` are those of this rank's rows. Throws
  /// NotPositiveDefinite on all ranks; G keeps its old values then.
  void refresh(const Context<S>& ctx, Span<const T, S> values) override;
  /// Entries and bytes are those of this rank, figures those of all.
  OperatorInfo info() const override { return info_; }

 private:
  using Products = FactoredInverse<T, S, DistributedOperator<T, S>>;
  using Products::between_;
  using Products::g_;
  using Products::gt_;
  void place(const Context<Space::host>& ctx, SourcedSparsity lower, Sparsity g, Offset longest);
  void compute(const Context<Space::host>& ctx);
  void describe(const Context<Space::host>& ctx, const PrecondOptions& options, Offset longest);

  NearRows<T> near_;
  ValueMap<Space::host> a_source_;     ///< of the lower triangle, in the near rows
  FsaiFactor<T, Space::host> factor_;  ///< of the near rows; G has entries in this rank's
  Array<T, Space::host> t_val_;
  std::unique_ptr<RankTranspose<T>> transpose_;
  OperatorInfo info_;
};

}  // namespace newel::detail
