// SPDX-License-Identifier: Apache-2.0
/// From a matrix on the device to one of blocks there. Internal.
#pragma once

#include <newel/reorder/row_order.hpp>
#include "precond/amg/blocks/block_csr.hpp"
#include "reorder/permute_pattern.hpp"

namespace newel::detail {

/// A pattern in the numbering that it had before it was renumbered, and where its entries stand in the renumbered
/// one.
struct CallersPattern {
  PermutedPattern<Space::device> permuted;  ///< empty where the order was natural
  Pattern<Space::device> pattern;           ///< of the arrays above, or the caller's own
};
/// `a` and `order` have to outlive the result. Waits for nothing.
CallersPattern in_callers_order(const Context<Space::device>& ctx, const Pattern<Space::device>& a,
                                const RowOrder<Space::device>& order);

/// The largest b up to `largest` of which the pattern consists of full aligned blocks, as `node_block_size` finds it
/// on the host. Waits for the stream.
int full_block_on_device(const Context<Space::device>& ctx, const Pattern<Space::device>& a, int largest);

/// As make_block_csr on the host, but for the pattern, which is made symmetric by blocks of zeros. Of a rank, whose
/// nodes are followed by those of others, columns of a row may be in any order. `values` are those
/// of the renumbered matrix, and `source` leads to them. Waits for the stream.
template <class T>
BlockCsr<Space::device> make_block_csr(const Context<Space::device>& ctx, const CallersPattern& a,
                                       Span<const T, Space::device> values, int block,
                                       Array<Offset, Space::device>& source);

}  // namespace newel::detail
