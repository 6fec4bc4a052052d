// SPDX-License-Identifier: Apache-2.0
/// A preconditioner's own matrix in another order and format. Internal.
#pragma once

#include <newel/spmv/format.hpp>

namespace newel::detail {

/// The matrix of `from`, which keeps it as CSR in the caller's order, for vectors in `order` and in the format of
/// `options`: with the values that it has now, refreshed from the same values as `from`. Null where `from` does not
/// keep CSR. Waits on the stream. Throws OutOfMemory.
template <class T, Space S>
OperatorPtr<T, S> renumbered_matrix(const Context<S>& ctx, const MatrixOperator<T, S>& from, const RowOrder<S>& order,
                                    const SpmvOptions& options);

}  // namespace newel::detail
