// SPDX-License-Identifier: Apache-2.0
/// The arrays of cuSPARSE's formats beyond CSR, from a pattern: the library itself converts to none of them.
#pragma once

#include <newel/core/csr.hpp>

namespace newel::bench {

/// Offsets, columns, and for each slot the position of its entry in the CSR matrix, -1 for padding.
struct CusparseArrays {
  Array<Offset, Space::host> first;  ///< of each slice (in slots) or block row (in blocks), and their end
  Array<Index, Space::host> col;     ///< of each slot or block; -1 for padding
  Array<Offset, Space::host> source;
};

/// Sliced ELL: `slice` rows side by side, all as wide as the longest of them, slots of one column one after the
/// other. Parallel; O(slots).
CusparseArrays make_sell_arrays(const Context<Space::host>& ctx, const Pattern<Space::host>& a, Index slice);

/// Block CSR of a pattern that consists of full `block` x `block` blocks (see node_block_size), row by row in a
/// block. Parallel; O(nnz).
CusparseArrays make_bsr_arrays(const Context<Space::host>& ctx, const Pattern<Space::host>& a, Index block);

/// The row of each entry, for COO. Parallel; O(nnz).
Array<Index, Space::host> make_coo_rows(const Context<Space::host>& ctx, Span<const Offset, Space::host> row_ptr);

}  // namespace newel::bench
