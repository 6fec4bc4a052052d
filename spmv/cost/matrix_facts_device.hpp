// SPDX-License-Identifier: Apache-2.0
/// Facts of a pattern on a device, for those who have more to wait for. Internal; needs the CUDA headers.
#pragma once

#include <functional>

#include <newel/spmv/cost_model.hpp>
#include "core/memory/small_results_device.hpp"

namespace newel::detail {

/// `row_lengths` without its wait: what is returned gives them once `results` have been fetched. Waits then all the
/// same where rows have more than 4095 entries.
std::function<RowLengths()> start_row_lengths(const Context<Space::device>& ctx,
                                              const Pattern<Space::device>& pattern, SmallResults& results);

}  // namespace newel::detail
