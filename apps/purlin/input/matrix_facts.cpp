// SPDX-License-Identifier: Apache-2.0
// Row lengths, dominance, bandwidth, row sums and sizes of entries, each by one plain pass over the matrix.
#include "matrix_facts.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace purlin::cli {
namespace {

using Matrix = Csr<double, Space::host>;

constexpr std::size_t most_bins = 10;
constexpr Offset long_tail = 16;  // longest over median row, above which bins double in width

Offset length_of(const Matrix& a, Index i) { return a.row_ptr[i + 1] - a.row_ptr[i]; }

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

RowLengths row_lengths(const Matrix& a) {
  RowLengths result;
  if (a.rows == 0) return result;
  std::map<Offset, Index> rows_of_length;
  for (Index i = 0; i < a.rows; ++i) ++rows_of_length[length_of(a, i)];
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

Bandwidth bandwidth(const Matrix& a) {
  Bandwidth result;
  for (Index i = 0; i < a.rows; ++i) {
    if (length_of(a, i) == 0) continue;
    // Columns ascend, so the first and the last entry are the farthest.
    result.lower = std::max(result.lower, i - a.col[a.row_ptr[i]]);
    result.upper = std::max(result.upper, a.col[a.row_ptr[i + 1] - 1] - i);
  }
  return result;
}

Index dominant_rows(const Matrix& a) {
  Index count = 0;
  for (Index i = 0; i < a.rows; ++i) {
    double diagonal = 0;
    double others = 0;
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      (a.col[k] == i ? diagonal : others) += std::abs(a.val[k]);
    }
    count += diagonal >= others ? 1 : 0;
  }
  return count;
}

bool rows_sum_to_zero(const Matrix& a) {
  constexpr double rounding = 1e-12;
  bool any = false;
  for (Index i = 0; i < a.rows; ++i) {
    double sum = 0;
    double absolute = 0;
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      sum += a.val[k];
      absolute += std::abs(a.val[k]);
    }
    if (!(std::abs(sum) <= rounding * absolute)) return false;
    any = any || absolute > 0;
  }
  return any;
}

Magnitudes magnitudes(const Matrix& a) {
  Magnitudes result;
  for (const double value : a.val) {
    const double size = std::abs(value);
    if (!(size > 0)) continue;
    result.smallest = result.smallest > 0 ? std::min(result.smallest, size) : size;
    result.largest = std::max(result.largest, size);
  }
  return result;
}

}  // namespace purlin::cli
