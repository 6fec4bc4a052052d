// SPDX-License-Identifier: Apache-2.0
// Levels of multigrid on ranks as operators.
#include "distributed/precond/amg/level_operator.hpp"

#include <numeric>
#include <utility>
#include <vector>

#include <newel/core/vector_ops.hpp>
#include <newel/spmv/registry.hpp>
#include "core/ranks/device_ranks.hpp"
#include "core/vectors/instantiate.hpp"
#include "core/vectors/over_ranks.hpp"
#include "distributed/precond/amg/column_split.hpp"
#include "distributed/rows/rank_info.hpp"
#include "precond/amg/blocks/placed_csr.hpp"
#include "reorder/permute_pattern.hpp"

namespace newel::detail {
namespace {

// The entries of a level in the order of its vectors; columns of ghosts come last, as they are.
template <Space S>
ScalarPattern<S> entries_in(const Context<S>& ctx, const BlockCsr<S>& a, const LevelOrder<S>& order) {
  ScalarPattern<S> entries = scalar_rows(ctx, a);
  if (order.old_of_new.empty()) return entries;
  std::vector<Index> columns = to_vector(ctx, order.new_of_old.cspan());
  for (auto j = static_cast<Index>(columns.size()); j < entries.cols; ++j) columns.push_back(j);
  const Array<Index, S> new_columns = make_array(ctx, columns);
  Pattern<S> pattern;
  pattern.rows = entries.rows;
  pattern.cols = entries.cols;
  pattern.row_ptr64 = entries.row_ptr.cspan();
  pattern.col = entries.col.cspan();
  PermutedPattern<S> permuted = permute_pattern(ctx, pattern, order.old_of_new.cspan(), new_columns.cspan());
  return {entries.rows, entries.cols, std::move(permuted.row_ptr), std::move(permuted.col),
          taken(ctx, entries.source.cspan(), permuted.source.cspan())};
}

template <class T, Space S>
OperatorPtr<T, S> csr_of(const Context<S>& ctx, const ScalarPattern<S>& part, Span<const double, S> values) {
  const PlacedCsr<T, S> placed(ctx, part, part.col.empty() ? Span<const double, S>() : values);
  return make_spmv<T, S>(ctx, placed.view(), RowOrder<S>{}, SpmvOptions{"csr"});
}

// The rows of other ranks behind those of a level, and where its own rows stand in the order of vectors.
template <Space S>
std::vector<std::int64_t> ghost_rows(const RankLevel<S>& level) {
  std::vector<std::int64_t> rows;
  const int b = level.own.a.row_block;
  for (const std::int64_t node : level.ghosts.numbers()) {
    for (int r = 0; r < b; ++r) rows.push_back(node * b + r);
  }
  return rows;
}
template <Space S>
std::vector<Index> places_of_rows(const Context<S>& ctx, Index rows, const LevelOrder<S>& order) {
  if (!order.new_of_old.empty()) return to_vector(ctx, order.new_of_old.cspan());
  std::vector<Index> places(static_cast<std::size_t>(rows));
  std::iota(places.begin(), places.end(), Index{0});
  return places;
}

}  // namespace

template <class T, Space S>
LevelOperator<T, S>::LevelOperator(const Context<S>& ctx, const RankLevel<S>& level, const LevelOrder<S>& order)
    : rows_(level.own.a.scalar_rows()) {
  const BlockCsr<S>& a = level.own.a;
  if constexpr (S == Space::device) {
    capturable_ = ranks_of(ctx)->device->capturable();
    if (a.row_block > 1) {
      blocks_ = std::make_unique<BlockRows<T>>(ctx, a);
      if (!order.new_of_old.empty()) place_ = order.new_of_old.data();
    }
  }
  if (blocks_ == nullptr) make_csr(ctx, a, order);
  const Context<S>& of_halo = side_ != nullptr ? side_->context() : ctx;
  halo_ = std::make_unique<Halo<T, S>>(of_halo, level.first_rows(), std::vector<Index>(), ghost_rows(level),
                                       places_of_rows(ctx, rows_, order));
}

template <class T, Space S>
void LevelOperator<T, S>::make_csr(const Context<S>& ctx, const BlockCsr<S>& a, const LevelOrder<S>& order) {
  const ColumnSplit<S> split = split_columns(ctx, entries_in(ctx, a, order), rows_);
  own_ = csr_of<T>(ctx, split.own, a.val.cspan());
  others_ = csr_of<T>(ctx, split.others, a.val.cspan());
  has_own_ = !split.own.col.empty();
  has_others_ = !split.others.col.empty();
  others_begin_ = split.others_begin;
  side_ = std::make_unique<SideWork<S>>(ctx);
}

// A map without entries is that of a matrix whose values are the caller's, as they are.
template <class T, Space S>
void LevelOperator<T, S>::refresh(const Context<S>& ctx, const BlockCsr<S>& a) {
  if constexpr (S == Space::device) {
    if (blocks_ != nullptr) return blocks_->refresh(ctx, a);
  }
  Span<const T, S> values;
  if constexpr (std::is_same_v<T, double>) {
    values = a.val.cspan();
  } else {
    if (converted_.size() != a.val.size()) converted_ = Array<T, S>(ctx, a.val.size());
    convert(ctx, a.val.cspan(), converted_.span());
    values = converted_.cspan();
  }
  if (has_own_) own_->refresh(ctx, values);
  if (has_others_) others_->refresh(ctx, values);
}

template <class T, Space S>
void LevelOperator<T, S>::apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const {
  if constexpr (S == Space::device) {
    if (blocks_ != nullptr) {
      halo_->start(ctx, x);
      halo_->finish();
      return multiply_add(ctx, *blocks_, alpha, x.data, place_, rows_, halo_->values().data, beta, y.data);
    }
  }
  side_->start();
  halo_->start(side_->context(), x);
  own_->apply(ctx, alpha, x, beta, y);
  halo_->finish();
  side_->finish();
  if (has_others_) others_->apply(ctx, alpha, halo_->values(), T(1), y.subspan(others_begin_, others_->rows()));
}

template <class T, Space S>
OperatorTraits<T, S> LevelOperator<T, S>::traits() const {
  return {capturable_ && (blocks_ != nullptr || (own_->capturable() && others_->capturable()))};
}

template <class T, Space S>
OperatorInfo LevelOperator<T, S>::info() const {
  if (blocks_ == nullptr) return joined(own_->info(), others_->info());
  OperatorInfo info;
  info.rows = info.cols = rows_;
  if constexpr (S == Space::device) {
    info.nonzeros = info.stored_slots = blocks_->entries();
    info.bytes_per_product = blocks_->bytes_read() + 2 * sizeof(T) * static_cast<std::uint64_t>(rows_);
    info.bytes = {{"blocks", blocks_->bytes()}};
  }
  return info;
}

#define X(T, S) template class LevelOperator<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
