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
  int device = 0;  ///< number of the CUDA device

  /// "host", "cuda:0"
  std::string name() const { return space == Space::host ? "host" : "cuda:" + std::to_string(device); }
};

/// auto | host | cuda[:N]. Throws UsageError for other words, NoDevice where a device was requested by name and is
/// not there.
Place choose_place(const std::string& device);

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
