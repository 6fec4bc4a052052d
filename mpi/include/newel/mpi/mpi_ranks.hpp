// SPDX-License-Identifier: Apache-2.0
/// Processes under MPI as ranks of a system. In a library of its own, newel::mpi: Newel itself knows no MPI.
#pragma once

#include <memory>

#include <mpi.h>

#include <newel/core/communicator.hpp>

namespace newel {

/// The processes of `comm` as ranks. All of them call this. MPI must be initialised before, and finalised after the
/// last use. `comm` is duplicated, so these messages do not interfere with the caller's. Only the thread that calls
/// Newel calls MPI (MPI_THREAD_FUNNELED if that is the main thread). Throws Error if MPI reports one.
///
/// If all processes are on one host, they share a page of memory by which `failure` learns of failures without a call
/// of MPI (FailureBoard). On several hosts `failure` looks for messages if MPI allows that in any thread
/// (MPI_THREAD_MULTIPLE), and is not known otherwise: kernels of GPUs may then not wait for each other.
///
/// If a process dies, MPI ends the others (mpirun does). If a process throws, the calls of the others throw
/// RankFailed. The processes cannot communicate through it any more after that. End them with MPI_Abort, because some
/// calls will never be answered.
std::shared_ptr<Communicator> mpi_ranks(MPI_Comm comm);

}  // namespace newel
