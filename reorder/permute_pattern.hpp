// SPDX-License-Identifier: Apache-2.0
/// The pattern of P A P^T with the origin of its entries, in the space where A is. Internal.
#pragma once

#include <newel/core/csr.hpp>

namespace newel::detail {

template <Space S>
struct PermutedPattern {
  Array<Offset, S> row_ptr;
  Array<Index, S> col;      ///< ascending in each row
  Array<Offset, S> source;  ///< position of each entry in A
};

/// New row i is row old_of_new[i] of `a`, in which no row has a column twice; column j becomes new_of_old[j], which is
/// another for each column. Of a square pattern the two are inverse to each other. Nothing of this is checked. O(nnz log(longest row)) with the threads of the context.
PermutedPattern<Space::host> permute_pattern(const Context<Space::host>& ctx, const Pattern<Space::host>& a,
                                             Span<const Index, Space::host> old_of_new,
                                             Span<const Index, Space::host> new_of_old);

/// The same arrays, element by element. Queued on the stream, nothing is waited for. O(nnz x row length) comparisons
/// for rows of up to 2048 entries; a longer one costs O(its length + rows / 32).
PermutedPattern<Space::device> permute_pattern(const Context<Space::device>& ctx, const Pattern<Space::device>& a,
                                               Span<const Index, Space::device> old_of_new,
                                               Span<const Index, Space::device> new_of_old);

}  // namespace newel::detail
