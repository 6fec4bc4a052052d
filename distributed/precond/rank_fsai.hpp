// SPDX-License-Identifier: Apache-2.0
/// FSAI of a matrix whose rows are distributed over ranks: the factor that one rank computes. Internal.
#pragma once

#include <memory>
#include <vector>

#include "distributed/rows/distributed_operator.hpp"
#include "distributed/precond/near_rows.hpp"
#include "distributed/precond/rank_matrix.hpp"
#include "distributed/precond/rank_transpose.hpp"
#include "precond/fsai/fsai.hpp"
#include "precond/fsai/fsai_pattern.hpp"

namespace newel::detail {

/// M = G^T G. A rank has its rows of G and of G^T. Its local problems read rows of other ranks, which are fetched:
/// for G on the pattern of A^p those that its rows reach in p steps. In the device space too the host computes G, of
/// which the device gets the values.
template <class T, Space S = Space::host>
class RankFsai final : public MatrixOperator<T, S> {
 public:
  /// FsaiOptions and PatternOptions::drop apply. All ranks make theirs together. What one refuses is refused by all
  /// alike: throws NotSymmetric, NotPositiveDefinite, and LongRow (rank_refusal.hpp) for a row of G that has more
  /// than 4,096 entries.
  RankFsai(const Context<S>& ctx, const RankMatrix<T>& a, const PrecondOptions& options);

  Index rows() const override { return g_->rows(); }
  Index cols() const override { return rows(); }
  /// The values of G on the pattern of the constructor; `values` are those of this rank's rows. Throws
  /// NotPositiveDefinite on all ranks; G keeps its old values then.
  void refresh(const Context<S>& ctx, Span<const T, S> values) override;
  void apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const override;
  /// x.y as |G x|^2.
  void apply_dot(const Context<S>& ctx, Span<const T, S> x, Span<T, S> y, double* xy) const override;
  OperatorTraits<T, S> traits() const override;
  /// Entries and bytes are those of this rank, figures those of all.
  OperatorInfo info() const override { return info_; }

 private:
  void place(const Context<Space::host>& ctx, Sparsity g, Offset longest);
  void compute(const Context<Space::host>& ctx);
  void describe(const Context<Space::host>& ctx, const PrecondOptions& options, Offset longest);

  NearRows<T> near_;
  Array<Offset, Space::host> a_row_ptr_, g_row_ptr_;  ///< of the near rows; G has entries in this rank's
  Array<Index, Space::host> a_col_, g_col_;
  Array<T, Space::host> a_val_, g_val_, t_val_;
  ValueMap<Space::host> a_source_;  ///< of the lower triangle, in the near rows
  Array<FsaiPiece, Space::host> pieces_;
  std::vector<FsaiClass> classes_;
  Array<double, Space::host> scratch_;
  Array<FsaiVerdict, Space::host> verdict_;
  FsaiView<T> view_;
  std::unique_ptr<RankTranspose<T>> transpose_;
  std::unique_ptr<DistributedOperator<T, S>> g_, gt_;
  mutable Array<T, S> between_;  ///< G x
  OperatorInfo info_;
};

}  // namespace newel::detail
