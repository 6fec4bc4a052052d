// SPDX-License-Identifier: Apache-2.0
/// Estimated time of one solve on the host, before any setup: for programs that choose between host and device.
#pragma once

#include <newel/core/csr.hpp>
#include <newel/solver/system_options.hpp>

namespace newel {

/// Seconds of one solve by the cost model: in CSR or the format of `options`, with the first preconditioner of a
/// solve and the iterations expected for a matrix of this size. The estimated iterations may be wrong by a factor of
/// three. Reads the pattern once. Infinite for a format that the model does not know.
template <class T>
double expected_host_seconds(const Context<Space::host>& ctx, const CsrView<T, Space::host>& a,
                             const SystemOptions& options);

}  // namespace newel
