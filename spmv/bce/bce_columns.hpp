// SPDX-License-Identifier: Apache-2.0
/// Products of BCE with several vectors, on the host. Internal.
#pragma once

#include "spmv/bce/bce.hpp"
#include "spmv/column_product.hpp"

namespace newel::detail {

/// Y = alpha A X + beta Y for 2, 4 or 8 interleaved vectors and, where args.xy is not null, x.y of each. The work has
/// a sum for each column of each piece of a long row.
template <class T>
void bce_columns_product(const Context<Space::host>& ctx, const BceView<T>& a, int columns,
                         const ColumnProductArgs<T>& args);

}  // namespace newel::detail
