// SPDX-License-Identifier: Apache-2.0
/// For preconditioners of symmetric matrices. Internal.
#pragma once

#include <newel/core/csr.hpp>
#include <newel/reorder/row_order.hpp>

namespace newel::detail {

/// Throws NotSymmetric, with the first pair in the caller's numbering, if entries of `a` differ from their opposites
/// by more than rounding. `order`: that of `a`. Reads the matrix once; waits on the stream.
template <class T, Space S>
void require_symmetry(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order);

}  // namespace newel::detail
