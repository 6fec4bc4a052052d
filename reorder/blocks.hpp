// SPDX-License-Identifier: Apache-2.0
/// The dense blocks that a FEM node with several unknowns leaves in a pattern.
#pragma once

#include <newel/core/csr.hpp>

namespace newel {

inline constexpr Index largest_node_block = 12;

/// The largest b, up to `largest_block`, such that the pattern consists of full b x b blocks at multiples of b: rows
/// b i .. b i + b - 1 have one pattern, made of aligned runs of b columns. 1 where there is none, and for a pattern
/// without entries. Parallel; O(nnz) at most for each b that divides both sizes, and much less where blocks are
/// absent.
Index node_block_size(const Context<Space::host>& ctx, const Pattern<Space::host>& a,
                      Index largest_block = largest_node_block);

}  // namespace newel
