// SPDX-License-Identifier: Apache-2.0
// What the host offers to a layout.
#include <unistd.h>

#include <algorithm>

#include <newel/core/machine.hpp>

namespace newel {

Machine machine_of(const Context<Space::host>& ctx) {
  // Where the system does not say: what processors of the last ten years have at least.
  constexpr long usual_bytes = 512 * 1024;
  const long second_level = sysconf(_SC_LEVEL2_CACHE_SIZE), last_level = sysconf(_SC_LEVEL3_CACHE_SIZE);
  Machine machine;
  // What one thread draws from memory, and how many it takes to have all that a usual socket has. Of the EPYC that
  // the cost model is fitted to; others differ by a half, in setups too.
  constexpr double bytes_per_thread = 1.6e10;
  constexpr int threads_of_socket = 10;
  machine.bytes_per_second = bytes_per_thread * std::min(ctx.threads(), threads_of_socket);
  machine.processors = ctx.threads();
  machine.cache_bytes = static_cast<std::size_t>(second_level > 0 ? second_level : usual_bytes);
  machine.shared_cache_bytes = static_cast<std::size_t>(std::max(last_level, 0L));
  return machine;
}

}  // namespace newel
