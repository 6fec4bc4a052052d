// SPDX-License-Identifier: Apache-2.0
/// What the comparison programs do alike: systems by their names, one after another, on the host or on a device.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <newel/config.hpp>
#include <newel/core/context.hpp>
#include <newel/core/csr.hpp>
#include <newel/core/error.hpp>

#include "measure.hpp"

namespace newel::bench {

/// The matrix of a file, or the one that newel generates for "generate:...".
Csr<double, Space::host> system_of(const std::string& spec);

/// Adds what `measure` finds to "systems" of the report, which it writes to `file` after each; empty: nowhere. An
/// error is printed, and noted instead of the figures. Returns the exit status.
int measure_systems(Json report, const std::vector<std::string>& systems, const std::string& file,
                    const std::function<Json(const std::string&)>& measure);

/// Calls measure(ctx) in the space that `place` names, "host" or "cuda". Throws InputError if the build has no CUDA.
template <class Measure>
void measure_at(const std::string& place, int threads, const Measure& measure) {
  if (place == "host") return measure(Context<Space::host>(threads));
  if constexpr (NEWEL_HAS_CUDA == 1) {
    const Context<Space::device> ctx;
    ctx.make_current();
    return measure(ctx);
  } else {
    throw InputError("this build has no CUDA");
  }
}

}  // namespace newel::bench
