// SPDX-License-Identifier: Apache-2.0
/// DistributedOperator: a rank's share of a matrix as an operator on its shares of vectors. Internal.
#pragma once

#include <newel/distributed/distributed_system.hpp>
#include <newel/spmv/operator.hpp>
#include "distributed/halo.hpp"
#include "distributed/rank_info.hpp"
#include "distributed/split_rows.hpp"
#include "spmv/resident_view.hpp"

namespace newel::detail {

template <class T>
class RankEhyb;

/// Whether a matrix is also kept in EHYB, for solves in one kernel across the devices of ranks.
enum class OneKernel { no, if_possible };

/// Vectors are in rank order (`RowSplit`). Rows that need no other rank are multiplied while the halo is exchanged.
/// All ranks call its functions together, with contexts that have ranks.
template <class T, Space S = Space::host>
class DistributedOperator final : public LinearOperator<T, S> {
 public:
  /// `ctx` has ranks. `order`, where not null: the order of vectors, as `old_of_new` of another operator gives it.
  DistributedOperator(const Context<S>& ctx, const RankRows<T>& a, const std::vector<std::int64_t>& first_rows,
                      const Span<const Index, Space::host>* order = nullptr);
  /// The same in an order of its own, the caller's or that of the kernel.
  DistributedOperator(const Context<S>& ctx, const RankRows<T>& a, const std::vector<std::int64_t>& first_rows,
                      OneKernel one_kernel);

  /// New values in the order of those before.
  void refresh(const Context<S>& ctx, Span<const T, S> values);
  /// The caller's number of each row in rank order; empty: they are the same.
  Span<const Index, S> old_of_new() const { return old_of_new_.cspan(); }
  Span<const Index, S> new_of_old() const { return new_of_old_.cspan(); }
  /// The sizes and bytes of this rank's rows.
  OperatorInfo info() const;
  /// The diagonal as it stands, in rank order; 0 where there is no entry.
  Span<const T, S> matrix_diagonal() const { return diagonal_.cspan().subspan(0, rows()); }

  std::uint64_t bytes() const;

  Index rows() const override { return rows_; }
  Index cols() const override { return rows_; }
  void apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const override;
  void apply_dot(const Context<S>& ctx, Span<const T, S> x, Span<T, S> y, double* xy) const override;
  std::optional<ResidualSums> residual(const Context<S>& ctx, Span<const T, S> b, Span<const T, S> x,
                                       const ResidualScale& scale, Span<T, S> r) const override;
  bool matrix_diagonal(const Context<S>& ctx, Span<T, S> d) const override;
  OperatorTraits<T, S> traits() const override;
  ResidentView<T, S> resident_view() const override;

 private:
  void build(const Context<S>& ctx, const RankRows<T>& a, RowSplit split,
             const std::vector<std::int64_t>& first_rows);
  void read_diagonal(const Context<S>& ctx, Span<const T, S> values);
  bool alone() const { return border_ == nullptr; }
  template <class Vector>
  Vector of_inner(Vector v) const {
    return v.subspan(0, inner_->rows());
  }
  template <class Vector>
  Vector of_border(Vector v) const {
    return v.subspan(inner_->rows(), border_->rows());
  }

  Index rows_;
  std::shared_ptr<RankEhyb<T>> ehyb_;  ///< on devices: the same rows; null: there is no such kernel
  OperatorPtr<T, S> inner_;
  OperatorPtr<T, S> border_;  ///< null: one rank has all
  Array<Index, S> old_of_new_, new_of_old_;
  mutable std::unique_ptr<Halo<T, S>> halo_;  ///< null: one rank has all
  Array<T, S> diagonal_;
  ValueMap<S> diagonal_source_;
  Offset inner_entries_ = 0, border_entries_ = 0;
  bool exchange_capturable_ = true;
};

}  // namespace newel::detail
