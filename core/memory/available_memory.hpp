// SPDX-License-Identifier: Apache-2.0
/// Whether there is memory for what is wanted, asked before anything is allocated. Internal.
#pragma once

#include <cstdint>
#include <string_view>

#include <newel/core/context.hpp>
#include <newel/core/error.hpp>

namespace newel::detail {

/// Up to 16 MiB of the host's built-in memory, which reads several files of the system to say what is available: that
/// takes as long as the whole setup of a small matrix, and a process that cannot have so little is beyond help.
/// Memory of a caller's is always asked.
bool is_negligible(const ContextMemory& memory, std::uint64_t bytes);

/// Whether the built-in memory of a device has freed so many bytes and not given them back. They are there, and the
/// driver takes tens of microseconds to say what else is.
bool keeps(const MemoryResource& memory, std::uint64_t bytes);

/// Throws OutOfMemory where the context's memory is known to have less than `wanted` bytes left. `purpose` completes
/// "out of memory for ...". What is negligible is not asked for.
template <Space S>
void require_available(const Context<S>& ctx, std::string_view purpose, std::uint64_t wanted) {
  const ContextMemory& memory = *ctx.memory();
  if (is_negligible(memory, wanted)) return;
  if constexpr (S == Space::device) {
    if (keeps(memory.resource(), wanted)) return;
  }
  const auto available = memory.available_bytes();
  if (available && wanted > *available) throw OutOfMemory(name_of(S), purpose, wanted, available);
}

}  // namespace newel::detail
