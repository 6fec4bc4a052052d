// SPDX-License-Identifier: Apache-2.0
// Order, scaling and condition of a factorisation.
#include "solver/direct/scaled_factors.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

namespace newel::detail {
namespace {

constexpr int no_entry = std::numeric_limits<int>::min();

// The bits of |value|, which ascend with it; NaN is above infinity.
std::uint64_t size_bits(double value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits & ~(std::uint64_t{1} << 63);
}

// The largest k with 2^k <= |value|; `no_entry` if it is 0, infinite or NaN.
int power_of_bits(std::uint64_t bits) {
  constexpr int bias = 1023, mask = 0x7ff;
  const int biased = static_cast<int>(bits >> 52);
  if (biased == mask) return no_entry;
  if (biased > 0) return biased - bias;
  double small = 0;
  std::memcpy(&small, &bits, sizeof small);
  return small == 0 ? no_entry : std::ilogb(small);
}

// 2^power value, without the call that std::ldexp is.
double times_power(double value, int power) {
  constexpr int least = -1022, most = 1023;
  if (power < least || power > most) return std::ldexp(value, power);
  const auto bits = static_cast<std::uint64_t>(power + most) << 52;
  double factor = 0;
  std::memcpy(&factor, &bits, sizeof factor);
  return factor * value;
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
                             double most_entries, SymmetricOrders& orders)
    : kind_(&kind), rows_(std::move(rows)) {
  if (kind.symmetric) {  // by rows is by columns
    factors_ = kind.make({*rows_, most_entries, orders});
    new_row_ = new_column_ = factors_->order();
    return;
  }
  new_column_.resize(static_cast<std::size_t>(rows_->size));
  for (std::size_t j = 0; j < new_column_.size(); ++j) new_column_[j] = static_cast<Index>(j);
  pattern_ = renumbered(*rows_, {}, new_column_, false, source_);
  factors_ = kind.make({pattern_, most_entries, orders});
  if (factors_->order().empty()) return;
  new_column_ = factors_->order();
  pattern_ = {};
}

void ScaledFactors::analyse() {
  if (pattern_.begin.empty()) pattern_ = renumbered(*rows_, new_row_, new_column_, kind_->symmetric, source_);
  factors_->analyse(pattern_);
}

// So that the largest entry of every row is about 1; of a symmetric matrix half of that, since columns get it too.
// False: a value is not finite.
bool ScaledFactors::scale_rows(const std::vector<double>& values) {
  constexpr std::uint64_t infinity = std::uint64_t{0x7ff} << 52;
  const auto n = static_cast<std::size_t>(rows_->size);
  std::uint64_t largest = 0;
  row_power_.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto end = static_cast<std::size_t>(rows_->begin[i + 1]);
    std::uint64_t most = 0;
    for (auto e = static_cast<std::size_t>(rows_->begin[i]); e < end; ++e)
      most = std::max(most, size_bits(values[e]));
    largest = std::max(largest, most);
    const int power = power_of_bits(most);
    row_power_[i] = power == no_entry ? 0 : kind_->symmetric ? -(power / 2) : -power;
  }
  return largest < infinity;
}

// The rest is done column by column of the pattern: its values, the power by which the largest of them becomes about
// 1, and both scalings.
bool ScaledFactors::factorise(const std::vector<double>& values) {
  const auto n = static_cast<std::size_t>(rows_->size);
  work_.resize(n);
  if (!scale_rows(values)) return false;
  column_power_ = row_power_;
  scaled_.resize(source_.size());
  std::vector<int> row_power(n);  // in the numbering of the pattern
  std::vector<Index> old_column(n);
  for (std::size_t i = 0; i < n; ++i) {
    row_power[new_row_.empty() ? i : static_cast<std::size_t>(new_row_[i])] = row_power_[i];
    old_column[static_cast<std::size_t>(new_column_[i])] = static_cast<Index>(i);
  }
  for (std::size_t c = 0; c < n; ++c) {
    const auto begin = static_cast<std::size_t>(pattern_.begin[c]),
               end = static_cast<std::size_t>(pattern_.begin[c + 1]);
    int& column_power = column_power_[static_cast<std::size_t>(old_column[c])];
    for (std::size_t k = begin; k < end; ++k) scaled_[k] = values[static_cast<std::size_t>(source_[k])];
    if (!kind_->symmetric) {
      int most = no_entry;
      for (std::size_t k = begin; k < end; ++k) {
        const int power = power_of_bits(size_bits(scaled_[k]));
        if (power != no_entry) most = std::max(most, power + row_power[static_cast<std::size_t>(pattern_.row[k])]);
      }
      column_power = most == no_entry ? 0 : -most;
    }
    for (std::size_t k = begin; k < end; ++k) {
      scaled_[k] = times_power(scaled_[k], row_power[static_cast<std::size_t>(pattern_.row[k])] + column_power);
    }
  }
  return factors_->factorise(scaled_);
}

// With B = R A C in the numbering of the pattern, `in` is how B's right-hand sides are numbered and scaled, and `out`
// how its solutions are.
void ScaledFactors::solve(std::vector<double>& v, int exponent) {
  if (v.empty()) return;
  carry(v, {new_row_, row_power_}, {new_column_, column_power_}, exponent, [&] { factors_->solve(work_); });
}

void ScaledFactors::solve_transposed(std::vector<double>& v) {
  if (v.empty()) return;
  carry(v, {new_column_, column_power_}, {new_row_, row_power_}, 0, [&] { factors_->solve_transposed(work_); });
}

// Between the two scalings the entries of a column are at most about 1.
template <class Solve>
void ScaledFactors::carry(std::vector<double>& v, const Side& in, const Side& out, int exponent, const Solve& solve) {
  const auto n = static_cast<std::size_t>(rows_->size), columns = v.size() / n;
  work_.resize(v.size());
  std::vector<int> largest(columns, no_entry);
  for (std::size_t c = 0; c < columns; ++c) {
    const double* const from = v.data() + c * n;
    double* const to = work_.data() + c * n;
    int& most = largest[c];
    for (std::size_t i = 0; i < n; ++i) {
      const int power = power_of_bits(size_bits(from[i]));
      if (power != no_entry) most = std::max(most, power + in.power[i]);
    }
    if (most == no_entry) most = 0;
    for (std::size_t i = 0; i < n; ++i) to[in.place(i)] = times_power(from[i], in.power[i] - most);
  }
  solve();
  for (std::size_t c = 0; c < columns; ++c) {
    const double* const from = work_.data() + c * n;
    const int power = largest[c] + exponent;
    for (std::size_t j = 0; j < n; ++j) v[c * n + j] = times_power(from[out.place(j)], out.power[j] + power);
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
