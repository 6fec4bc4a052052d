// SPDX-License-Identifier: Apache-2.0
// The functions of newel_mpi.h.
#include <newel_mpi.h>

#include <new>

#include <newel/core/rank_handle.hpp>
#include <newel/mpi/mpi_ranks.hpp>

int newel_mpi_comm(MPI_Comm comm, newel_comm** ranks) {
  if (ranks == nullptr || comm == MPI_COMM_NULL) return NEWEL_INVALID;
  *ranks = nullptr;
  try {
    *ranks = new newel_comm{newel::mpi_ranks(comm)};
  } catch (const std::bad_alloc&) {
    return NEWEL_OUT_OF_MEMORY;
  } catch (...) {
    return NEWEL_INTERNAL;
  }
  return NEWEL_OK;
}

int newel_mpi_world(newel_comm** ranks) {
  int initialised = 0;
  MPI_Initialized(&initialised);
  if (initialised == 0) {
    int provided = 0;
    if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided) != MPI_SUCCESS) return NEWEL_INTERNAL;
  }
  return newel_mpi_comm(MPI_COMM_WORLD, ranks);
}

void newel_mpi_end(int status) {
  if (status != 0) MPI_Abort(MPI_COMM_WORLD, status);
  int finalised = 0;
  MPI_Finalized(&finalised);
  if (finalised == 0) MPI_Finalize();
}

void newel_comm_destroy(newel_comm* ranks) { delete ranks; }
