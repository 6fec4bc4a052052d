// SPDX-License-Identifier: Apache-2.0
/// The arrays of ELL-WARP, for the host to build and read. Internal.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include <newel/core/csr.hpp>
#include "spmv/ell_warp/row_sequence.hpp"

namespace newel::detail {

/// A threshold that no row exceeds: one thread a row (K1).
constexpr Index no_threshold = std::numeric_limits<Index>::max();

/// What the layout is cut by.
struct EllWarpRules {
  Index width = 32;  ///< threads of a warp, a power of two up to 128
  /// A thread's share of a row, at most, unless the row has all threads of a warp (ELL-WARP, section 5.4).
  Index threshold = no_threshold;
  /// A longer row is cut into chunks of `chunk_share * width` entries, one a warp, whose sums are added in a second
  /// step.
  Offset longest_warp_row = std::numeric_limits<Offset>::max();
  Index chunk_share = 32;

  /// What the library builds with. 128 steps are what the longest row of a warp may take, whatever the threshold.
  static EllWarpRules of_width(Index width) {
    EllWarpRules rules;
    rules.width = width;
    rules.longest_warp_row = Offset{128} * width;
    return rules;
  }
};

/// Warps come in two kinds: first those that hold a chunk of a shared row each, then those that hold 2^-k width rows
/// with 2^k threads each. Slot `slot_begin[w] + j width + l` is what lane l of warp w reads in its step j. Entry e of
/// a row with t threads is read in step e / t by the thread e % t of the row; the threads of a row are neighbours.
struct EllWarpLayout {
  EllWarpRules rules;
  Index rows = 0;
  Index cols = 0;
  Offset longest = 0;  ///< entries of the longest row
  Offset shared_warps = 0;
  Offset warps = 0;                             ///< those behind the shared ones
  Array<Offset, Space::host> shared_begin;      ///< shared rows + 1: their chunks
  Array<Offset, Space::host> slot_begin;        ///< shared_warps + warps + 1
  Array<Index, Space::host> row_begin;          ///< warps + 1: positions. Empty: warp w begins at w width
  Array<std::uint8_t, Space::host> reductions;  ///< warps: k. Empty: 0 for all
  Array<Index, Space::host> col;                ///< slots; padding repeats the last column of the row, or 0
  Array<Offset, Space::host> slot_source;       ///< slots; position in the matrix, or -1

  Offset slots() const { return col.size(); }
};

/// Packs the rows. Groups of `width` rows (those of K1) are halved while the longest row of a half does not fit, so
/// that a warp holds the rows of a group, a half, a quarter, ...; where no row exceeds the threshold, the arrays are
/// those of K1. The entries of a row keep the order of their columns; with `old_of_new`, the order of
/// old_of_new[column]. The arrays do not depend on the number of threads. O(rows + slots).
EllWarpLayout make_ell_warp_layout(const Context<Space::host>& ctx, const Pattern<Space::host>& a,
                                   const RowSequence& sequence, const EllWarpRules& rules,
                                   Span<const Index, Space::host> old_of_new = {});

/// Calls f(first position, rows, k, steps) for each warp that positions [begin, end) of one group are packed into;
/// `length(p)` is the length of the row at position p.
template <class Length, class F>
void for_each_warp_of_group(Index begin, Index end, Index width, Index threshold, int k, Length&& length, F&& f) {
  if (begin >= end) return;
  Offset longest = 0;
  for (Index p = begin; p < end; ++p) longest = std::max(longest, length(p));
  const Offset steps = (longest + (Offset{1} << k) - 1) >> k;
  const Index half = (width >> k) / 2;
  if (steps <= threshold || half == 0) return f(begin, end - begin, k, steps);
  for_each_warp_of_group(begin, std::min(end, begin + half), width, threshold, k + 1, length, f);
  for_each_warp_of_group(begin + half, end, width, threshold, k + 1, length, f);
}

}  // namespace newel::detail
