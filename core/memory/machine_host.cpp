// SPDX-License-Identifier: Apache-2.0
// What the host offers to a layout.
#include <unistd.h>

#include <algorithm>

#include <newel/core/machine.hpp>
#include "core/memory/machine_constants.hpp"

namespace newel {

Machine machine_of(const Context<Space::host>& ctx) {
  // Where the system does not say: what processors of the last ten years have at least.
  constexpr long usual_bytes = 512 * 1024;
  const long second_level = sysconf(_SC_LEVEL2_CACHE_SIZE), last_level = sysconf(_SC_LEVEL3_CACHE_SIZE);
  Machine machine;
  const auto& fitted = detail::constants_of<detail::HostMachineConstants>(machine);
  machine.bytes_per_second =
      fitted.thread_bytes_per_second * std::min<double>(ctx.threads(), fitted.threads_of_socket);
  machine.processors = ctx.threads();
  machine.cache_bytes = static_cast<std::size_t>(second_level > 0 ? second_level : usual_bytes);
  machine.shared_cache_bytes = static_cast<std::size_t>(std::max(last_level, 0L));
  return machine;
}

}  // namespace newel
