// SPDX-License-Identifier: Apache-2.0
/// SPAI of a matrix whose rows are distributed over ranks: the M that one rank computes. Internal.
#pragma once

#include <memory>
#include <optional>

#include "distributed/rows/distributed_operator.hpp"
#include "distributed/precond/near_rows.hpp"
#include "distributed/precond/rank_matrix.hpp"
#include "distributed/precond/rank_transpose.hpp"
#include "precond/spai/spai_problems.hpp"

namespace newel::detail {

/// The local problems of a rank's columns (from the right) or rows (from the left), see spai_layout.hpp for B and N.
/// What they read of other ranks is fetched: rows of B that a rank's own reach in as many steps as the power says.
template <class T>
class RankSpaiProblems {
 public:
  /// SpaiOptions but `adaptive`, and PatternOptions::drop apply. All ranks make theirs together.
  RankSpaiProblems(const Context<Space::host>& ctx, const RankMatrix<T>& a, const PrecondOptions& options,
                   SpaiPattern pattern);

  /// Solves for the values of this rank's rows of A.
  void refresh(const Context<Space::host>& ctx, Span<const T, Space::host> values);

  /// This rank's rows of N, and their present values.
  RankPattern pattern() const;
  Span<const T, Space::host> values() const;
  /// Adds figures of all ranks, and bytes of this one.
  void describe(const Context<Space::host>& ctx, OperatorInfo& info) const;

 private:
  Sparsity wanted(const Context<Space::host>& ctx, const PrecondOptions& options);
  void solve(const Context<Space::host>& ctx);

  std::unique_ptr<RankTranspose<T>> transpose_;  ///< from A to B; null: they are the same
  Array<T, Space::host> b_val_;                  ///< this rank's rows of A^T
  std::optional<NearRows<T>> near_;              ///< of B
  SpaiLayout layout_;
  Array<T, Space::host> val_;
  Array<double, Space::host> residual_;
  Array<SpaiVerdict, Space::host> verdict_;
  SpaiScratchPtr<T, Space::host> scratch_;
  Index limited_ = 0;
};

/// In the device space too the host computes M, of which the device gets the values.
template <class T, Space S = Space::host>
class RankSpai final : public MatrixOperator<T, S> {
 public:
  /// As RankSpaiProblems. `symmetric` of the options: M is half the sum of M and its transpose.
  RankSpai(const Context<S>& ctx, const RankMatrix<T>& a, const PrecondOptions& options);

  Index rows() const override { return matrix_->rows(); }
  Index cols() const override { return rows(); }
  /// `values` are those of this rank's rows of A.
  void refresh(const Context<S>& ctx, Span<const T, S> values) override;
  void apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const override {
    matrix_->apply(ctx, alpha, x, beta, y);
  }
  void apply_dot(const Context<S>& ctx, Span<const T, S> x, Span<T, S> y, double* xy) const override {
    matrix_->apply_dot(ctx, x, y, xy);
  }
  OperatorTraits<T, S> traits() const override { return matrix_->traits(); }
  /// Entries and bytes are those of this rank, figures those of all.
  OperatorInfo info() const override { return info_; }

 private:
  RankPattern take_transpose(const Context<Space::host>& ctx, const RankMatrix<T>& a, const RankPattern& n);
  RankPattern take_union(const Context<Space::host>& ctx, const RankPattern& n, const RankPattern& transposed);
  Span<const T, Space::host> take_values(const Context<Space::host>& ctx);

  bool symmetric_, right_;
  RankSpaiProblems<T> problems_;
  std::unique_ptr<RankTranspose<T>> transpose_;  ///< from N to its transpose; null: it is not needed
  Array<T, Space::host> transposed_;
  ValueMap<Space::host> own_, mirrored_;  ///< symmetric: where an entry of M is in N and in its transpose
  Array<T, Space::host> sum_, mirror_;
  std::unique_ptr<DistributedOperator<T, S>> matrix_;
  OperatorInfo info_;
};

/// The diagonal M of Spai0Operator; as RankSpai.
template <class T, Space S = Space::host>
class RankSpai0 final : public MatrixOperator<T, S> {
 public:
  /// As RankSpaiProblems.
  RankSpai0(const Context<S>& ctx, const RankMatrix<T>& a, const PrecondOptions& options);

  Index rows() const override { return rows_; }
  Index cols() const override { return rows_; }
  /// `values` are those of this rank's rows of A.
  void refresh(const Context<S>& ctx, Span<const T, S> values) override;
  void apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const override;
  void apply_dot(const Context<S>& ctx, Span<const T, S> x, Span<T, S> y, double* xy) const override;
  OperatorTraits<T, S> traits() const override { return {true, false, false, entries()}; }
  /// Entries and bytes are those of this rank, figures those of all.
  OperatorInfo info() const override { return info_; }

 private:
  void take_values(const Context<S>& ctx);
  Span<const T, S> entries() const { return diagonal_.cspan().subspan(0, rows_); }

  Index rows_;
  std::vector<Index> old_of_new_;  ///< empty: vectors are in the caller's order
  RankSpaiProblems<T> problems_;
  Array<T, S> diagonal_;  ///< one entry at least, so that all ranks take the steps of a diagonal M
  OperatorInfo info_;
};

}  // namespace newel::detail
