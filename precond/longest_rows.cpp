// SPDX-License-Identifier: Apache-2.0
// Long rows lose the entries that are worth the least.
#include "precond/longest_rows.hpp"

#include <cstdlib>
#include <tuple>
#include <utility>
#include <vector>

#include <newel/core/parallel.hpp>
#include "core/memory/work_limit.hpp"

namespace newel::detail {
namespace {

// The columns of row i that stay, ascending.
std::vector<Index> best_of_row(const Sparsity& from, Index i, Offset most, const EntryWorth& worth,
                               const RowNumber& number) {
  using Ranked = std::tuple<bool, double, std::int64_t, Index>;  // those that come first stay
  const auto distance = [&](Index j) { return std::abs(number ? number(j) - number(i) : std::int64_t{j} - i); };
  std::vector<Ranked> ranked;
  ranked.reserve(static_cast<std::size_t>(from.row_length(i)));
  for (Offset k = from.row_ptr[i]; k < from.row_ptr[i + 1]; ++k) {
    const Index j = from.col[k];
    const double value = worth(i, j);
    ranked.emplace_back(j != i, value >= 0 ? -value : 0, distance(j), j);  // NaN is worth nothing
  }
  std::nth_element(ranked.begin(), ranked.begin() + (most - 1), ranked.end());
  std::vector<Index> columns;
  for (Offset k = 0; k < most; ++k) columns.push_back(std::get<3>(ranked[static_cast<std::size_t>(k)]));
  std::sort(columns.begin(), columns.end());
  return columns;
}

}  // namespace

Sparsity without_long_rows(const Context<Space::host>& ctx, Sparsity pattern, Offset most, const EntryWorth& worth,
                           Index* shortened, const RowNumber& number) {
  std::vector<Index> long_rows;
  for (Index i = 0; i < pattern.rows; ++i) {
    if (pattern.row_length(i) > most) long_rows.push_back(i);
  }
  if (shortened != nullptr) *shortened = static_cast<Index>(long_rows.size());
  if (long_rows.empty()) return pattern;
  std::vector<std::vector<Index>> kept(long_rows.size());
  const WorkLimit& limit = work_limit(ctx);
  parallel_blocks(ctx, static_cast<std::int64_t>(long_rows.size()), 4, [&](std::int64_t k) {
    limit.check();
    kept[k] = best_of_row(pattern, long_rows[k], most, worth, number);
  });
  Sparsity to;
  to.rows = pattern.rows;
  to.cols = pattern.cols;
  to.row_ptr = Array<Offset, Space::host>(ctx, Offset{pattern.rows} + 1);
  to.row_ptr[0] = 0;
  for (Index i = 0; i < to.rows; ++i) to.row_ptr[i + 1] = to.row_ptr[i] + std::min(most, pattern.row_length(i));
  to.col = Array<Index, Space::host>(ctx, to.row_ptr[to.rows]);
  parallel_for(ctx, to.rows, [&](Index i) {
    if (pattern.row_length(i) > most) return;
    std::copy(pattern.col.begin() + pattern.row_ptr[i], pattern.col.begin() + pattern.row_ptr[i + 1],
              to.col.begin() + to.row_ptr[i]);
  });
  for (std::size_t k = 0; k < kept.size(); ++k) {
    std::copy(kept[k].begin(), kept[k].end(), to.col.begin() + to.row_ptr[long_rows[k]]);
  }
  return to;
}

}  // namespace newel::detail
