/* SPDX-License-Identifier: Apache-2.0 */
/* Systems on ranks from C: both widths of indices and both bases, both precisions, columns, new values, refusals.
 * Judged by the residual of a tridiagonal matrix, which is computed here. With --fail the last process passes null,
 * and the first prints what it was told. */
#include <math.h>
#include <mpi.h>
#include <newel.h>
#include <newel_mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(holds)                                                     \
  do {                                                                   \
    if (!(holds)) {                                                      \
      fprintf(stderr, "rank %d, line %d: %s\n", rank, __LINE__, #holds); \
      MPI_Abort(MPI_COMM_WORLD, 1);                                      \
    }                                                                    \
  } while (0)

enum { n = 100, columns = 3 };
static int rank, size, first, rows;
static double val[3 * n], b[columns * n], x[columns * n];
static int64_t row_ptr64[n + 1], col64[3 * n];
static int32_t row_ptr32[n + 1], col32[3 * n];

/* The rows of this rank, of three ranks and more the second has none. */
static void make_rows(int base, double diagonal) {
  const int end = size > 2 && rank == 1 ? n / size : n * (rank + 1) / size;
  first = size > 2 && (rank == 1 || rank == 2) ? n / size : n * rank / size;
  rows = end - first;
  int count = 0;
  row_ptr32[0] = base;
  for (int i = 0; i < rows; ++i) {
    for (int j = first + i - 1; j <= first + i + 1; ++j) {
      if (j < 0 || j >= n) continue;
      col32[count] = j + base;
      val[count++] = j == first + i ? diagonal : -1;
    }
    row_ptr32[i + 1] = count + base;
  }
  for (int i = 0; i <= rows; ++i) row_ptr64[i] = row_ptr32[i];
  for (int k = 0; k < count; ++k) col64[k] = col32[k];
}

/* The largest |b - A x| of all ranks, for a column. */
static double residual(double diagonal, int column) {
  static double own[n], whole[n];
  memset(own, 0, sizeof own);
  for (int i = 0; i < rows; ++i) own[first + i] = x[column * rows + i];
  MPI_Allreduce(own, whole, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  double worst = 0, all;
  for (int i = 0; i < rows; ++i) {
    const int j = first + i;
    const double left = j > 0 ? whole[j - 1] : 0, right = j < n - 1 ? whole[j + 1] : 0;
    worst = fmax(worst, fabs(b[column * rows + i] - (diagonal * whole[j] - left - right)));
  }
  MPI_Allreduce(&worst, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all;
}

static void solves(newel_comm* ranks, int bits, int base) {
  newel_system* s;
  CHECK(newel_create(&s) == NEWEL_OK);
  CHECK(newel_set(s, "rtol", "1e-11") == NEWEL_OK);
  CHECK(newel_set(s, "index_base", base == 1 ? "1" : "0") == NEWEL_OK);
  make_rows(base, 2.5);
  for (int i = 0; i < columns * rows; ++i) b[i] = cos(0.3 * (first + i)), x[i] = 0;
  const void* const row_ptr = bits == 32 ? (const void*)row_ptr32 : row_ptr64;
  const void* const col = bits == 32 ? (const void*)col32 : col64;
  CHECK(newel_setup_rows(s, ranks, rows, bits, row_ptr, col, val) == NEWEL_OK);
  CHECK(newel_solve(s, columns, b, x) == NEWEL_OK);
  for (int c = 0; c < columns; ++c) CHECK(residual(2.5, c) < 1e-9);
  make_rows(base, 3.5);
  CHECK(newel_refresh(s, val, 0) == NEWEL_OK);
  CHECK(newel_solve(s, 1, b, x) == NEWEL_OK);
  CHECK(residual(3.5, 0) < 1e-9);
  double own_rows = 0, iterations = 0, of_first;
  CHECK(newel_report_number(s, 0, "rows", &own_rows) == NEWEL_OK && own_rows == rows);
  CHECK(newel_report_number(s, 0, "iterations", &iterations) == NEWEL_OK && iterations > 0);
  of_first = iterations;
  MPI_Bcast(&of_first, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  CHECK(of_first == iterations);
  newel_destroy(s);
}

/* What all ranks refuse together; the others may be told before they find it themselves. */
static void refuses(const char* name, const char* value, const char* words) {
  newel_comm* ranks;
  newel_system* s;
  CHECK(newel_mpi_comm(MPI_COMM_WORLD, &ranks) == NEWEL_OK && newel_create(&s) == NEWEL_OK);
  CHECK(newel_set(s, name, value) == NEWEL_OK);
  make_rows(0, 2.5);
  const int status = newel_setup_rows(s, ranks, rows, 64, row_ptr64, col64, val);
  CHECK(status == NEWEL_INVALID || (status == NEWEL_INTERNAL && size > 1));
  CHECK(strstr(newel_error(s), words) != NULL);
  newel_destroy(s);
  newel_comm_destroy(ranks);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Each rank takes a GPU, or hands its rows to one that has one; without GPUs all are told. */
static void solves_on_gpus(void) {
  newel_comm* ranks;
  newel_system* s;
  CHECK(newel_mpi_comm(MPI_COMM_WORLD, &ranks) == NEWEL_OK && newel_create(&s) == NEWEL_OK);
  if (newel_set(s, "device", "cuda") != NEWEL_OK) {
    if (rank == 0) printf("skipped: a library without CUDA: ranks with GPUs\n");
  } else {
    make_rows(0, 2.5);
    for (int i = 0; i < columns * rows; ++i) b[i] = cos(0.3 * (first + i)), x[i] = 0;
    CHECK(newel_set(s, "rtol", "1e-11") == NEWEL_OK);
    const int status = newel_setup_rows(s, ranks, rows, 64, row_ptr64, col64, val);
    if (status == NEWEL_OK) {
      const char* link = NULL;
      CHECK(newel_solve(s, columns, b, x) == NEWEL_OK);
      for (int c = 0; c < columns; ++c) CHECK(residual(2.5, c) < 1e-9);
      CHECK(newel_report_text(s, 0, "link", &link) == NEWEL_OK && link[0] != 0);
      if (rank == 0) printf("link: %s\n", link);
    } else {
      CHECK(status == NEWEL_INTERNAL && strstr(newel_error(s), "sees no CUDA device") != NULL);
      if (rank == 0) printf("skipped: no CUDA device: ranks with GPUs\n");
    }
    newel_destroy(s);
    newel_comm_destroy(ranks);
    MPI_Barrier(MPI_COMM_WORLD);
    refuses("device", "cuda:1", "each rank takes a GPU of its host");
    return;
  }
  newel_destroy(s);
  newel_comm_destroy(ranks);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  newel_comm* ranks = NULL;
  CHECK(newel_mpi_comm(MPI_COMM_WORLD, NULL) == NEWEL_INVALID);
  CHECK(newel_mpi_comm(MPI_COMM_NULL, &ranks) == NEWEL_INVALID);
  CHECK(newel_mpi_comm(MPI_COMM_WORLD, &ranks) == NEWEL_OK);
  newel_comm_destroy(NULL);
  if (argc > 1) {
    newel_system* s;
    CHECK(newel_create(&s) == NEWEL_OK);
    make_rows(0, 2.5);
    const int status = newel_setup_rows(s, ranks, rows, 64, rank == size - 1 ? NULL : row_ptr64, col64, val);
    CHECK(status == (rank == size - 1 ? NEWEL_INVALID : NEWEL_INTERNAL));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("rank 0 was told: %s\n", newel_error(s)), fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  solves(ranks, 32, 0);
  solves(ranks, 32, 1);
  solves(ranks, 64, 0);
  solves(ranks, 64, 1);
  newel_comm_destroy(ranks);
  refuses("stored_half", "lower", "stored_half");
  refuses("plan_cache", ".", "plan_cache");
  refuses("format", "ehyb", "ehyb");
  solves_on_gpus();
  if (rank == 0) printf("%d ranks: ok\n", size);
  MPI_Finalize();
  return 0;
}
