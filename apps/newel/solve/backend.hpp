// SPDX-License-Identifier: Apache-2.0
/// Where a solve works, what memory it takes, and the solve in that space and the precision that was requested.
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
  /// Of a complex system: real and imaginary parts lie next to each other in b and x.
  bool complex = false;
  Array<double, Space::host> imaginary;  ///< parts of a.val; empty: all are zero
  SystemOptions options;
  RunClock& clock;  ///< of which a solve ends the phases from "start" to "solve", and some between
  bool measure_preconditioner = false;  ///< |A M - I|, which takes 64 products
  bool list_candidates = false;         ///< of the automatic choices
};

/// What is known when everything is set up and nothing is solved.
struct SetupFacts {
  SystemInfo system;
  std::string device_name;               ///< "NVIDIA H200", of several the first; empty on the host
  double transfer_seconds = 0;           ///< of the setup: conversion to the precision, and upload
  std::string real_form;                 ///< of a complex system: its real form, and why; else empty
  std::string link;                      ///< how values travel between GPUs that share the rows, else empty
  std::vector<std::int64_t> first_rows;  ///< of each of these GPUs, and the number of all rows; else empty
};

/// The number of rows of each GPU that shares the rows.
inline std::vector<std::int64_t> rows_of_ranks(const SetupFacts& facts) {
  std::vector<std::int64_t> rows;
  for (std::size_t r = 1; r < facts.first_rows.size(); ++r) {
    rows.push_back(facts.first_rows[r] - facts.first_rows[r - 1]);
  }
  return rows;
}

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

struct WhereToSolve {
  Place place;
  std::string reason;  ///< of the automatic choice, else empty
};

/// What starting a device costs a process: its driver, its context and the first kernels. Measured on an H200.
inline constexpr double device_start_seconds = 0.3;

/// The host for a system that it is expected to have solved before a device has started, even if the estimate is
/// three times too low; else what --device auto means. `host_seconds` is asked only where there may be a device.
WhereToSolve choose_where(const std::string& device, bool may_have_device,
                          const std::function<double()>& host_seconds);

/// Bytes for the system (see `estimate_system`), b and x of all columns, and the matrix that the system is made from
/// where that has to be made first.
std::uint64_t estimate_solve_bytes(const SystemOptions& options, Index rows, Offset nonzeros, std::size_t value_bytes,
                                   Space space);

/// Throws OutOfMemory when `space` is known to have less than `wanted` bytes.
void require_bytes(Space space, std::uint64_t wanted, std::optional<std::uint64_t> available);

template <Space S>
void require_memory(const Context<S>& ctx, const SystemOptions& options, Index rows, Offset nonzeros,
                    std::size_t value_bytes) {
  // To ask a host takes as long as the whole setup of a small system.
  constexpr std::uint64_t negligible = std::uint64_t{16} << 20;
  const std::uint64_t wanted = estimate_solve_bytes(options, rows, nonzeros, value_bytes, S);
  if (S == Space::host && wanted <= negligible) return;
  require_bytes(S, wanted, ctx.memory()->available_bytes());
}

}  // namespace newel::cli
