// SPDX-License-Identifier: Apache-2.0
/// A solve in the space and the precision that were requested.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <newel/solver/linear_system.hpp>
#include <newel/solver/system_facts.hpp>

#include "apps/common/place.hpp"
#include "apps/common/run_clock.hpp"

namespace newel::cli {

/// A x = b in double on the host, as loaded.
struct SolveTask {
  Csr<double, Space::host>& a;  ///< given back to the system once the backend holds its own
  /// options.columns of them, one after the other, as of x. Given back like `a`.
  Array<double, Space::host> b;
  Array<double, Space::host> x;  ///< the guess, then the solution; empty: the guess is zero
  SystemOptions options;
  RunClock& clock;  ///< of which a solve ends the phases from "start" to "solve", and some between
  bool measure_preconditioner = false;  ///< |A M - I|, which takes 64 products
  bool list_candidates = false;         ///< of the automatic choices
};

/// What is known when everything is set up and nothing is solved.
struct SetupFacts {
  SystemInfo system;
  std::string device_name;      ///< "NVIDIA H200"; empty on the host
  double transfer_seconds = 0;  ///< of the setup: conversion to the precision, and upload
};

struct SolveOutcome {
  SetupFacts setup;
  std::vector<SolveReport> reports;  ///< one for each column
  std::vector<SystemFacts> facts;    ///< the same; of systems of which all columns converged only the sizes
  std::optional<InverseResidual> preconditioner_residual;  ///< where it was to be measured
  std::vector<SystemCandidate> candidates;                 ///< where they were asked for
  std::uint64_t peak_bytes = 0;  ///< the most that the solve held in its space; on the host in addition to the input
};

struct SolveObserver {
  std::function<void(const SetupFacts&)> on_setup;
  ProgressFn on_progress;
};

/// Solves and leaves the solution in `task.x`. Throws OutOfMemory before anything is allocated when the estimate
/// exceeds what there is; InputError; DeviceError.
SolveOutcome solve_at(const Place& place, const Context<Space::host>& host, bool single_precision, SolveTask& task,
                      const SolveObserver& observer);

}  // namespace newel::cli
