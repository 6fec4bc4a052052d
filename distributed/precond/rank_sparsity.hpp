// SPDX-License-Identifier: Apache-2.0
/// Sparsity patterns of which a rank has its rows. Internal.
#pragma once

#include "distributed/precond/near_rows.hpp"
#include "distributed/precond/rank_transpose.hpp"
#include "precond/longest_rows.hpp"

namespace newel::detail {

/// What the rows of other ranks become.
enum class OtherRows { empty, diagonal };

/// A pattern on near rows, of which this rank's rows are kept. O(entries).
template <class T>
Sparsity only_own(const Context<Space::host>& ctx, const NearRows<T>& near, const Sparsity& from, OtherRows others);

/// The same without what `without_long_rows` leaves out of rows that are longer than all ranks' rows together allow:
/// see `most_of_row`. All ranks call it together.
template <class T>
Sparsity without_long_rows_on_ranks(const Context<Space::host>& ctx, const NearRows<T>& near, Sparsity own,
                                    Offset least, const EntryWorth& worth, Index* shortened = nullptr);

/// This rank's rows of such a pattern, with columns of the whole matrix.
template <class T>
RankPattern in_whole(const NearRows<T>& near, Span<const Offset, Space::host> row_ptr,
                     Span<const Index, Space::host> col);

}  // namespace newel::detail
