// SPDX-License-Identifier: Apache-2.0
/// Solves of generated systems whose ranks make their own rows, so that nobody needs memory for the whole.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "apps/newel/input/rhs.hpp"
#include "backend.hpp"
#include "options.hpp"
#include "solve_on_ranks.hpp"

namespace newel::cli {

/// Whether `ranks` GPUs or processes make the rows themselves: of generate:KIND:N with b from ones or random values,
/// no files with values of the whole system, and no null space. Otherwise one has the whole and sends the rows.
bool ranks_generate(const SolveOptions& options, int ranks);

/// The rows of a system that ranks make themselves.
std::int64_t generated_rows(const SolveOptions& options);

/// The number of rows and of entries.
struct GeneratedSize {
  std::int64_t rows = 0, entries = 0;
};

/// What the first rank learns on the way, and what it decides.
struct GeneratedObserver {
  std::function<void(const GeneratedSize&)> on_rows;
  std::function<void(const SetupFacts&)> on_setup;
  ProgressFn on_progress;
};

struct GeneratedOutcome {
  SolveOutcome solve;
  std::optional<double> error;   ///< |x - x*| / |x*|, if b = A x*
  Array<double, Space::host> x;  ///< of the whole, if --out wants it
};

/// On the GPUs of a place. Ends the phases "read" to "solve" of the clock. Throws as solve_at.
GeneratedOutcome solve_generated_on_gpus(const Place& place, const Context<Space::host>& host,
                                         const SolveOptions& options, const GeneratedObserver& observer,
                                         RunClock& clock);

/// On processes under MPI, or on the GPUs of a place that they take, on the first rank. Throws RankFailed too.
GeneratedOutcome solve_generated_on_ranks(const MpiProcess& process, const Place& place,
                                          const Context<Space::host>& host, const SolveOptions& options,
                                          const GeneratedObserver& observer, RunClock& clock);

/// What the other processes do meanwhile. Returns whether the solve converged.
bool help_generated_on_ranks(const MpiProcess& process, const SolveOptions& options);

}  // namespace newel::cli
