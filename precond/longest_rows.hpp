// SPDX-License-Identifier: Apache-2.0
/// How long a row of an approximate inverse may be, so that no dense row or block costs far more than the others.
/// Internal.
#pragma once

#include <algorithm>
#include <functional>

#include "precond/sparsity.hpp"

namespace newel::detail {

/// Entries that a row of a pattern may have whatever its others are like: the work of a local problem grows with the
/// third power of its unknowns, and SPAI's with the rows that they reach besides.
inline constexpr Offset short_row_of_spai = 1024, short_row_of_fsai = 1024;

/// Entries that a row of an n x n pattern with rows of `mean` entries may have: four times as many, so that it costs
/// a bounded multiple of what the others cost; but where they are a large part of the matrix, no more than an eighth
/// of it. `least` in any case.
inline Offset most_of_row(Offset least, double mean, Index n) {
  constexpr double times_mean = 4, share_of_matrix = 0.125;
  return std::max(least, static_cast<Offset>(std::min(times_mean * mean, share_of_matrix * n)));
}

/// The same for the rows of `pattern`.
inline Offset most_of_row(Offset least, const Sparsity& pattern) {
  return most_of_row(least, static_cast<double>(pattern.nnz()) / std::max<Index>(pattern.rows, 1), pattern.rows);
}

/// What an entry (i, j) of a long row is worth.
using EntryWorth = std::function<double(Index i, Index j)>;
/// The number of a row in the whole matrix, for a part of it.
using RowNumber = std::function<std::int64_t(Index i)>;

/// The pattern without the entries of long rows that are worth the least, so that none has more than `most`; of equal
/// ones those nearest to the diagonal stay, by `number` if there is one, and the diagonal in any case. `shortened`,
/// where not null, receives the number of such rows. Parallel by rows, the same whatever the number of threads.
/// O(entries), and a sort of each long row.
Sparsity without_long_rows(const Context<Space::host>& ctx, Sparsity pattern, Offset most, const EntryWorth& worth,
                           Index* shortened = nullptr, const RowNumber& number = {});

}  // namespace newel::detail
