// SPDX-License-Identifier: Apache-2.0
/// A rank's rows on its device in CSR. Internal; only in builds with CUDA.
#pragma once

#include <memory>
#include <vector>

#include "distributed/rows/rank_product.hpp"
#include "distributed/rows/rows_on_device.hpp"

namespace newel::detail {

/// In the caller's order. All ranks make theirs together; `ctx` has ranks.
template <class T>
std::unique_ptr<RankProduct<T, Space::device>> make_rank_csr(const Context<Space::device>& ctx,
                                                             const std::vector<std::int64_t>& first_rows,
                                                             const RowsOnDevice<T>& rows);

}  // namespace newel::detail
