// SPDX-License-Identifier: Apache-2.0
/// Traits of a matrix on a device, for those who have more to wait for. Internal; needs the CUDA headers.
#pragma once

#include <functional>

#include <newel/core/matrix_traits.hpp>
#include "core/memory/small_results_device.hpp"

namespace newel::detail {

/// `matrix_traits` without its wait: what is returned gives them once `results` have been fetched.
template <class T>
std::function<MatrixTraits()> start_matrix_traits(const Context<Space::device>& ctx,
                                                  const CsrView<T, Space::device>& a, SmallResults& results);

}  // namespace newel::detail
