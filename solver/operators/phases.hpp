// SPDX-License-Identifier: Apache-2.0
/// PhaseSeconds: how long the phases of a setup took. Internal.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <newel/core/context.hpp>

namespace newel::detail {

/// How long each phase of a setup took, work on the stream included.
using PhaseSeconds = std::vector<std::pair<std::string, double>>;

/// Runs `phase` and waits for it; notes its seconds under `name`.
template <Space S, class Phase>
void timed(const Context<S>& ctx, PhaseSeconds& seconds, const char* name, Phase&& phase) {
  const auto start = std::chrono::steady_clock::now();
  phase();
  ctx.synchronize();
  seconds.emplace_back(name, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

}  // namespace newel::detail
