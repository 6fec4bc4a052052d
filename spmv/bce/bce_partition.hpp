// SPDX-License-Identifier: Apache-2.0
/// Which row widths share a block: the distribution function of a matrix and its optimal partition (W. Yang, K. Li
/// and K. Li, "A parallel computing method using blocked format with optimal partitioning for SpMV on GPU", sections
/// 4 and 5).
#pragma once

#include <vector>

#include <newel/core/csr.hpp>

namespace newel {

/// The distribution function f_A, where it is not 0: rows[k] rows have exactly width[k] entries. Ascending.
struct WidthDistribution {
  std::vector<Index> width;
  std::vector<Offset> rows;

  std::size_t size() const { return width.size(); }
};

/// Counts the rows of 1 .. `widest` entries; empty and longer rows are left out. One pass over the row pointers, in
/// parallel.
WidthDistribution width_distribution(const Context<Space::host>& ctx, const Pattern<Space::host>& a, Index widest);

/// Sum of T_c over the blocks that end at `bounds` (section 5.3, in slots: without the factor 1 / f_p): a block of N
/// rows and width W costs W max(N, least_rows). `bounds` ascends and ends at the largest width.
Offset partition_cost(const WidthDistribution& f, const std::vector<Index>& bounds, Offset least_rows);

/// The bounds M_1 .. M_k, M_k being the largest width, of the cheapest partition into runs of consecutive widths, by
///
///     C[0] = 0,   C[m] = min over j < m of C[j] + T(j+1 .. m)
///
/// over the M' widths that occur: the cost is additive, so that the number of blocks need not be known. O(M'^2) time,
/// O(M') memory. Above `most_widths` widths, those that add the fewest slots by it are taken for the next larger one
/// first. Of several cheapest partitions it takes the one with the longest last block, and so on downwards.
std::vector<Index> optimal_bounds(const WidthDistribution& f, Offset least_rows, std::size_t most_widths = 2048);

/// The same by Algorithms 1 and 2 as they are printed: a table over widths and numbers of blocks, O(M'^3) time and
/// O(M'^2) memory. What the recurrence above is measured against.
std::vector<Index> optimal_bounds_by_tables(const WidthDistribution& f, Offset least_rows);

}  // namespace newel
