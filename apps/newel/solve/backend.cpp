// SPDX-License-Identifier: Apache-2.0
// From a place and a precision to the types of the solve.
#include "backend.hpp"

#include "solve_in.hpp"

namespace newel::cli {

SolveOutcome solve_at(const Place& place, const Context<Space::host>& host, bool single_precision, SolveTask& task,
                      const SolveObserver& observer) {
  return at_place(place, host, [&](const auto& ctx) {
    using Ctx = std::decay_t<decltype(ctx)>;
    SetupFacts facts;
    if constexpr (std::is_same_v<Ctx, Context<Space::device>>) {
      facts.device_name = ctx.device_name();
    }
    task.clock.end("start");
    return single_precision ? solve_in<float>(host, ctx, task, facts, observer)
                            : solve_in<double>(host, ctx, task, facts, observer);
  });
}

}  // namespace newel::cli
