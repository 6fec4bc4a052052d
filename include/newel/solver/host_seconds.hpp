// SPDX-License-Identifier: Apache-2.0
/// What one solve would take on the host, before anything is set up: for programs that choose between host and
/// device.
#pragma once

#include <newel/core/csr.hpp>
#include <newel/solver/system_options.hpp>

namespace newel {

/// Seconds of one solve by the cost model, in CSR (or the format of `options`) with the preconditioner that a solve
/// begins with, and as many iterations as are expected for a matrix of that size. An estimate: the iterations may be
/// three times too high or too low. Reads the pattern once. Infinite for a format that the model does not know.
template <class T>
double expected_host_seconds(const Context<Space::host>& ctx, const CsrView<T, Space::host>& a,
                             const SystemOptions& options);

}  // namespace newel
