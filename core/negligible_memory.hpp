// SPDX-License-Identifier: Apache-2.0
/// Whether so little memory is wanted that nobody need be asked for it. Internal.
#pragma once

#include <cstdint>

#include <purlin/core/memory.hpp>

namespace purlin::detail {

/// Up to 16 MiB of the host's built-in memory, which reads several files of the system to say what is available: that
/// takes as long as the whole setup of a small matrix, and a process that cannot have so little is beyond help.
/// Memory of a caller's is always asked.
bool is_negligible(const ContextMemory& memory, std::uint64_t bytes);

}  // namespace purlin::detail
