// SPDX-License-Identifier: Apache-2.0
// Row lengths, dominance, bandwidth, row sums and sizes of entries, each by one pass of all threads over the matrix.
#include "matrix_facts.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>

#include <newel/core/parallel.hpp>

#include "apps/common/text.hpp"

namespace newel::cli {
namespace {

using Matrix = Csr<double, Space::host>;

constexpr std::size_t most_bins = 10;
constexpr Offset long_tail = 16;  // longest over median row, above which bins double in width

using RowsOfLength = std::map<Offset, Index>;

Offset length_of(const Matrix& a, Index i) { return a.row_ptr[i + 1] - a.row_ptr[i]; }

RowsOfLength count_lengths(const Context<Space::host>& ctx, const Matrix& a) {
  struct Counts {
    RowsOfLength rows;
    Offset last = -1;  // rows of equal length mostly follow each other
    Index* of_last = nullptr;
  };
  Counts total = parallel_reduce(
      ctx, a.rows, Counts{},
      [&](Index i, Counts& mine) {
        const Offset length = length_of(a, i);
        if (length != mine.last) mine.of_last = &mine.rows[length];
        mine.last = length;
        ++*mine.of_last;
      },
      [](Counts& sum, const Counts& mine) {
        for (const auto& [length, rows] : mine.rows) sum.rows[length] += rows;
      });
  return std::move(total.rows);
}

std::vector<LengthBin> bins_for(const RowLengths& lengths, std::size_t distinct) {
  std::vector<LengthBin> bins;
  const Offset longest = lengths.longest;
  if (longest > long_tail * std::max<Offset>(lengths.median, 1)) {
    if (lengths.shortest == 0) bins.push_back({0, 0, 0});
    for (Offset from = 1; from <= longest; from *= 2) {
      const Offset to = 2 * from - 1;
      if (to >= lengths.shortest) bins.push_back({from, std::min(to, longest), 0});
    }
    return bins;
  }
  const Offset range = longest - lengths.shortest + 1;
  const Offset width = distinct <= most_bins ? 1 : (range + static_cast<Offset>(most_bins) - 1) / most_bins;
  for (Offset from = lengths.shortest; from <= longest; from += width) {
    bins.push_back({from, std::min(from + width - 1, longest), 0});
  }
  return bins;
}

}  // namespace

RowLengths row_lengths(const Context<Space::host>& ctx, const Matrix& a) {
  RowLengths result;
  if (a.rows == 0) return result;
  const RowsOfLength rows_of_length = count_lengths(ctx, a);
  result.shortest = rows_of_length.begin()->first;
  result.longest = rows_of_length.rbegin()->first;
  result.mean = static_cast<double>(a.nnz()) / a.rows;
  Index rows_so_far = 0;
  for (const auto& [length, rows] : rows_of_length) {
    rows_so_far += rows;
    if (2 * Offset{rows_so_far} >= a.rows) {
      result.median = length;
      break;
    }
  }
  result.histogram = bins_for(result, rows_of_length.size());
  std::size_t bin = 0;
  for (const auto& [length, rows] : rows_of_length) {
    while (length > result.histogram[bin].to) ++bin;
    result.histogram[bin].rows += rows;
  }
  // With few distinct lengths a bin holds one length, and lengths that no row has need no line.
  auto& bins = result.histogram;
  if (rows_of_length.size() <= most_bins) {
    bins.erase(std::remove_if(bins.begin(), bins.end(), [](const LengthBin& b) { return b.rows == 0; }), bins.end());
  }
  return result;
}

Bandwidth bandwidth(const Context<Space::host>& ctx, const Matrix& a) {
  return parallel_reduce(
      ctx, a.rows, Bandwidth{},
      [&](Index i, Bandwidth& mine) {
        if (length_of(a, i) == 0) return;
        // Columns ascend, so the first and the last entry are the farthest.
        mine.lower = std::max(mine.lower, i - a.col[a.row_ptr[i]]);
        mine.upper = std::max(mine.upper, a.col[a.row_ptr[i + 1] - 1] - i);
      },
      [](Bandwidth& total, const Bandwidth& mine) {
        total.lower = std::max(total.lower, mine.lower);
        total.upper = std::max(total.upper, mine.upper);
      });
}

Index dominant_rows(const Context<Space::host>& ctx, const Matrix& a) {
  return parallel_count<Index>(ctx, a.rows, [&](Index i) {
    double diagonal = 0;
    double others = 0;
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      (a.col[k] == i ? diagonal : others) += std::abs(a.val[k]);
    }
    return diagonal >= others;
  });
}

namespace {

// Rows, or columns, for which `has` is true.
template <class Has>
RowCount count_rows(const Context<Space::host>& ctx, Index rows, const Has& has) {
  return parallel_reduce(
      ctx, rows, RowCount{},
      [&](Index i, RowCount& mine) {
        if (has(i) && mine.count++ == 0) mine.first = i;
      },
      [](RowCount& total, const RowCount& mine) {
        if (mine.count > 0 && (total.count == 0 || mine.first < total.first)) total.first = mine.first;
        total.count += mine.count;
      });
}

}  // namespace

RowCount zero_rows(const Context<Space::host>& ctx, const Matrix& a) {
  return count_rows(ctx, a.rows, [&](Index i) {
    return std::all_of(a.val.begin() + a.row_ptr[i], a.val.begin() + a.row_ptr[i + 1],
                       [](double v) { return v == 0; });
  });
}

RowCount not_finite_rows(const Context<Space::host>& ctx, const Matrix& a) {
  return count_rows(ctx, a.rows, [&](Index i) {
    return !std::all_of(a.val.begin() + a.row_ptr[i], a.val.begin() + a.row_ptr[i + 1],
                        [](double v) { return std::isfinite(v); });
  });
}

RowCount zero_columns(const Context<Space::host>& ctx, const Matrix& a) {
  std::vector<std::atomic<bool>> occurs(static_cast<std::size_t>(a.cols));
  parallel_for(ctx, a.nnz(), [&](Offset k) {
    std::atomic<bool>& column = occurs[static_cast<std::size_t>(a.col[k])];
    // Read first: threads that write one value again and again would take the lines from each other.
    if (a.val[k] != 0 && !column.load(std::memory_order_relaxed)) column.store(true, std::memory_order_relaxed);
  });
  return count_rows(ctx, a.cols, [&](Index j) { return !occurs[static_cast<std::size_t>(j)].load(); });
}

std::string defect_of(const Context<Space::host>& ctx, const Matrix& a) {
  const auto number = [](const char* what, const RowCount& rows) {
    return what + std::to_string(rows.first + 1) +
           (rows.count > 1 ? " (the first of " + thousands(rows.count) + ")" : "");
  };
  const RowCount bad = not_finite_rows(ctx, a);
  if (bad.count > 0) return number("row ", bad) + " holds NaN or infinity";
  const char* const singular = " holds no value other than 0, so the matrix is singular";
  const RowCount zero = zero_rows(ctx, a);
  if (zero.count > 0 && zero.count == a.rows) return "the matrix holds no value other than 0";
  if (zero.count > 0) return number("row ", zero) + singular;
  const RowCount unknowns = zero_columns(ctx, a);
  return unknowns.count > 0 ? number("column ", unknowns) + singular : "";
}

bool rows_sum_to_zero(const Context<Space::host>& ctx, const Matrix& a) {
  constexpr double rounding = 1e-12;
  struct Rows {
    bool all_zero = true;  // sums
    bool any = false;      // entries that are not
  };
  const Rows rows = parallel_reduce(
      ctx, a.rows, Rows{},
      [&](Index i, Rows& mine) {
        if (!mine.all_zero) return;
        double sum = 0;
        double absolute = 0;
        for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
          sum += a.val[k];
          absolute += std::abs(a.val[k]);
        }
        mine.all_zero = std::abs(sum) <= rounding * absolute;
        mine.any = mine.any || absolute > 0;
      },
      [](Rows& total, const Rows& mine) {
        total.all_zero = total.all_zero && mine.all_zero;
        total.any = total.any || mine.any;
      });
  return rows.all_zero && rows.any;
}

Magnitudes magnitudes(const Context<Space::host>& ctx, const Matrix& a) {
  const auto smaller = [](double one, double other) {
    return one > 0 && other > 0 ? std::min(one, other) : one + other;
  };
  return parallel_reduce(
      ctx, a.nnz(), Magnitudes{},
      [&](Offset k, Magnitudes& mine) {
        const double size = std::abs(a.val[k]);
        if (!(size > 0)) return;
        mine.smallest = smaller(mine.smallest, size);
        mine.largest = std::max(mine.largest, size);
      },
      [&](Magnitudes& total, const Magnitudes& mine) {
        total.smallest = smaller(total.smallest, mine.smallest);
        total.largest = std::max(total.largest, mine.largest);
      });
}

}  // namespace newel::cli
