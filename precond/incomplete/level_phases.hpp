// SPDX-License-Identifier: Apache-2.0
/// How the host's threads walk through levels. Internal.
#pragma once

#include <vector>

#include <newel/core/parallel.hpp>

namespace newel::detail {

/// Rows [begin, end): of one level, shared by the threads, or of several small levels, by one thread.
struct LevelPhase {
  Index begin, end;
  bool parallel;
};

/// The phases of levels whose rows have cost(i). A level is shared from `least` on.
template <class Cost>
std::vector<LevelPhase> level_phases(const std::vector<Index>& level_begin, double least, const Cost& cost) {
  std::vector<LevelPhase> phases;
  for (std::size_t l = 0; l + 1 < level_begin.size(); ++l) {
    const Index begin = level_begin[l], end = level_begin[l + 1];
    double of_level = 0;
    for (Index i = begin; i < end; ++i) of_level += cost(i);
    const bool parallel = of_level >= least;
    if (!parallel && !phases.empty() && !phases.back().parallel) {
      phases.back().end = end;
    } else {
      phases.push_back({begin, end, parallel});
    }
  }
  return phases;
}

/// Calls rows(begin, end) for all rows of a phase, in ranges of ascending rows.
template <class Rows>
void run_phase(const Context<Space::host>& ctx, const LevelPhase& phase, const Rows& rows) {
  constexpr std::int64_t least_rows = 64;
  if (!phase.parallel) return rows(phase.begin, phase.end);
  parallel_ranges(
      ctx, phase.end - phase.begin, [&](Index begin, Index end) { rows(phase.begin + begin, phase.begin + end); },
      least_rows);
}

}  // namespace newel::detail
