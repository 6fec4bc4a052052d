// SPDX-License-Identifier: Apache-2.0
/// EHYB's product with k interleaved vectors, in either space. Internal.
#pragma once

#include "spmv/column_product.hpp"
#include "spmv/ehyb/ehyb_product.hpp"

namespace newel::detail {

/// Bytes of work for `columns` vectors in space S.
template <class T>
std::uint64_t ehyb_column_work(const Context<Space::host>*, const EhybView<T>& a, int columns);
template <class T>
std::uint64_t ehyb_column_work(const Context<Space::device>*, const EhybView<T>& a, int columns);

/// The product; `columns` is 2, 4 or 8. args.xy is null where the layout has a remainder.
template <class T>
void ehyb_columns_product(const Context<Space::host>& ctx, const EhybView<T>& a, int columns,
                          const ColumnProductArgs<T>& args);
template <class T>
void ehyb_columns_product(const Context<Space::device>& ctx, const EhybView<T>& a, int columns,
                          const ColumnProductArgs<T>& args);

}  // namespace newel::detail
