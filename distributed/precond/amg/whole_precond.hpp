// SPDX-License-Identifier: Apache-2.0
/// WholePrecond: a preconditioner of one rank on every rank, for systems that are small. Internal.
#pragma once

#include <memory>

#include "distributed/precond/amg/rank_level.hpp"
#include "distributed/rows/distributed_operator.hpp"
#include "distributed/rows/gathered_vector.hpp"

namespace newel::detail {

/// M of the whole matrix, which each rank gathers, as the table of preconditioners makes it: the same on any number
/// of ranks. All ranks make theirs together, and call its functions together.
template <class T, Space S>
class WholePrecond final : public MatrixOperator<T, S> {
 public:
  /// Throws as `make_precond` does, on all ranks alike.
  WholePrecond(const Context<S>& ctx, const DistributedOperator<T, S>& A, const RankMatrix<T>& a,
               const PrecondOptions& options);

  Index rows() const override { return rows_; }
  Index cols() const override { return rows_; }
  void refresh(const Context<S>& ctx, Span<const T, S> values) override;
  void apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const override;
  void apply_dot(const Context<S>& ctx, Span<const T, S> x, Span<T, S> y, double* xy) const override;
  OperatorTraits<T, S> traits() const override;
  OperatorInfo info() const override;

 private:
  Index rows_;
  Context<S> alone_;
  std::unique_ptr<ValueExchange<T>> values_;
  OperatorPtr<T, S> whole_;
  bool is_alone_;  ///< there is one rank
  bool capturable_ = true;
  Array<Index, S> old_of_new_, new_of_old_;
  mutable GatheredVector<T, S> x_;  ///< in the caller's order
  mutable Array<T, S> y_;
};

}  // namespace newel::detail
