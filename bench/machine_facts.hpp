// SPDX-License-Identifier: Apache-2.0
/// What a report says of the machine that was measured on.
#pragma once

#include <newel/core/context.hpp>

#include "measure.hpp"

namespace newel::bench {

/// {"threads": ...}: the processor is in every report.
inline Json machine_facts(const Context<Space::host>& ctx) { return {{"threads", ctx.threads()}}; }

/// {"device": name, "multiprocessors": ..., "driver_supports_cuda": ..., "cuda_runtime": ..., "cuda_toolkit": ...,
/// "cuda_architectures": ...}
Json machine_facts(const Context<Space::device>& ctx);

}  // namespace newel::bench
