// SPDX-License-Identifier: Apache-2.0
/// A solve whose rows are distributed over ranks: the first rank has the matrix, and the others help.
#pragma once

#include <memory>

#include <newel/core/communicator.hpp>

#include "backend.hpp"
#include "options.hpp"

namespace newel::cli {

/// Throws UsageError for options that need the whole matrix on each rank, or that ranks do not have: it names the
/// option and says why. The library refuses methods itself. Ranks are processes under MPI, or the GPUs of --gpus.
void refuse_on_ranks(const SolveOptions& options);
/// The same for what only processes under MPI cannot do: devices.
void refuse_under_mpi(const SolveOptions& options);

/// The threads of each rank if --threads is not given: OMP_NUM_THREADS, else the processors of this host shared out
/// among its ranks, but no more than the process may use. All ranks call it together.
int threads_of_rank(Communicator& ranks, const SolveOptions& options);

/// As `solve_at` on the host, on the first rank. Sends each rank its rows, and gathers x. Memory and setup are those
/// of all ranks together. Throws RankFailed too.
SolveOutcome solve_on_ranks(const std::shared_ptr<Communicator>& ranks, const Context<Space::host>& host,
                            bool single_precision, SolveTask& task, const SolveObserver& observer);

/// What the other ranks do meanwhile. Returns whether all columns converged.
bool help_on_ranks(const std::shared_ptr<Communicator>& ranks, const SolveOptions& options);

}  // namespace newel::cli
