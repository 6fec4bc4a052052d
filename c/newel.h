/* SPDX-License-Identifier: Apache-2.0 */
/* Newel from C: sparse linear systems A x = b, set up once per sparsity pattern, refreshed and solved often. Link
 * libnewel_c (CMake: newel::newel_c; pkg-config: newel).
 *
 *     newel_system *s;
 *     if (newel_create(&s) != NEWEL_OK) return 1;
 *     newel_set(s, "rtol", "1e-10");
 *     if (newel_setup_csr(s, n, 32, row_ptr, col, val) != NEWEL_OK) puts(newel_error(s));
 *     int status = newel_solve(s, 1, b, x);
 *     newel_destroy(s);
 *
 * All functions except newel_destroy, newel_error and the two for versions return one of the status codes below. No
 * function ends the process or throws. Arrays are read only during the call that they are passed to; they stay the
 * caller's. They are in host memory, or for systems on a device also in device memory. Values are double, or float
 * if the option "precision" is "single", and complex numbers of these if the option "values" is "complex": real and
 * imaginary part next to each other, as in double _Complex and std::complex<double>. Indices are signed integers of 32 or 64 bits.
 *
 * Use a system from one thread at a time. A call for a system that is in use, for example from its own progress
 * function, returns NEWEL_INVALID without an error text. Systems are independent of each other.
 *
 * On a device (newel_set(s, "device", "cuda")), each array of a matrix, b, x, y and new values may be in the memory
 * of that device or of the host. Host arrays are copied to the device, and x and y are copied back. Device arrays are
 * read and written in the order of the caller's stream (newel_set_stream): work queued on it before a call finishes
 * first, and work queued on it after a call waits for the call's work. The device waits, not the thread. A solve
 * returns when x is ready. Points, near null space, histories and texts are always in host memory. The current
 * device of the calling thread does not change. If there is no GPU or no driver, a setup returns NEWEL_INTERNAL with
 * an error text that says so.
 *
 * While newel_c_version() is 1, the names and meanings here do not change; functions are only added. */
#ifndef NEWEL_H
#define NEWEL_H

#include <stdint.h>

#if defined(__GNUC__)
#define NEWEL_API __attribute__((visibility("default")))
#else
#define NEWEL_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum {
  NEWEL_OK = 0,
  NEWEL_NOT_CONVERGED = 1, /* returned by a solve: the report says why */
  NEWEL_INVALID = 2,       /* an invalid argument, option or matrix */
  NEWEL_OUT_OF_MEMORY = 3,
  NEWEL_INTERNAL = 4 /* anything else */
};

/* A system: its options and, after a setup, the matrix in its format, the preconditioner and the last reports. */
typedef struct newel_system newel_system;

/* The version of this interface, 1, and of the library: three numbers with dots between them. */
NEWEL_API int newel_c_version(void);
NEWEL_API const char* newel_version(void);

/* A new system with the default options. */
NEWEL_API int newel_create(newel_system** system);
/* Frees a system. Does nothing for a null pointer. */
NEWEL_API void newel_destroy(newel_system* system);
/* The error text of the last call that returned NEWEL_INVALID or more; valid until the next call. */
NEWEL_API const char* newel_error(const newel_system* system);

/* Options of a solve, used from the next solve on:
 *   rtol            1e-8    a solve ends when |b - A x| <= max(rtol |b|, atol)
 *   atol            0
 *   max_iterations  10000
 *   time_limit      0       seconds; 0: none
 *   guess           x       start from the values in x; or zero: start from zero, ignore x, save a product. Or, from
 *                           the next setup on, from past solutions: extrapolate, project, project:M, auto (the best
 *                           combination of the last M, for time loops; see docs/howto/time-loop.md)
 * Options of a setup, used from the next setup on:
 *   solver          auto    or cg, minres, bicgstab, idrs, gmres, fgmres; direct, on the host; division, for diagonal matrices
 *   preconditioner  auto    or none, jacobi, l1-jacobi, block-jacobi, spai0, spai, fsai, amg, ilu, ilut, ic,
 *                           saddle
 *   format          auto    or measure, csr, ehyb, ...
 *   precision       double  or single (arrays of float), mixed (arrays of double)
 *   values          real    or complex: those of the matrix, b, x and y. Rows, columns and coordinates are complex ones;
 *                           near null spaces are real. stored_half means a matrix that is equal to its transpose
 *   device          host    or cuda, the first GPU; cuda:1, the second; ...
 *   threads         0       host threads; 0: OMP_NUM_THREADS, else all; must be 0 for a device
 *   index_base      0       or 1: all indices and pointers count from 1
 *   stored_half     none    or lower, upper: only this half of a symmetric matrix is passed
 *   null_space      none    or constant
 *   restart         0       iterations per cycle of GMRES; 0: chosen by the method
 *   columns         1       expected right-hand sides per solve
 *   recycle         0       approximate eigenvectors that CG or GMRES passes on, at most 32; or auto
 *   expected_solves 0       expected number of solves with this setup; 0: not known
 *   deterministic   no      or yes: refuse choices that may give different bits from run to run
 *   plan_cache              a folder that stores row orders, measured choices, and what "auto" has learnt
 *   decision                the text "decision" of a report for a matrix of the same pattern: start from that state
 * Also the options of preconditioners and solvers, with their names in reports: amg_degree, fsai_power, basis, ...
 * An unknown name or value returns NEWEL_INVALID, and the error text lists the valid ones. */
NEWEL_API int newel_set(newel_system* system, const char* name, const char* value);

/* Coordinates of the mesh nodes for algebraic multigrid, point after point, in dimension 1, 2 or 3. Node i has the
 * rows b i .. b i + b - 1, b = rows / points. Used from the next setup on; points = 0: no coordinates. */
NEWEL_API int newel_set_coordinates(newel_system* system, int64_t points, int dimension, const double* xyz);
/* `count` vectors that A maps to almost zero, for algebraic multigrid; the values of a row are adjacent. */
NEWEL_API int newel_set_near_null_space(newel_system* system, int64_t rows, int count, const double* values);

/* GPUs that share the rows of a system: `count` numbers, from 0. Used from the next setup on, instead of the option
 * "device". Of 1 it is a system on that device, of 0 on the host. A system on several devices has the preconditioners
 * none, jacobi, l1-jacobi, fsai, spai, spai0 and amg, and the format csr. Its arrays are in host memory. Options that need the whole
 * matrix return NEWEL_INVALID at setup. If a refresh or a solve fails on a device, set the system up again. Returns
 * NEWEL_INVALID if a number is negative, or if the library was built without CUDA. */
NEWEL_API int newel_set_devices(newel_system* system, int count, const int* devices);

/* The caller's stream, a cudaStream_t, for systems on a device; used from the next setup on. Systems then queue all
 * work on it, and it must outlive them. Null, the default, is the legacy default stream: systems then use their own
 * stream, ordered with the legacy one. NEWEL_INVALID if the library was built without CUDA. */
NEWEL_API int newel_set_stream(newel_system* system, void* stream);

/* Called after each iteration of a solve, on the calling thread; if it returns 0, the solve ends. On a device it is
 * called when the host polls: every 16 iterations or fewer, up to 256 if one kernel runs the solve. A null function:
 * no calls. */
typedef int (*newel_progress)(void* user, int column, int iteration, double relative_residual);
NEWEL_API int newel_set_progress(newel_system* system, newel_progress function, void* user);

/* Sets the system up for an n x n matrix. `index_bits` is 32 or 64. Entries may be in any order; repeated entries are
 * summed. The arrays:
 *   csr  row_ptr of length n + 1; col and val, as long as the last element of row_ptr says
 *   csc  col_ptr of length n + 1; row and val
 *   coo  row, col and val of length `entries`
 *   bsr  row_ptr of length block_rows + 1; per block, one block column and block_size^2 values, row by row */
NEWEL_API int newel_setup_csr(newel_system* system, int64_t n, int index_bits, const void* row_ptr, const void* col,
                              const void* val);
NEWEL_API int newel_setup_csc(newel_system* system, int64_t n, int index_bits, const void* col_ptr, const void* row,
                              const void* val);
NEWEL_API int newel_setup_coo(newel_system* system, int64_t n, int64_t entries, int index_bits, const void* row,
                              const void* col, const void* val);
NEWEL_API int newel_setup_bsr(newel_system* system, int64_t block_rows, int block_size, int index_bits,
                              const void* row_ptr, const void* col, const void* val);

/* Ranks that solve a system together: processes under MPI, as newel_mpi_comm of newel_mpi.h makes them. */
typedef struct newel_comm newel_comm;

/* Sets up a system whose rows are distributed over ranks. All ranks call this together, with the same options, and so
 * they call newel_refresh, newel_solve and newel_multiply. Each passes its own rows, which follow those of the
 * previous rank: row_ptr of length rows + 1, col with columns of the whole matrix, val. `index_bits` is 32 or 64, for
 * row_ptr and col. Columns ascend strictly in each row. A rank may have no rows.
 *
 * With the device cuda each rank takes a GPU of its host. If there are more ranks than GPUs, consecutive ranks share
 * one: the first of them solves for the others, which hand their rows to it. Arrays are in host memory.
 *
 * Vectors are a rank's own parts. Reports are the same on all ranks; "rows" is the rank's number of rows. Options
 * that need the whole matrix return NEWEL_INVALID. If one rank fails, the calls of the others return NEWEL_INTERNAL,
 * with the number and the error text of that rank. The ranks cannot be used any more after that: end the program with
 * MPI_Abort. */
NEWEL_API int newel_setup_rows(newel_system* system, const newel_comm* ranks, int64_t rows, int index_bits,
                               const void* row_ptr, const void* col, const void* val);

/* Sets up a batch: many small systems of one n x n pattern and different values, solved together. The pattern is CSR
 * in host memory, with ascending columns in each row. Of the options of a setup it has: solver (auto, cg, bicgstab,
 * gmres), preconditioner (jacobi, which is also auto; block-jacobi, fsai, ilu, none), block_jacobi_rows, restart,
 * precision (double, single), device, threads and index_base. */
NEWEL_API int newel_setup_batch(newel_system* system, int64_t n, int index_bits, const void* row_ptr, const void* col);

/* Solves `systems` systems of a batch. `values` holds the values of one system after another, in the order of the
 * pattern; b and x have n values for each system. The options of a solve apply to each system, but for time_limit.
 * NEWEL_OK if all converged. Each system has a report, whose column is the number of the system, from 0: the numbers up
 * to tolerance, and the texts status, cause, reason, solver and preconditioner. */
NEWEL_API int newel_solve_batch(newel_system* system, int64_t systems, const void* values, const void* b, void* x);

/* The smallest eigenvalues lambda and eigenvectors x of A x = lambda M x, `pairs` of them, by LOBPCG. A, M and the
 * preconditioner belong to systems that are set up before, all with the option "format" csr, real values in double
 * precision, on the host or on one device:
 *   system          A, symmetric
 *   mass            M, symmetric positive definite, with the preconditioner jacobi; null: the identity
 *   preconditioned  its preconditioner is used: amg, say, of a positive definite matrix that is close to A. Null: that of
 *                   `system`. Needed if A is singular: A - sigma M with a sigma below all eigenvalues
 * `null_space`: `null_vectors` vectors, one after another, that are left out, such as the null space of A; 0 and null:
 * none. `values` gets the eigenvalues, ascending, in host memory. `vectors` gets the eigenvectors, one after another,
 * with V^T M V = I; the largest entry of each is positive.
 *
 * A pair has converged if its residual, the norm of (A x - lambda M x) / sqrt(diagonal of M), is at most rtol times the
 * largest of the eigenvalues; an rtol of 1e-6 is usually enough. max_iterations and time_limit of `system` apply. The
 * progress function gets column 0 and -1 for the residual. NEWEL_OK if all pairs converged. Each pair has a report,
 * whose column is its number, from 0: converged, iterations, true_residual, tolerance, seconds, status, cause, reason. */
NEWEL_API int newel_eigenpairs(newel_system* system, newel_system* mass, newel_system* preconditioned, int pairs,
                               int null_vectors, const double* null_space, double* values, double* vectors);

/* Replaces the values; the pattern stays the same. `val` has the order and length of the setup's values. If
 * `keep_preconditioner` is not 0, the preconditioner keeps its values. After NEWEL_INVALID the system is unusable
 * until a refresh succeeds. */
NEWEL_API int newel_refresh(newel_system* system, const void* val, int keep_preconditioner);

/* Takes an n x n matrix of any pattern, as newel_setup_csr takes it. The first call sets the system up; one that another
 * function has set up is replaced. Later calls refresh the values if the matrix has entries only where that of the last
 * setup has some: those that are missing are zeros, and `keep_preconditioner` is as in newel_refresh. Otherwise
 * everything is set up again, with the options of the first call; if that fails, the system is as before. Unless null,
 * `set_up_again` gets 1 if there was a setup, else 0. On the host or on one device; NEWEL_INVALID on several. */
NEWEL_API int newel_update_csr(newel_system* system, int64_t n, int index_bits, const void* row_ptr, const void* col,
                               const void* val, int keep_preconditioner, int* set_up_again);

/* Replaces the coordinates of the nodes: as many points as newel_set_coordinates gave to the setup. The next refresh
 * of the preconditioner uses them. */
NEWEL_API int newel_move_nodes(newel_system* system, int64_t points, int dimension, const double* xyz);

/* Solves for `columns` right-hand sides, stored one after another in b. Starts from the guesses in x or from zero
 * (option `guess`), and overwrites x with the solutions. NEWEL_OK if all converged, by residuals computed from x. */
NEWEL_API int newel_solve(newel_system* system, int64_t columns, const void* b, void* x);

/* y = A x. */
NEWEL_API int newel_multiply(newel_system* system, const void* x, void* y);

/* The report of the last solve, for a column counted from 0:
 *   numbers  converged (0 or 1), iterations, true_residual, initial_residual, rhs_norm, tolerance,
 *            attainable_residual, seconds, restarts, history_length; residual_error_bound, a bound on the rounding
 *            error of true_residual: in a converged solve their sum meets the tolerance; row_residual, near 1 if a
 *            row is hardly solved, negative: not known; scaled_residual, relative, with each row divided by its
 *            largest entry, negative: rows were not scaled; of the system: rows, setup_seconds, bytes
 *   texts    status, cause, reason, warning (empty: none), solver, preconditioner, format, changed, decision: what
 *            "auto" has decided and learnt so far, as JSON; link, how values travel between the devices or
 *            ranks that share a system
 * A text is valid until the next call for this system. */
NEWEL_API int newel_report_number(newel_system* system, int64_t column, const char* name, double* value);
NEWEL_API int newel_report_text(newel_system* system, int64_t column, const char* name, const char** text);
/* The first `capacity` of history_length residuals: before the first and after each iteration. */
NEWEL_API int newel_report_history(newel_system* system, int64_t column, double* residuals, int64_t capacity);

#ifdef __cplusplus
}
#endif

#endif
