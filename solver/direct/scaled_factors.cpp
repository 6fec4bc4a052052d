// SPDX-License-Identifier: Apache-2.0
// Order, scaling and condition of a factorisation.
#include "solver/direct/scaled_factors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace newel::detail {
namespace {

constexpr int no_entry = std::numeric_limits<int>::min();

// Of a value that is neither 0 nor infinite nor NaN.
bool has_power(double value) { return value != 0 && std::isfinite(value); }

// Calls `visit` with entry, row and column of all entries by rows.
template <class Visit>
void each_entry(const ColumnPattern& rows, const Visit& visit) {
  for (Index i = 0; i < rows.size; ++i) {
    const auto at = static_cast<std::size_t>(i);
    for (Index e = rows.begin[at]; e < rows.begin[at + 1]; ++e) visit(e, i, rows.row[static_cast<std::size_t>(e)]);
  }
}

// The same matrix by columns, in another numbering. `new_row` may be empty, which leaves the rows as they are; of a
// symmetric one the upper triangle alone. `source` gets the entry by rows of each of its entries.
ColumnPattern renumbered(const ColumnPattern& rows, const std::vector<Index>& new_row,
                         const std::vector<Index>& new_column, bool upper, std::vector<Index>& source) {
  const auto n = static_cast<std::size_t>(rows.size);
  std::vector<Index> old_row(n);
  for (std::size_t i = 0; i < n; ++i) {
    old_row[new_row.empty() ? i : static_cast<std::size_t>(new_row[i])] = static_cast<Index>(i);
  }
  // Rows in their new order, so that those of a column come out ascending.
  const auto each = [&](const auto& visit) {
    for (Index r = 0; r < rows.size; ++r) {
      const auto old = static_cast<std::size_t>(old_row[static_cast<std::size_t>(r)]);
      for (Index e = rows.begin[old]; e < rows.begin[old + 1]; ++e) {
        const Index c = new_column[static_cast<std::size_t>(rows.row[static_cast<std::size_t>(e)])];
        if (!upper || r <= c) visit(e, r, static_cast<std::size_t>(c));
      }
    }
  };
  ColumnPattern made{rows.size, std::vector<Index>(n + 1, 0), {}};
  each([&](Index, Index, std::size_t c) { ++made.begin[c + 1]; });
  for (std::size_t c = 0; c < n; ++c) made.begin[c + 1] += made.begin[c];
  made.row.resize(static_cast<std::size_t>(made.begin.back()));
  source.resize(made.row.size());
  std::vector<Index> next(made.begin.begin(), made.begin.end() - 1);
  each([&](Index e, Index r, std::size_t c) {
    const auto to = static_cast<std::size_t>(next[c]++);
    made.row[to] = r;
    source[to] = e;
  });
  return made;
}

double sum_of_abs(const std::vector<double>& v) {
  double sum = 0;
  for (const double value : v) sum += std::fabs(value);
  return sum;
}

}  // namespace

ScaledFactors::ScaledFactors(const HostFactorisation& kind, std::shared_ptr<const ColumnPattern> rows,
                             double most_entries)
    : kind_(&kind), rows_(std::move(rows)) {
  if (kind.symmetric) {  // by rows is by columns
    factors_ = kind.make(*rows_, most_entries);
    new_row_ = new_column_ = factors_->order();
    return;
  }
  new_column_.resize(static_cast<std::size_t>(rows_->size));
  for (std::size_t j = 0; j < new_column_.size(); ++j) new_column_[j] = static_cast<Index>(j);
  pattern_ = renumbered(*rows_, {}, new_column_, false, source_);
  factors_ = kind.make(pattern_, most_entries);
  if (factors_->order().empty()) return;
  new_column_ = factors_->order();
  pattern_ = {};
}

void ScaledFactors::analyse() {
  if (pattern_.begin.empty()) pattern_ = renumbered(*rows_, new_row_, new_column_, kind_->symmetric, source_);
  factors_->analyse(pattern_);
}

// So that the largest entry of every row and of every column is about 1; of a symmetric matrix both sides alike.
void ScaledFactors::scale(const std::vector<double>& values) {
  const auto n = static_cast<std::size_t>(rows_->size);
  row_power_.assign(n, no_entry);
  each_entry(*rows_, [&](Index e, Index i, Index) {
    const double value = values[static_cast<std::size_t>(e)];
    int& power = row_power_[static_cast<std::size_t>(i)];
    if (has_power(value)) power = std::max(power, std::ilogb(value));
  });
  for (int& power : row_power_) power = power == no_entry ? 0 : kind_->symmetric ? -(power / 2) : -power;
  if (kind_->symmetric) {
    column_power_ = row_power_;
    return;
  }
  column_power_.assign(n, no_entry);
  each_entry(*rows_, [&](Index e, Index i, Index j) {
    const double value = values[static_cast<std::size_t>(e)];
    int& power = column_power_[static_cast<std::size_t>(j)];
    if (has_power(value)) power = std::max(power, std::ilogb(value) + row_power_[static_cast<std::size_t>(i)]);
  });
  for (int& power : column_power_) power = power == no_entry ? 0 : -power;
}

bool ScaledFactors::factorise(const std::vector<double>& values) {
  scale(values);
  std::vector<double> by_rows(values.size());
  each_entry(*rows_, [&](Index e, Index i, Index j) {
    const auto at = static_cast<std::size_t>(e);
    by_rows[at] =
        std::ldexp(values[at], row_power_[static_cast<std::size_t>(i)] + column_power_[static_cast<std::size_t>(j)]);
  });
  scaled_.resize(source_.size());
  for (std::size_t k = 0; k < source_.size(); ++k) scaled_[k] = by_rows[static_cast<std::size_t>(source_[k])];
  work_.resize(static_cast<std::size_t>(rows_->size));
  return factors_->factorise(scaled_);
}

// Between the two scalings the entries of v are at most about 1.
void ScaledFactors::solve(std::vector<double>& v, int exponent) {
  int most = no_entry;
  for (std::size_t i = 0; i < v.size(); ++i) {
    if (has_power(v[i])) most = std::max(most, std::ilogb(v[i]) + row_power_[i]);
  }
  if (most == no_entry) most = 0;
  for (std::size_t i = 0; i < v.size(); ++i) {
    work_[new_row_.empty() ? i : static_cast<std::size_t>(new_row_[i])] = std::ldexp(v[i], row_power_[i] - most);
  }
  factors_->solve(work_);
  for (std::size_t j = 0; j < v.size(); ++j) {
    v[j] = std::ldexp(work_[static_cast<std::size_t>(new_column_[j])], column_power_[j] + most + exponent);
  }
}

// |B|_1 of the matrix that was factorised, whose order changes neither norm. `scaled_` may be its upper triangle.
double ScaledFactors::condition() {
  std::vector<double> sums(static_cast<std::size_t>(rows_->size), 0.0);
  for (std::size_t c = 0; c < sums.size(); ++c) {
    for (Index e = pattern_.begin[c]; e < pattern_.begin[c + 1]; ++e) {
      const auto at = static_cast<std::size_t>(e), r = static_cast<std::size_t>(pattern_.row[at]);
      sums[c] += std::fabs(scaled_[at]);
      if (kind_->symmetric && r != c) sums[r] += std::fabs(scaled_[at]);
    }
  }
  const double norm = sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end());
  const double condition = norm * inverse_norm();
  return std::isfinite(condition) ? condition : std::numeric_limits<double>::infinity();
}

// |inverse(B)|_1 by maximising |inverse(B) v|_1 over |v|_1 = 1: from the mean of all unit vectors to that unit vector
// along which it grows most, until it grows no more; and at a vector of alternating signs that no such way meets.
double ScaledFactors::inverse_norm() {
  constexpr int most_steps = 5;
  const std::size_t n = static_cast<std::size_t>(rows_->size);
  if (n == 0) return 0;
  std::vector<double> v(n, 1.0 / static_cast<double>(n)), signs;
  double norm = 0;
  std::size_t unit = n;  // the vector is not one yet
  for (int step = 0; step < most_steps; ++step) {
    factors_->solve(v);
    const double now = sum_of_abs(v);
    if (!std::isfinite(now)) return now;
    if (step > 0 && now <= norm) break;
    norm = now;
    signs.resize(n);
    for (std::size_t i = 0; i < n; ++i) signs[i] = v[i] < 0 ? -1 : 1;
    factors_->solve_transposed(signs);
    const auto most =
        std::max_element(signs.begin(), signs.end(), [](double a, double b) { return std::fabs(a) < std::fabs(b); });
    const auto next = static_cast<std::size_t>(most - signs.begin());
    if (next == unit) break;
    unit = next;
    v.assign(n, 0.0);
    v[unit] = 1;
  }
  v.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double share = n > 1 ? static_cast<double>(i) / static_cast<double>(n - 1) : 0;
    v[i] = (i % 2 == 0 ? 1 : -1) * (1 + share);
  }
  factors_->solve(v);
  return std::max(norm, 2 * sum_of_abs(v) / (3 * static_cast<double>(n)));
}

ProductMatching matching_of(const Context<Space::host>& ctx, const ColumnPattern& rows,
                            const std::vector<double>& values) {
  EntrySizes sizes;
  sizes.begin.assign(rows.begin.begin(), rows.begin.end());
  sizes.col = Span<const Index, Space::host>(rows.row.data(), rows.entries());
  for (const double value : values) sizes.log2.push_back(entry_size(value));
  return product_matching(ctx, sizes);
}

}  // namespace newel::detail
