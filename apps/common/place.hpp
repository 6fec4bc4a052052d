// SPDX-License-Identifier: Apache-2.0
/// Place: the choice that `--device` makes, and work done there.
#pragma once

#include <string>

#include <newel/config.hpp>
#include <newel/core/context.hpp>

#include "exit_status.hpp"

namespace newel::cli {

/// Threads of the host that may be asked for: as many as the library takes.
inline constexpr int most_threads = Context<Space::host>::most_threads;

struct Place {
  Space space = Space::host;
  int device = 0;   ///< number of the CUDA device
  int devices = 1;  ///< of several that share a system: how many, from that one on

  /// "host", "cuda:0", "cuda:0 and cuda:1", "cuda:0 to cuda:3"
  std::string name() const {
    if (space == Space::host) return "host";
    const std::string first = "cuda:" + std::to_string(device);
    const char* const between = devices == 2 ? " and cuda:" : " to cuda:";
    return devices == 1 ? first : first + between + std::to_string(device + devices - 1);
  }
};

/// auto | host | cuda[:N]. Throws UsageError for other words, NoDevice where a device was requested by name and is
/// not there.
Place choose_place(const std::string& device);

/// So many GPUs of this host, from the first on. Throws NoDevice, which says how many there are.
Place choose_gpus(int count);

/// f(ctx), with the host's context or one of the device.
template <class F>
auto at_place(const Place& place, const Context<Space::host>& host, F&& f) {
  if (place.space == Space::host) return f(host);
#if NEWEL_HAS_CUDA
  const Context<Space::device> ctx(place.device);
  ctx.make_current();
  return f(ctx);
#else
  throw NoDevice("this newel was built without CUDA");
#endif
}

}  // namespace newel::cli
