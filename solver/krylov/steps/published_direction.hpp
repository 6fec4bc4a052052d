// SPDX-License-Identifier: Apache-2.0
/// The next direction of CG, sent to the devices that read it while it is made. Internal; only in builds with CUDA.
#pragma once

#include "core/ranks/peer_rows.hpp"
#include "solver/krylov/steps/cg_steps.hpp"

namespace newel::detail {

/// As `sweep`, and sends the rows of p as `to` says, unless the step is not active.
template <class T, bool scaled>
void sweep_and_send(const Context<Space::device>& ctx, std::int64_t n, const CgDirection<T, scaled>& step,
                    const PeerRows<T>& to);

}  // namespace newel::detail
