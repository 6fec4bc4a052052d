// SPDX-License-Identifier: Apache-2.0
/// NearRows: a rank's rows with those of other ranks that they reach within a few steps, as one matrix. Internal.
#pragma once

#include <cstdint>
#include <vector>

#include <newel/core/csr.hpp>
#include <newel/distributed/distributed_system.hpp>
#include "distributed/rows/value_exchange.hpp"

namespace newel::detail {

/// A square matrix. Its rows are those of this rank, those that they reach, and all columns of both, numbered in the
/// order of the whole matrix; its own rows follow each other. Rows that are out of reach have no entries. All ranks
/// make theirs together, and refresh together. `ctx` has ranks.
template <class T>
class NearRows {
 public:
  /// A row reaches the columns of its entries in one step. `first_rows`: see halo.hpp. Throws Error for more rows
  /// than Index counts.
  NearRows(const Context<Space::host>& ctx, const std::vector<std::int64_t>& first_rows, const RankRows<T>& own,
           int reach);

  /// New values, in the order of those before.
  void refresh(Span<const T, Space::host> own_values);

  /// Valid as long as this.
  CsrView<T, Space::host> view() const;
  Index rows() const { return static_cast<Index>(row_ptr_.size()) - 1; }
  /// The first of this rank's rows in this numbering, and how many there are.
  Index own_begin() const { return own_begin_; }
  Index own_rows() const { return own_rows_; }
  /// The number of a row in the whole matrix.
  std::int64_t number(Index row) const {
    if (row < own_begin_) return outside_[static_cast<std::size_t>(row)];
    if (row < own_begin_ + own_rows_) return first_row_ + (row - own_begin_);
    return outside_[static_cast<std::size_t>(row - own_rows_)];
  }
  /// The number in this matrix of a row of the whole one that is in it.
  Index row_of(std::int64_t number) const;

  std::uint64_t bytes() const;

 private:
  /// Rows that were fetched in one step.
  struct Ring {
    std::vector<std::int64_t> rows;  ///< in the whole matrix, ascending
    std::vector<Offset> row_ptr{0};
    std::vector<std::int64_t> col;
    std::unique_ptr<ValueExchange<T>> values;
  };
  /// A fetched row's values: where they come, and where they go.
  struct Piece {
    Offset from, into, count;
  };

  Ring fetch(const Context<Space::host>& ctx, const std::vector<std::int64_t>& first_rows, const RankRows<T>& own,
             std::vector<std::int64_t> wanted) const;
  bool is_own(std::int64_t number) const { return number >= first_row_ && number < first_row_ + own_rows_; }
  void build(const Context<Space::host>& ctx, const RankRows<T>& own, const std::vector<Ring>& rings);

  std::int64_t first_row_ = 0;
  Index own_begin_ = 0, own_rows_ = 0;
  std::vector<std::int64_t> outside_;  ///< rows of other ranks, ascending
  Array<Offset, Space::host> row_ptr_;
  Array<Index, Space::host> col_;
  Array<T, Space::host> val_;
  std::vector<std::unique_ptr<ValueExchange<T>>> exchanges_;  ///< one a step
  std::vector<std::vector<Piece>> pieces_;
};

}  // namespace newel::detail
