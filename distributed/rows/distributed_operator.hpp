// SPDX-License-Identifier: Apache-2.0
/// DistributedOperator: a rank's share of a matrix as an operator on its shares of vectors. Internal.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <newel/distributed/distributed_system.hpp>
#include <newel/spmv/operator.hpp>
#include "distributed/rows/rank_product.hpp"
#include "spmv/resident_view.hpp"

namespace newel::detail {

template <class T>
struct RowsOnDevice;  // in builds with CUDA
struct RankPlan;

/// How a rank stores its rows: in CSR; on a device with other ranks in EHYB if all rows suit it; or there in CSR as
/// they are, which takes the shortest setup.
enum class RankFormat { csr, automatic, at_once };

/// Vectors are in rank order: in CSR that of RowSplit, in EHYB part by part. Rows that need no other rank are
/// multiplied while the halo is exchanged. All ranks call its functions together, with contexts that have ranks.
template <class T, Space S = Space::host>
class DistributedOperator final : public LinearOperator<T, S> {
 public:
  /// `ctx` has ranks. In CSR. `order`, where not null: the order of vectors, as `old_of_new` of another operator
  /// gives it.
  DistributedOperator(const Context<S>& ctx, const RankRows<T>& a, const std::vector<std::int64_t>& first_rows,
                      const Span<const Index, Space::host>* order = nullptr);
  /// In an order of its own.
  DistributedOperator(const Context<S>& ctx, const RankRows<T>& a, const std::vector<std::int64_t>& first_rows,
                      RankFormat format);

  /// New values in the order of those before.
  void refresh(const Context<S>& ctx, Span<const T, S> values);
  /// The caller's number of each row in rank order; empty: they are the same.
  Span<const Index, S> old_of_new() const { return old_of_new_.cspan(); }
  Span<const Index, S> new_of_old() const { return new_of_old_.cspan(); }
  /// The rows on the device that it was made from, until they are dropped; null: there are none.
  const RowsOnDevice<T>* rows_on_device() const { return rows_on_device_.get(); }
  void drop_rows_on_device() {
    rows_on_device_.reset();
    plan_.reset();
  }
  /// The same matrix in another precision, for products in the order of this one's vectors, as long as the rows are
  /// on the device; null on all ranks: it is not in EHYB. All ranks call it together.
  template <class C>
  std::unique_ptr<DistributedOperator<C, S>> in_precision(const Context<S>& ctx,
                                                          const std::vector<std::int64_t>& first_rows) const;
  /// The sizes and bytes of this rank's rows. Ranks decide alike only by what they know alike, so this is not `info`.
  OperatorInfo rank_info() const {
    OperatorInfo info = product_->info();
    info.setup_seconds = seconds_;
    return info;
  }
  /// The diagonal as it stands, in rank order; 0 where there is no entry.
  Span<const T, S> matrix_diagonal() const { return diagonal_.cspan().subspan(0, rows()); }

  std::uint64_t bytes() const;

  Index rows() const override { return rows_; }
  Index cols() const override { return rows_; }
  void apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const override {
    product_->apply(ctx, alpha, x, beta, y);
  }
  void apply_dot(const Context<S>& ctx, Span<const T, S> x, Span<T, S> y, double* xy) const override {
    product_->apply_dot(ctx, x, y, xy);
  }
  std::optional<ResidualSums> residual(const Context<S>& ctx, Span<const T, S> b, Span<const T, S> x,
                                       const ResidualScale& scale, Span<T, S> r) const override;
  bool matrix_diagonal(const Context<S>& ctx, Span<T, S> d) const override;
  OperatorTraits<T, S> traits() const override;
  ResidentView<T, S> resident_view() const override;

 private:
  template <class, Space>
  friend class DistributedOperator;
  explicit DistributedOperator(Index rows) : rows_(rows) {}
  void number(const Context<S>& ctx, const RankRows<T>& a, const std::vector<Index>& old_of_new,
              const std::vector<Offset>& diagonal);
  void number_on_device(const Context<S>& ctx, const std::vector<Index>& old_of_new);
  void make_csr(const Context<S>& ctx, const RankRows<T>& a, const std::vector<std::int64_t>& first_rows,
                const Span<const Index, Space::host>* order);
  void read_diagonal(const Context<S>& ctx, Span<const T, S> values);

  Index rows_;
  Offset entries_ = 0;
  std::unique_ptr<RankProduct<T, S>> product_;
  std::shared_ptr<const RowsOnDevice<T>> rows_on_device_;
  std::shared_ptr<const RankPlan> plan_;  ///< as long as they are there; null: not in EHYB
  Array<Index, S> old_of_new_, new_of_old_;
  Array<T, S> diagonal_;
  ValueMap<S> diagonal_source_;
  std::vector<std::pair<std::string, double>> seconds_;  ///< of the setup by phase
};

}  // namespace newel::detail
