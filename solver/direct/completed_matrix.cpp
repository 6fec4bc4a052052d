// SPDX-License-Identifier: Apache-2.0
// Rows and columns without a partner are paired with each other.
#include "solver/direct/completed_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/memory/work_limit.hpp"
#include "solver/direct/scaled_factors.hpp"

namespace newel::detail {
namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// About as large as the other entries, once both scalings of the matching have been applied.
double value_for(double log2_of_scaling) {
  constexpr double most = 1000;
  return std::exp2(std::round(std::clamp(-log2_of_scaling, -most, most)));
}

}  // namespace

CompletedMatrix::CompletedMatrix(ColumnPattern rows)
    : rows_(std::make_shared<const ColumnPattern>(std::move(rows))) {}

std::vector<double>& CompletedMatrix::new_values() {
  values_.resize(rows_->row.size());
  matching_.reset();
  return values_;
}

bool CompletedMatrix::is_finite() const {
  return std::all_of(values_.begin(), values_.end(), [](double value) { return std::isfinite(value); });
}

// Null: a value is not finite, or the time is over.
const ProductMatching* CompletedMatrix::matching(const Context<Space::host>& ctx) {
  if (matching_) return &*matching_;
  if (!is_finite()) return nullptr;
  try {
    matching_ = matching_of(ctx, *rows_, values_);
  } catch (const WorkInterrupted&) {
    return nullptr;
  }
  return &*matching_;
}

bool CompletedMatrix::has_full_diagonal() const {
  Index found = 0;
  for (Index i = 0; i < rows_->size; ++i) {
    for (Index e = rows_->begin[at(i)]; e < rows_->begin[at(i) + 1]; ++e) {
      if (rows_->row[at(e)] == i && values_[at(e)] != 0) ++found;
    }
  }
  return found == rows_->size;
}

bool CompletedMatrix::complete(const Context<Space::host>& ctx) {
  const ProductMatching* const found = made_ ? nullptr : matching(ctx);
  if (found == nullptr || found->perfect()) return false;
  made_.emplace(*rows_, *found);
  made_->take_values(values_);
  return true;
}

bool CompletedMatrix::renew(const Context<Space::host>& ctx) {
  if (!made_) return false;
  const ProductMatching* const found = matching(ctx);
  const bool same = found != nullptr && made_->is_for(*found);
  if (!same) made_.reset();
  if (!same && found != nullptr && !found->perfect()) made_.emplace(*rows_, *found);
  if (made_) made_->take_values(values_);
  return !same;
}

// A row and a column of the same number are paired first: of a symmetric matrix that makes a symmetric one.
std::vector<Completion::Added> Completion::entries_for(const ProductMatching& matching) {
  const std::size_t n = matching.column_of_row.size();
  std::vector<char> has_row(n, 0);
  for (const Index j : matching.column_of_row) {
    if (j >= 0) has_row[at(j)] = 1;
  }
  std::vector<Added> added;
  std::vector<Index> rows, columns;
  const auto pair = [&](Index i, Index j) {
    added.push_back({i, j, value_for(matching.row_log2[at(i)] + matching.column_log2[at(j)])});
  };
  for (Index k = 0; k < static_cast<Index>(n); ++k) {
    const bool row_remains = matching.column_of_row[at(k)] < 0, column_remains = has_row[at(k)] == 0;
    if (row_remains && column_remains) {
      pair(k, k);
    } else if (row_remains) {
      rows.push_back(k);
    } else if (column_remains) {
      columns.push_back(k);
    }
  }
  for (std::size_t k = 0; k < rows.size(); ++k) pair(rows[k], columns[k]);
  std::sort(added.begin(), added.end(), [](const Added& a, const Added& b) { return a.row < b.row; });
  return added;
}

Completion::Completion(const ColumnPattern& rows, const ProductMatching& matching)
    : entries_(entries_for(matching)), place_(rows.row.size()) {
  ColumnPattern made{rows.size, {0}, {}};
  made.begin.reserve(rows.begin.size());
  made.row.reserve(rows.row.size() + entries_.size());
  auto next = entries_.begin();
  for (Index i = 0; i < rows.size; ++i) {
    Added* const mine = next != entries_.end() && next->row == i ? &*next++ : nullptr;
    const auto add_mine = [&] {
      mine->entry = made.entries();
      made.row.push_back(mine->column);
    };
    for (Index e = rows.begin[at(i)]; e < rows.begin[at(i) + 1]; ++e) {
      const Index column = rows.row[at(e)];
      if (mine != nullptr && mine->entry < 0 && mine->column <= column) add_mine();
      const bool is_stored_zero = mine != nullptr && mine->column == column;
      place_[at(e)] = is_stored_zero ? mine->entry : made.entries();
      if (!is_stored_zero) made.row.push_back(column);
    }
    if (mine != nullptr && mine->entry < 0) add_mine();
    made.begin.push_back(made.entries());
  }
  values_.resize(made.row.size());
  rows_ = std::make_shared<const ColumnPattern>(std::move(made));
}

void Completion::take_values(const std::vector<double>& of_A) {
  std::vector<char> used(at(rows_->size), 0);
  for (std::size_t e = 0; e < of_A.size(); ++e) {
    const Index to = place_[e];
    values_[at(to)] = of_A[e];
    if (of_A[e] != 0) used[at(rows_->row[at(to)])] = 1;
  }
  for (Added& one : entries_) {
    values_[at(one.entry)] = one.value;
    one.idle = used[at(one.column)] == 0;
  }
}

void Completion::clear_idle(std::vector<double>& v) const {
  const auto n = at(rows_->size);
  for (const Added& one : entries_) {
    for (std::size_t j = at(one.column); one.idle && j < v.size(); j += n) v[j] = 0;
  }
}

bool Completion::is_symmetric() const {
  return std::all_of(entries_.begin(), entries_.end(), [](const Added& one) { return one.row == one.column; });
}

bool Completion::is_for(const ProductMatching& matching) const {
  const std::vector<Added> needed = entries_for(matching);
  return std::equal(needed.begin(), needed.end(), entries_.begin(), entries_.end(),
                    [](const Added& a, const Added& b) { return a.row == b.row && a.column == b.column; });
}

std::vector<double> Completion::added_times(const std::vector<double>& x) const {
  std::vector<double> product(x.size(), 0.0);
  for (const Added& one : entries_) product[at(one.row)] = one.value * x[at(one.column)];
  return product;
}

std::vector<double> Completion::added_transposed_times(const std::vector<double>& z) const {
  std::vector<double> product(z.size(), 0.0);
  for (const Added& one : entries_) product[at(one.column)] = one.value * z[at(one.row)];
  return product;
}

void Completion::subtract_transposed_product(const std::vector<double>& z, std::vector<double>& w) const {
  for (Index i = 0; i < rows_->size; ++i) {
    for (Index e = rows_->begin[at(i)]; e < rows_->begin[at(i) + 1]; ++e) {
      w[at(rows_->row[at(e)])] -= values_[at(e)] * z[at(i)];
    }
  }
}

void CompletedMatrix::name_unmatched(const Context<Space::host>& ctx, Failure& failure) {
  const ProductMatching* const m = matching(ctx);
  if (m == nullptr || m->perfect()) return;
  failure.structural_rank = m->matched;
  failure.unmatched_row = m->unmatched_row();
  failure.unmatched_column = m->unmatched_column();
}

double inner_product_of(const std::vector<double>& v, const std::vector<double>& w) {
  return std::inner_product(v.begin(), v.end(), w.begin(), 0.0);
}

void add_times(double a, const std::vector<double>& v, std::vector<double>& w) {
  for (std::size_t i = 0; i < w.size(); ++i) w[i] += a * v[i];
}

std::optional<int> normalise(std::vector<double>& v) {
  double largest = 0;
  for (const double value : v) largest = std::max(largest, std::isfinite(value) ? std::fabs(value) : INFINITY);
  if (!(largest > 0) || !std::isfinite(largest)) return std::nullopt;
  const int power = std::ilogb(largest);
  for (double& value : v) value = std::ldexp(value, -power);
  return power;
}

double norm_of(std::vector<double> v) {
  const bool finite = std::all_of(v.begin(), v.end(), [](double value) { return std::isfinite(value); });
  if (!finite) return INFINITY;
  const std::optional<int> power = normalise(v);
  return power ? std::ldexp(std::sqrt(inner_product_of(v, v)), *power) : 0;
}

}  // namespace newel::detail
