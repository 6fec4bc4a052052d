// SPDX-License-Identifier: Apache-2.0
/// StoredRows: a rank's rows of a matrix as it stores them, and how they are made. Internal.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <newel/core/csr.hpp>
#include <newel/distributed/distributed_system.hpp>
#include <newel/reorder/row_order.hpp>
#include <newel/spmv/operator.hpp>
#include "distributed/rows/rank_product.hpp"

namespace newel::detail {

template <class T>
struct RowsOnDevice;  // in builds with CUDA
struct RankPlan;

/// How a rank stores its rows: in CSR; on a device with other ranks in EHYB if all rows suit it; or there in CSR as
/// they are, which takes the shortest setup.
enum class RankFormat { csr, automatic, at_once };

/// The diagonal of a rank's rows, in rank order, and where its values come from.
template <class T, Space S>
class RankDiagonal {
 public:
  RankDiagonal() = default;
  /// Without values yet. `position`: of each row, that of its diagonal entry among `entries` values, or -1.
  RankDiagonal(const Context<S>& ctx, Span<const Offset, S> position, Offset entries);

  /// The diagonal, which the host has.
  void set(const Context<S>& ctx, const std::vector<T>& values);
  /// The diagonal among all values, in the caller's order.
  void refresh(const Context<S>& ctx, Span<const T, S> values);
  /// 0 where there is no entry.
  Span<const T, S> values() const { return values_.cspan().subspan(0, rows_); }
  std::uint64_t bytes() const { return values_.bytes() + source_.bytes(); }

 private:
  Span<T, S> own() { return values_.span().subspan(0, rows_); }

  std::int64_t rows_ = 0;
  Array<T, S> values_;
  ValueMap<S> source_;
};

/// Vectors are in rank order: in CSR that of RowSplit, in EHYB part by part.
template <class T, Space S>
struct StoredRows {
  Index rows = 0;
  Offset entries = 0;
  std::unique_ptr<RankProduct<T, S>> product;
  RowOrder<S> order;  ///< of vectors
  RankDiagonal<T, S> diagonal;
  std::vector<std::pair<std::string, double>> seconds;  ///< of the setup by phase
  std::shared_ptr<const RowsOnDevice<T>> on_device;     ///< what they were made from, until dropped; null: the host's
  std::shared_ptr<const RankPlan> plan;                 ///< as long as these are there; null: not in EHYB

  /// The sizes and bytes of this rank's rows.
  OperatorInfo info() const;
  /// Bytes of all that stays.
  std::uint64_t bytes() const;
};

/// In CSR. `ctx` has ranks, which all call it together. `order`, unless null: the order of vectors, as `old_of_new`
/// of other rows.
template <class T, Space S>
StoredRows<T, S> rows_in_csr(const Context<S>& ctx, const RankRows<T>& a, const std::vector<std::int64_t>& first_rows,
                             const Span<const Index, Space::host>* order);

/// In an order of their own.
template <class T, Space S>
StoredRows<T, S> rows_in_format(const Context<S>& ctx, const RankRows<T>& a,
                                const std::vector<std::int64_t>& first_rows, RankFormat format);

/// The same rows in another precision, for products in the order of these, as long as these are on the device; none
/// on all ranks: they are not in EHYB. All ranks call it together.
template <class C, class T, Space S>
std::optional<StoredRows<C, S>> in_precision(const Context<S>& ctx, const std::vector<std::int64_t>& first_rows,
                                             const StoredRows<T, S>& rows);

}  // namespace newel::detail
