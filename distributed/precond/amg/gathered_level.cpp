// SPDX-License-Identifier: Apache-2.0
// Every rank gets the rows of all ranks.
#include "distributed/precond/amg/gathered_level.hpp"

#include <algorithm>
#include <utility>

#include "distributed/rows/numbers_text.hpp"
#include "precond/amg/transfer/near_null.hpp"

namespace newel::detail {
namespace {

// The blocks of a level's rows with columns of the whole level, which ascend.
struct WholeColumns {
  std::vector<std::int64_t> lengths_and_columns;  // the length of each row before its columns
  std::vector<Offset> block;                      // where each stands

  explicit WholeColumns(const RankLevel& level) {
    const HostBlockPattern& a = level.own.a.pattern;
    std::vector<std::pair<std::int64_t, Offset>> row;
    for (Index i = 0; i < a.rows; ++i) {
      row.clear();
      for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) row.emplace_back(level.number_of(a.col[k]), k);
      std::sort(row.begin(), row.end());
      lengths_and_columns.push_back(static_cast<std::int64_t>(row.size()));
      for (const auto& [column, k] : row) {
        lengths_and_columns.push_back(column);
        block.push_back(k);
      }
    }
  }
};

// Where block (i, j) stands.
Offset place_of(const HostBlockPattern& a, Index i, Index j) {
  return std::lower_bound(a.col.data() + a.row_ptr[i], a.col.data() + a.row_ptr[i + 1], j) - a.col.data();
}

}  // namespace

std::vector<double> gather_values(const HostContext& ctx, const std::vector<double>& own) {
  std::vector<double> all;
  for (const std::string& text : ctx.ranks()->communicator->texts(text_of_numbers(own))) {
    const std::vector<double> of_rank = numbers_of<double>(text);
    all.insert(all.end(), of_rank.begin(), of_rank.end());
  }
  return all;
}

GatheredLevel::GatheredLevel(const HostContext& ctx, const RankLevel& level, const NearNull<Space::host>& near_null,
                             bool symmetric)
    : near_null_{near_null.vectors, gather_values(ctx, near_null.values)} {
  const HostBlockCsr& own = level.own.a;
  const Offset size = own.block_size();
  const WholeColumns columns(level);
  HostBlockPattern come;
  come.rows = come.cols = static_cast<Index>(level.all_nodes());
  come.row_ptr = Array<Offset, Space::host>(ctx, Offset{come.rows} + 1);
  come.row_ptr[0] = 0;
  std::vector<Index> col;
  std::vector<Offset> received;
  Index row = 0;
  for (const std::string& text : ctx.ranks()->communicator->texts(text_of_numbers(columns.lengths_and_columns))) {
    const std::vector<std::int64_t> of_rank = numbers_of<std::int64_t>(text);
    const std::size_t before = col.size();
    for (auto at = of_rank.begin(); at != of_rank.end();) {
      const auto end = at + 1 + *at;
      std::transform(at + 1, end, std::back_inserter(col), [](std::int64_t j) { return static_cast<Index>(j); });
      come.row_ptr[++row] = static_cast<Offset>(col.size());
      at = end;
    }
    received.push_back(static_cast<Offset>(col.size() - before) * size);
  }
  come.col = make_array(ctx, col);
  a_.row_block = a_.col_block = own.row_block;
  if (symmetric) {
    a_.pattern = united(ctx, come, transpose(ctx, come).pattern);
    place_ = Array<Offset, Space::host>(ctx, come.blocks());
    for (Index i = 0; i < come.rows; ++i) {
      for (Offset k = come.row_ptr[i]; k < come.row_ptr[i + 1]; ++k) place_[k] = place_of(a_.pattern, i, come.col[k]);
    }
  } else {
    a_.pattern = std::move(come);
  }
  a_.val = Array<double, Space::host>(ctx, a_.pattern.blocks() * size);
  std::fill(a_.val.begin(), a_.val.end(), 0.0);
  std::vector<Offset> sent;
  for (const Offset k : columns.block) {
    for (Offset e = 0; e < size; ++e) sent.push_back(k * size + e);
  }
  values_ =
      std::make_unique<ValueExchange<double>>(ctx, std::vector<std::vector<Offset>>(received.size(), sent), received);
  refresh(level);
}

void GatheredLevel::refresh(const RankLevel& level) {
  const Span<const double, Space::host> come = values_->run(level.own.a.val.cspan());
  if (place_.empty()) {
    std::copy(come.begin(), come.end(), a_.val.begin());
    return;
  }
  const Offset size = a_.block_size();
  for (Offset k = 0; k < place_.size(); ++k) std::copy_n(come.begin() + k * size, size, a_.block(place_[k]));
}

std::uint64_t GatheredLevel::bytes() const {
  return a_.bytes() + place_.bytes() + near_null_.values.size() * sizeof(double) +
         (values_ == nullptr ? 0 : values_->bytes());
}

}  // namespace newel::detail
