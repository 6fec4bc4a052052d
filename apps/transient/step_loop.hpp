// SPDX-License-Identifier: Apache-2.0
/// StepLoop: the steps of a run whose steps are equally long.
#pragma once

#include <cstdint>
#include <string>

#include "apps/common/run_clock.hpp"
#include "apps/transient/run_progress.hpp"
#include "apps/transient/shares.hpp"
#include "apps/transient/time_grid.hpp"

namespace newel::transient {

/// What a run has counted and shows after each step. `start` and `dt` are in the unit of the grid.
struct StepLoop {
  const TimeGrid& grid;
  std::int64_t last;  ///< step at which the run ends
  double start, dt;
  Shares& shares;
  const SolveTotals& totals;
  RunProgress& progress;

  /// Calls step() up to the last step as long as goes_on() is true. note(): RunState::note after each step.
  template <class GoesOn, class Step, class Note>
  void run(GoesOn&& goes_on, Step&& step, Note&& note) {
    const cli::Stopwatch stepping;
    RunState state;
    state.start = start;
    state.end = static_cast<double>(last) * dt;
    state.step = dt;
    while (grid.steps() < last && goes_on()) {
      shares.begin_step();
      const std::int64_t before = totals.iterations;
      step();
      shares.end_step();
      state.time = grid.now();
      state.steps = grid.steps();
      state.iterations = totals.iterations - before;
      state.seconds = stepping.seconds();
      state.note = note();
      progress.update(state);
    }
    progress.finish();
  }
};

}  // namespace newel::transient
