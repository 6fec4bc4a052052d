// SPDX-License-Identifier: Apache-2.0
/// Patterns for the tests of partitions, and what they are judged by, in plain loops.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <newel/reorder/partition.hpp>

#include "tests/matrices.hpp"

namespace newel::testing {

using HostPattern = Pattern<Space::host>;

/// A view; the matrix must outlive it.
inline HostPattern pattern_of(const HostCsr& a) {
  return CsrView<double, Space::host>(a.rows, a.cols, {a.row_ptr.data(), a.rows + 1}, {a.col.data(), a.nnz()},
                                      {a.val.data(), a.nnz()});
}

/// Every entry replaced by a full b x b block.
inline HostCsr blown_up(const HostCsr& a, Index b) {
  MapRows rows(static_cast<std::size_t>(a.rows * b));
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      for (Index r = 0; r < b; ++r) {
        for (Index c = 0; c < b; ++c) rows[i * b + r][a.col[k] * b + c] = 1;
      }
    }
  }
  return from_rows(a.cols * b, rows);
}

/// `extra` rows with their diagonal alone ahead of the rows of `a`, as a boundary condition leaves them.
inline HostCsr behind_isolated_rows(const HostCsr& a, Index extra) {
  MapRows rows(static_cast<std::size_t>(a.rows + extra));
  for (Index i = 0; i < extra; ++i) rows[i][i] = 1;
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) rows[extra + i][extra + a.col[k]] = a.val[k];
  }
  return from_rows(a.cols + extra, rows);
}

/// Entries of the part that has the most, over their mean.
inline double most_entries_over_mean(const HostCsr& a, const std::vector<Index>& part_of_row, Index parts) {
  std::vector<Offset> entries(static_cast<std::size_t>(parts), 0);
  for (Index i = 0; i < a.rows; ++i) entries[part_of_row[i]] += a.row_ptr[i + 1] - a.row_ptr[i];
  const Offset most = *std::max_element(entries.begin(), entries.end());
  return static_cast<double>(most) * parts / static_cast<double>(a.nnz());
}

struct Quality {
  Offset cut = 0, halo = 0;
  Index largest_part = 0, smallest_part = 0, largest_halo = 0, fullest_part = 0;
};

/// Cut, halo and sizes by sets.
inline Quality quality_of(const HostCsr& a, const std::vector<Index>& part_of_row, Index parts) {
  Quality q;
  std::vector<std::set<Index>> outside(static_cast<std::size_t>(parts));
  std::vector<Index> rows(static_cast<std::size_t>(parts), 0);
  for (Index i = 0; i < a.rows; ++i) {
    ++rows[part_of_row[i]];
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      if (part_of_row[a.col[k]] == part_of_row[i]) continue;
      ++q.cut;
      outside[part_of_row[i]].insert(a.col[k]);
    }
  }
  for (Index p = 0; p < parts; ++p) {
    const auto halo = static_cast<Index>(outside[p].size());
    q.halo += halo;
    q.largest_halo = std::max(q.largest_halo, halo);
    q.fullest_part = std::max(q.fullest_part, rows[p] + halo);
    q.largest_part = std::max(q.largest_part, rows[p]);
    q.smallest_part = p == 0 ? rows[p] : std::min(q.smallest_part, rows[p]);
  }
  return q;
}

}  // namespace newel::testing
