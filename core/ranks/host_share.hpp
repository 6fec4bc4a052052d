// SPDX-License-Identifier: Apache-2.0
/// share_of_host: how ranks that are threads of one process share the host's threads. Internal.
#pragma once

#include <algorithm>

#include <newel/core/context.hpp>

namespace newel::detail {

/// For one of so many ranks: `host` itself if that is all it may have, else a context with a team of its own, of at
/// least one thread.
inline Context<Space::host> share_of_host(const Context<Space::host>& host, int ranks) {
  const int threads = std::max(1, host.threads() / std::max(1, ranks));
  return threads == host.threads() ? host : Context<Space::host>(threads);
}

}  // namespace newel::detail
