// SPDX-License-Identifier: Apache-2.0
/// Processes under MPI as ranks of a system. In a library of its own, newel::mpi: Newel itself knows no MPI.
#pragma once

#include <memory>

#include <mpi.h>

#include <newel/core/communicator.hpp>

namespace newel {

/// The processes of `comm` as ranks, each calling this. MPI is initialised, and is finalised after the last use.
/// `comm` is duplicated: messages of the caller's do not meet these. One thread at a time calls MPI through it, the
/// one that calls Newel (MPI_THREAD_FUNNELED if that is the main thread). Throws Error where MPI reports one.
///
/// A process that dies ends the others as MPI does that (mpirun ends them); one that throws ends their calls with
/// RankFailed. After that the processes cannot communicate through it any more, and should end: MPI_Abort, since some
/// of their calls will never be answered.
std::shared_ptr<Communicator> mpi_ranks(MPI_Comm comm);

}  // namespace newel
