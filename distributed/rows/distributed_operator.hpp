// SPDX-License-Identifier: Apache-2.0
/// DistributedOperator: a rank's share of a matrix as an operator on its shares of vectors. Internal.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include <newel/distributed/distributed_system.hpp>
#include <newel/spmv/operator.hpp>
#include "distributed/rows/stored_rows.hpp"
#include "spmv/resident_view.hpp"

namespace newel::detail {

/// Vectors are in rank order. Rows that need no other rank are multiplied while the halo is exchanged. All ranks call
/// its functions together, with contexts that have ranks.
template <class T, Space S = Space::host>
class DistributedOperator final : public LinearOperator<T, S> {
 public:
  explicit DistributedOperator(StoredRows<T, S> rows) : stored_(std::move(rows)) {}
  /// See `rows_in_csr`.
  DistributedOperator(const Context<S>& ctx, const RankRows<T>& a, const std::vector<std::int64_t>& first_rows,
                      const Span<const Index, Space::host>* order = nullptr)
      : stored_(rows_in_csr(ctx, a, first_rows, order)) {}
  /// See `rows_in_format`.
  DistributedOperator(const Context<S>& ctx, const RankRows<T>& a, const std::vector<std::int64_t>& first_rows,
                      RankFormat format)
      : stored_(rows_in_format(ctx, a, first_rows, format)) {}

  /// What it multiplies by. Ranks decide alike only by what they know alike, so its `info` is not the operator's.
  const StoredRows<T, S>& stored() const { return stored_; }
  /// The order of vectors; `natural`: the caller's.
  const RowOrder<S>& order() const { return stored_.order; }

  /// New values in the order of those before.
  void refresh(const Context<S>& ctx, Span<const T, S> values);
  /// The rows on the device that it was made from, which only setups need.
  void drop_rows_on_device() {
    stored_.on_device.reset();
    stored_.plan.reset();
  }

  Index rows() const override { return stored_.rows; }
  Index cols() const override { return stored_.rows; }
  void apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const override {
    stored_.product->apply(ctx, alpha, x, beta, y);
  }
  void apply_dot(const Context<S>& ctx, Span<const T, S> x, Span<T, S> y, double* xy) const override {
    stored_.product->apply_dot(ctx, x, y, xy);
  }
  std::optional<ResidualSums> residual(const Context<S>& ctx, Span<const T, S> b, Span<const T, S> x,
                                       const ResidualScale& scale, Span<T, S> r) const override;
  bool matrix_diagonal(const Context<S>& ctx, Span<T, S> d) const override;
  OperatorTraits<T, S> traits() const override;
  ResidentView<T, S> resident_view() const override;

 private:
  StoredRows<T, S> stored_;
};

}  // namespace newel::detail
