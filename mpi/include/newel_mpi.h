/* SPDX-License-Identifier: Apache-2.0 */
/* Processes under MPI as the ranks of a system of newel.h. Link libnewel_mpi_c (CMake: newel::newel_mpi_c) in
 * addition to libnewel_c.
 *
 *     newel_comm *ranks;
 *     newel_mpi_comm(MPI_COMM_WORLD, &ranks);
 *     newel_setup_rows(s, ranks, rows, 64, row_ptr, col, val);
 *     newel_comm_destroy(ranks);
 *     int status = newel_solve(s, 1, b, x);
 */
#ifndef NEWEL_MPI_H
#define NEWEL_MPI_H

#include <mpi.h>
#include <newel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The processes of `comm` as ranks; all of them call this. MPI has been initialised, and is finalised after the last
 * system with these ranks has been destroyed. `comm` is duplicated, so these messages do not interfere with the
 * caller's. Returns NEWEL_OK, NEWEL_INVALID for null pointers, NEWEL_OUT_OF_MEMORY, or NEWEL_INTERNAL if MPI reports
 * an error. */
NEWEL_API int newel_mpi_comm(MPI_Comm comm, newel_comm** ranks);

/* The same for all processes that a launcher such as mpirun has started. Calls MPI_Init if nobody has. For programs
 * that load this library at run time and know no MPI themselves. */
NEWEL_API int newel_mpi_world(newel_comm** ranks);

/* For the same programs: MPI_Finalize if `status` is 0; else MPI_Abort with it, which ends all processes. */
NEWEL_API void newel_mpi_end(int status);

/* Frees the handle. Systems keep the ranks that they were set up with. Does nothing for a null pointer. */
NEWEL_API void newel_comm_destroy(newel_comm* ranks);

#ifdef __cplusplus
}
#endif

#endif
