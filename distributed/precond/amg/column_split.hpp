// SPDX-License-Identifier: Apache-2.0
/// ColumnSplit: the entries of a level of multigrid on ranks, by whose columns they are in. Internal.
#pragma once

#include "precond/amg/blocks/block_csr.hpp"

namespace newel::detail {

/// Columns of the parts count from 0.
template <Space S>
struct ColumnSplit {
  ScalarPattern<S> own;  ///< in columns of this rank
  ScalarPattern<S>
      others;  ///< in the columns after them: of rows from `others_begin` on, up to the last that has any
  Index others_begin = 0;
};

/// `own`: columns of this rank, the first ones. Columns ascend in each row. On a device waits for the stream.
ColumnSplit<Space::host> split_columns(const HostContext& ctx, const ScalarPattern<Space::host>& a, Index own);
ColumnSplit<Space::device> split_columns(const DeviceContext& ctx, const ScalarPattern<Space::device>& a, Index own);

/// to[k] = values[from[k]], of offsets and of indices.
template <class V>
Array<V, Space::host> taken(const HostContext& ctx, Span<const V, Space::host> values,
                            Span<const Offset, Space::host> from);
template <class V>
Array<V, Space::device> taken(const DeviceContext& ctx, Span<const V, Space::device> values,
                              Span<const Offset, Space::device> from);

}  // namespace newel::detail
