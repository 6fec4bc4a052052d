// SPDX-License-Identifier: Apache-2.0
// The pattern and the values of an approximate Schur complement.
#include "precond/saddle/schur_sum.hpp"

#include <algorithm>

#include <newel/core/parallel.hpp>

namespace newel::detail {
namespace {

using HostContext = Context<Space::host>;

constexpr std::int64_t few_rows = 64;  // of a product, which one thread takes at least

// f(column, entry) for the entries of a row.
template <class F>
void for_row(const SaddlePattern& block, Index i, F&& f) {
  for (Offset k = block.row_ptr[i]; k < block.row_ptr[i + 1]; ++k) f(block.col[k], k);
}

// The columns of row i of G F, of E, and i itself; `seen[j]` is `mark` for those that are there.
void find_row(const SaddlePatterns& of, Index i, std::vector<Index>& seen, std::vector<Index>& columns) {
  columns.clear();
  const auto add = [&](Index column, Offset) {
    if (seen[column] == i) return;
    seen[column] = i;
    columns.push_back(column);
  };
  add(i, 0);
  for_row(of.constraint, i, add);
  for_row(of.transposed, i, [&](Index k, Offset) { for_row(of.coupling, k, add); });
}

}  // namespace

SchurSum::SchurSum(const HostContext& ctx, const SaddlePatterns& patterns, bool whole) : of_(&patterns) {
  if (!whole) return;
  const Index rows = patterns.constraint.rows;
  row_ptr_ = Array<Offset, Space::host>(ctx, Offset{rows} + 1);
  row_ptr_[0] = 0;
  const auto for_columns = [&](auto&& f) {
    parallel_ranges(
        ctx, rows,
        [&](Index begin, Index end) {
          std::vector<Index> seen(static_cast<std::size_t>(rows), -1), columns;
          for (Index i = begin; i < end; ++i) {
            find_row(patterns, i, seen, columns);
            f(i, columns);
          }
        },
        few_rows);
  };
  for_columns(
      [&](Index i, const std::vector<Index>& columns) { row_ptr_[i + 1] = static_cast<Offset>(columns.size()); });
  for (Index i = 0; i < rows; ++i) row_ptr_[i + 1] += row_ptr_[i];
  col_ = Array<Index, Space::host>(ctx, row_ptr_[rows]);
  for_columns([&](Index i, std::vector<Index>& columns) {
    std::sort(columns.begin(), columns.end());
    std::copy(columns.begin(), columns.end(), col_.data() + row_ptr_[i]);
  });
}

std::vector<double> SchurSum::diagonal(const HostContext& ctx, const SaddleValues& values, double* sign) const {
  const Index rows = of_->constraint.rows;
  std::vector<double> sums(static_cast<std::size_t>(rows), 0.0);
  parallel_for(ctx, rows, [&](Index i) {
    double sum = 0;
    for_row(of_->transposed, i, [&](Index k, Offset g) {
      const Index* const end = of_->coupling.col.data() + of_->coupling.row_ptr[k + 1];
      const Index* const at = std::lower_bound(of_->coupling.col.data() + of_->coupling.row_ptr[k], end, i);
      if (at == end || *at != i) return;
      sum += values.transposed[g] * values.coupling[at - of_->coupling.col.data()] / values.diagonal[k];
    });
    for_row(of_->constraint, i, [&](Index j, Offset e) { sum -= j == i ? values.constraint[e] : 0; });
    sums[i] = sum;
  });
  const auto negative = std::count_if(sums.begin(), sums.end(), [](double sum) { return sum < 0; });
  *sign = 2 * negative > rows ? -1 : 1;
  return sums;
}

Array<double, Space::host> SchurSum::values(const HostContext& ctx, const SaddleValues& of, double sign) const {
  const Index rows = of_->constraint.rows;
  Array<double, Space::host> result(ctx, col_.size());
  parallel_ranges(
      ctx, rows,
      [&](Index begin, Index end) {
        std::vector<double> sums(static_cast<std::size_t>(rows), 0.0);
        for (Index i = begin; i < end; ++i) {
          for_row(of_->constraint, i, [&](Index j, Offset e) { sums[j] -= of.constraint[e]; });
          for_row(of_->transposed, i, [&](Index k, Offset g) {
            const double factor = of.transposed[g] / of.diagonal[k];
            for_row(of_->coupling, k, [&](Index j, Offset f) { sums[j] += factor * of.coupling[f]; });
          });
          for (Offset k = row_ptr_[i]; k < row_ptr_[i + 1]; ++k) {
            const Index j = col_[k];
            result[k] = j == i && sums[j] == 0 ? 1 : sign * sums[j];
            sums[j] = 0;
          }
        }
      },
      few_rows);
  return result;
}

double SchurSum::work(const SaddlePatterns& patterns) {
  double count = 0;
  for (const Index k : patterns.transposed.col) {
    count += static_cast<double>(patterns.coupling.row_ptr[k + 1] - patterns.coupling.row_ptr[k]);
  }
  return count;
}

Pattern<Space::host> SchurSum::pattern() const {
  const Index rows = of_->constraint.rows;
  Pattern<Space::host> found;
  found.rows = found.cols = rows;
  found.row_ptr64 = row_ptr_.cspan();
  found.col = col_.cspan();
  return found;
}

}  // namespace newel::detail
