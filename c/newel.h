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
 * Every function but newel_destroy and the first two returns one of the numbers below, and none ends the process or
 * throws. Arrays are read during the call that they are passed to and belong to the caller afterwards. They lie in the
 * memory of the host, for systems on a device also there. Values are double, or float where the option "precision" is
 * "single"; indices are signed integers of 32 or 64 bits. A system is used by one thread at a time, and a call for one
 * that is in use, from its own progress function say, is NEWEL_INVALID and leaves no text. Systems are independent of
 * each other.
 *
 * On a device (newel_set(s, "device", "cuda")), each array of a matrix, b, x, y and new values may lie in the memory
 * of that device, or in that of the host: it is then copied there, and x and y back. Arrays on the device are read and
 * written in the order of the caller's stream (newel_set_stream): what is queued on it before a call is waited for,
 * and what is queued on it after a call waits for the call's work, by the device and not by the thread. A solve
 * returns when x is there. Points, near null space, histories and texts are always those of the host. Which device is
 * current in the calling thread stays as it was. Where there is no GPU or no driver, a setup is NEWEL_INTERNAL and
 * says so.
 *
 * The names and meanings here stay as they are as long as newel_c_version() is 1: functions are added only. */
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
  NEWEL_NOT_CONVERGED = 1, /* of a solve: the report says why */
  NEWEL_INVALID = 2,       /* an argument, an option or a matrix that makes no sense */
  NEWEL_OUT_OF_MEMORY = 3,
  NEWEL_INTERNAL = 4 /* anything else */
};

/* A system, or what becomes one: options, the matrix in its format, the preconditioner, the last reports. */
typedef struct newel_system newel_system;

/* The version of this interface, 1, and of the library, such as "0.1.0". */
NEWEL_API int newel_c_version(void);
NEWEL_API const char* newel_version(void);

/* A new system with the default options. */
NEWEL_API int newel_create(newel_system** system);
/* Frees it. A null pointer is left alone. */
NEWEL_API void newel_destroy(newel_system* system);
/* What the last call that returned NEWEL_INVALID or more had to say: valid until the next call. */
NEWEL_API const char* newel_error(const newel_system* system);

/* Options of a solve, which hold from the next one on:
 *   rtol            1e-8    a solve ends at |b - A x| <= max(rtol |b|, atol)
 *   atol            0
 *   max_iterations  10000
 *   time_limit      0       seconds; 0: none
 *   guess           x       a solve starts from what x holds; or zero: from zero, without reading x, a product sooner
 * Options of a setup, which hold from the next one on:
 *   solver          auto    or cg, bicgstab, gmres; division, for diagonal matrices
 *   preconditioner  auto    or none, jacobi, spai0, spai, fsai, amg
 *   format          auto    or measure, csr, ehyb, ...
 *   precision       double  or single (arrays of float), mixed (arrays of double)
 *   device          host    or cuda, the first GPU; cuda:1, the second; ...
 *   threads         0       of the host; 0: OMP_NUM_THREADS, else all, which a device leaves no choice of
 *   index_base      0       or 1: all indices and pointers count from 1
 *   stored_half     none    or lower, upper: this half of a symmetric matrix is passed
 *   null_space      none    or constant
 *   restart         0       the length of a cycle of GMRES; 0: the method's own
 *   columns         1       right-hand sides that a solve will bring at once
 *   expected_solves 0       that the setup will be used for; 0: not known
 *   deterministic   no      or yes
 *   plan_cache              a folder that keeps orders, measured choices, and what "auto" has learnt
 *   decision                the text "decision" of a report, of a matrix of the same pattern: begin where that was
 * and those of preconditioners and solvers, as reports name them: amg_degree, fsai_power, basis, ... A name or a value
 * that there is not is NEWEL_INVALID, and the error lists those that there are. */
NEWEL_API int newel_set(newel_system* system, const char* name, const char* value);

/* Where the nodes lie, a point after the other, of dimension 1, 2 or 3, for algebraic multigrid: node i has the rows
 * b i .. b i + b - 1, b = rows / points. Holds from the next setup on; no points: none. */
NEWEL_API int newel_set_coordinates(newel_system* system, int64_t points, int dimension, const double* xyz);
/* `count` vectors that A maps to almost nothing, the values of a row next to each other, for the same purpose. */
NEWEL_API int newel_set_near_null_space(newel_system* system, int64_t rows, int count, const double* values);

/* The caller's stream, a cudaStream_t, for systems on a device; holds from the next setup on. They then queue all work
 * on it, and it outlives them. Null, the default, is the legacy default stream: systems then work on a stream of their
 * own, which takes turns with it. NEWEL_INVALID where the library was built without CUDA. */
NEWEL_API int newel_set_stream(newel_system* system, void* stream);

/* Called after each iteration of a solve, on the thread that called it; where it returns 0 the solve ends. On a device
 * the host looks after every 16 iterations or fewer, 256 where a solve is one kernel. A null function: none. */
typedef int (*newel_progress)(void* user, int column, int iteration, double relative_residual);
NEWEL_API int newel_set_progress(newel_system* system, newel_progress function, void* user);

/* Sets the system up for an n x n matrix. `index_bits` is 32 or 64. Entries come in any order, and repeated ones are
 * summed. The arrays:
 *   csr  row_ptr of n + 1, col and val of as many as row_ptr ends with
 *   csc  col_ptr of n + 1, row and val
 *   coo  row, col and val of `entries`
 *   bsr  row_ptr of block_rows + 1, a column of blocks and block_size^2 values, by rows, for each block */
NEWEL_API int newel_setup_csr(newel_system* system, int64_t n, int index_bits, const void* row_ptr, const void* col,
                              const void* val);
NEWEL_API int newel_setup_csc(newel_system* system, int64_t n, int index_bits, const void* col_ptr, const void* row,
                              const void* val);
NEWEL_API int newel_setup_coo(newel_system* system, int64_t n, int64_t entries, int index_bits, const void* row,
                              const void* col, const void* val);
NEWEL_API int newel_setup_bsr(newel_system* system, int64_t block_rows, int block_size, int index_bits,
                              const void* row_ptr, const void* col, const void* val);

/* New values on the same pattern, in the order and number of those of the setup. With `keep_preconditioner` other than
 * 0 the preconditioner stays as it is. After NEWEL_INVALID the system needs another refresh. */
NEWEL_API int newel_refresh(newel_system* system, const void* val, int keep_preconditioner);

/* The nodes have moved: as many points as newel_set_coordinates gave to the setup, which the next refresh of the
 * preconditioner takes into account. */
NEWEL_API int newel_move_nodes(newel_system* system, int64_t points, int dimension, const double* xyz);

/* Solves for `columns` right-hand sides, one after the other in b, from the guesses in x, which receives the
 * solutions, or from zero (`guess`). NEWEL_OK where all have converged, by a residual that was formed from x. */
NEWEL_API int newel_solve(newel_system* system, int64_t columns, const void* b, void* x);

/* y = A x. */
NEWEL_API int newel_multiply(newel_system* system, const void* x, void* y);

/* Of the last solve, for a column counted from 0:
 *   numbers  converged (0 or 1), iterations, true_residual, initial_residual, rhs_norm, tolerance,
 *            attainable_residual, seconds, restarts, history_length; residual_error_bound, how far rounding may have
 *            moved true_residual: a converged solve meets the tolerance with both together; row_residual, near 1
 *            where a row is hardly solved, negative: not known; of the system: rows, setup_seconds, bytes
 *   texts    status, cause, reason, warning (empty: none), solver, preconditioner, format, changed, decision: what
 *            "auto" has decided and learnt up to now, in JSON
 * A text is valid until the next call for this system. */
NEWEL_API int newel_report_number(newel_system* system, int64_t column, const char* name, double* value);
NEWEL_API int newel_report_text(newel_system* system, int64_t column, const char* name, const char** text);
/* The first `capacity` residuals, of which there are history_length: before the first and after each iteration. */
NEWEL_API int newel_report_history(newel_system* system, int64_t column, double* residuals, int64_t capacity);

#ifdef __cplusplus
}
#endif

#endif
