// SPDX-License-Identifier: Apache-2.0
/// A solve whose rows are distributed over ranks: the first rank has the matrix, and the others help.
#pragma once

#include <memory>

#include <newel/core/communicator.hpp>
#include <newel/distributed/rank_device.hpp>

#include "backend.hpp"
#include "options.hpp"

namespace newel::cli {

/// Throws UsageError for options that need the whole matrix on each rank, or that ranks do not have: it names the
/// option and says why. The library refuses methods itself. Ranks are processes under MPI, or the GPUs of --gpus.
void refuse_on_ranks(const SolveOptions& options);
/// The same for what only processes under MPI cannot do: to name devices.
void refuse_under_mpi(const SolveOptions& options);

/// A process under MPI, and the GPU that it may take.
struct MpiProcess {
  std::shared_ptr<Communicator> ranks;
  RankDevice gpu;
};

/// All processes call it together. With --device cuda, throws NoDevice if one of them sees no GPU.
MpiProcess mpi_process(const std::shared_ptr<Communicator>& ranks, const SolveOptions& options);

/// The GPUs of all processes as a place; "cuda:0 to cuda:3".
Place place_of_gpus(const MpiProcess& process);

/// Whether the first process has chosen the GPUs; it passes its choice, the others whatever they like.
bool first_chose_gpus(const MpiProcess& process, const Place& place);

/// The threads of each rank if --threads is not given: OMP_NUM_THREADS, else the processors of this host shared out
/// among its ranks, but no more than the process may use. All ranks call it together.
int threads_of_rank(Communicator& ranks, const SolveOptions& options);

/// As `solve_at`, on the first rank; at a place with devices on those of all ranks. Sends each rank its rows, and
/// gathers x. Memory and setup are those of all ranks together. Throws RankFailed too.
SolveOutcome solve_on_ranks(const MpiProcess& process, const Place& place, const Context<Space::host>& host,
                            bool single_precision, SolveTask& task, const SolveObserver& observer);

/// What the other ranks do meanwhile. Returns whether all columns converged.
bool help_on_ranks(const MpiProcess& process, const SolveOptions& options);

}  // namespace newel::cli
