// SPDX-License-Identifier: Apache-2.0
/// GhostNodes: the nodes of other ranks that the rows of a multigrid level reach, and their values. Internal.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "distributed/precond/amg/stage_arrays.hpp"
#include "distributed/rows/value_exchange.hpp"

namespace newel::detail {

/// All ranks make theirs together, and call its functions together. Contexts have ranks.
class GhostNodes {
 public:
  GhostNodes() = default;
  /// `first_nodes`: the first node of each rank, and how many there are. `numbers`: of the ghosts in the whole level,
  /// ascending.
  GhostNodes(const HostContext& ctx, const std::vector<std::int64_t>& first_nodes, std::vector<std::int64_t> numbers);

  const std::vector<std::int64_t>& numbers() const { return numbers_; }
  Index count() const { return static_cast<Index>(numbers_.size()); }
  /// For each rank the nodes of this rank that it reaches, counted from this rank's first.
  const std::vector<std::vector<Index>>& asked() const { return asked_; }

  /// `values` has `width` values for each node of this rank, to which those of the ghosts are appended.
  template <Space S>
  void append(const Context<S>& ctx, int width, StageArray<double, S>& values) const {
    extend(ctx, values, Offset{count()} * width);
    fill(ctx, *exchange(ctx, width), values);
  }

  /// An exchange of `width` values a node, to be used often: see `fill`.
  template <Space S>
  std::unique_ptr<ValueExchange<double, S>> exchange(const Context<S>& ctx, int width) const;
  /// `values` has places for this rank's nodes, and then for the ghosts, whose values are set.
  template <Space S>
  static void fill(const Context<S>& ctx, ValueExchange<double, S>& exchange, StageArray<double, S>& values) {
    const Span<double, S> all = span_of(values);
    const Span<const double, S> come = exchange.run(all);
    copy<double>(ctx, come, last_of(all, come.size));
  }

  std::uint64_t bytes() const;

 private:
  std::vector<std::int64_t> numbers_;
  std::vector<Index> of_rank_;  ///< how many of them each rank has
  std::vector<std::vector<Index>> asked_;
};

/// The rows of a prolongator for all columns of a level's matrix: this rank's, then those of the ghosts, fetched.
template <Space S>
class ColumnRows {
 public:
  ColumnRows() = default;
  /// `p`: this rank's rows, whose columns are coarse nodes of this rank; `first_coarse`: as `first_nodes`, of these.
  ColumnRows(const Context<S>& ctx, const GhostNodes& ghosts, const BlockCsr<S>& p,
             const std::vector<std::int64_t>& first_coarse);

  /// New values of the same pattern.
  void refresh(const Context<S>& ctx, const BlockCsr<S>& p);

  /// Its columns are this rank's coarse nodes, then the coarse ghosts.
  const BlockCsr<S>& rows() const { return rows_; }
  /// Coarse nodes of other ranks, ascending.
  const std::vector<std::int64_t>& coarse_ghosts() const { return coarse_ghosts_; }
  std::uint64_t bytes() const { return rows_.bytes() + (values_ == nullptr ? 0 : values_->bytes()); }

 private:
  BlockCsr<S> rows_;
  std::vector<std::int64_t> coarse_ghosts_;
  std::unique_ptr<ValueExchange<double, S>> values_;  ///< of the ghosts' rows
};

}  // namespace newel::detail
