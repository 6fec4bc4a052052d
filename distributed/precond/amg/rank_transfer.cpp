// SPDX-License-Identifier: Apache-2.0
// Prolongators of a rank in single entries.
#include "distributed/precond/amg/rank_transfer.hpp"

#include <algorithm>
#include <utility>

#include "core/vectors/instantiate.hpp"
#include "distributed/rows/rank_info.hpp"
#include "distributed/rows/values_in_space.hpp"

namespace newel::detail {
namespace {

// The rows of P, or of its transpose, one after the other.
class PartOfRows {
 public:
  void add(Index column, Offset source) { row_.emplace_back(column, source); }
  void end_row() {
    std::sort(row_.begin(), row_.end());
    for (const auto& [column, source] : row_) {
      part_.col.push_back(column);
      part_.source.push_back(source);
    }
    part_.row_ptr.push_back(static_cast<Offset>(part_.col.size()));
    row_.clear();
  }
  const RowPart& part() const { return part_; }

 private:
  RowPart part_;
  std::vector<std::pair<Index, Offset>> row_;
};

PartOfRows rows_of(const HostBlockCsr& p, const RankLevelOrder& fine, const RankLevelOrder& coarse) {
  PartOfRows rows;
  for (Index i = 0; i < p.scalar_rows(); ++i) {
    const Index node = fine.old_row(i) / p.row_block, r = fine.old_row(i) % p.row_block;
    for (Offset k = p.pattern.row_ptr[node]; k < p.pattern.row_ptr[node + 1]; ++k) {
      for (int c = 0; c < p.col_block; ++c) {
        rows.add(coarse.new_row(p.pattern.col[k] * p.col_block + c), k * p.block_size() + r * p.col_block + c);
      }
    }
    rows.end_row();
  }
  return rows;
}

PartOfRows columns_of(const HostBlockCsr& p, const TransposedPattern<Space::host>& transposed,
                      const RankLevelOrder& fine, const RankLevelOrder& coarse) {
  PartOfRows rows;
  const HostBlockPattern& pattern = transposed.pattern;
  for (Index j = 0; j < p.scalar_cols(); ++j) {
    const Index node = coarse.old_row(j) / p.col_block, c = coarse.old_row(j) % p.col_block;
    for (Offset k = pattern.row_ptr[node]; k < pattern.row_ptr[node + 1]; ++k) {
      for (int r = 0; r < p.row_block; ++r) {
        rows.add(fine.new_row(pattern.col[k] * p.row_block + r),
                 transposed.source[k] * p.block_size() + r * p.col_block + c);
      }
    }
    rows.end_row();
  }
  return rows;
}

template <class T>
std::vector<T> in_precision(const Array<double, Space::host>& values) {
  return {values.begin(), values.end()};
}

}  // namespace

RankLevelOrder::RankLevelOrder(std::vector<Index> old) : old_of_new(std::move(old)), new_of_old(old_of_new.size()) {
  for (std::size_t i = 0; i < old_of_new.size(); ++i) {
    new_of_old[static_cast<std::size_t>(old_of_new[i])] = static_cast<Index>(i);
  }
}

template <class T, Space S>
RankTransfer<T, S>::RankTransfer(const Context<S>& ctx, const RankLevel& level, const RankLevelOrder& fine,
                                 const RankLevelOrder& coarse) {
  const HostBlockCsr& p = level.own.p;
  const std::vector<T> values = in_precision<T>(p.val);
  p_ = part_operator<T, S>(ctx, rows_of(p, fine, coarse).part(), p.scalar_cols(), values);
  transposed_ = part_operator<T, S>(ctx, columns_of(p, level.own.galerkin.transposed(), fine, coarse).part(),
                                    p.scalar_rows(), values);
}

// A map without entries is that of a matrix whose values are the caller's, as they are.
template <class T, Space S>
void RankTransfer<T, S>::refresh(const Context<S>& ctx, const RankLevel& level) {
  if (level.own.p.val.empty()) return;
  Array<T, S> kept;
  const std::vector<T> values = in_precision<T>(level.own.p.val);
  const Span<const T, S> there = in_space<T, S>(ctx, Span<const T, Space::host>(values), kept);
  p_->refresh(ctx, there);
  transposed_->refresh(ctx, there);
}

template <class T, Space S>
OperatorInfo RankTransfer<T, S>::info() const {
  return exists() ? joined(p_->info(), transposed_->info()) : OperatorInfo{};
}

#define X(T, S) template class RankTransfer<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
