/* SPDX-License-Identifier: Apache-2.0 */
/* 13  Under MPI, from C: heat in a rod, whose points are shared out among processes.
 *
 * Each process passes its rows, with column numbers of the whole matrix, and gets its part of u.
 *
 * Shows: newel_mpi_comm, newel_setup_rows.
 * Link: newel::newel_c and newel::newel_mpi_c. Run: mpirun -n 3 13_mpi_from_c. */
#include <math.h>
#include <mpi.h>
#include <newel.h>
#include <newel_mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  /* -u'' + 50 u = f with u = x (1 - x) at n points: rows first, first + 1, ... of n. */
  const int64_t n = 300, first = n * rank / size, rows = n * (rank + 1) / size - first;
  const double h = 1.0 / (double)(n + 1);
  int64_t* row_ptr = malloc((size_t)(rows + 1) * sizeof *row_ptr);
  int64_t* col = malloc((size_t)(3 * rows + 1) * sizeof *col);
  double* val = malloc((size_t)(3 * rows + 1) * sizeof *val);
  double* b = malloc((size_t)(rows + 1) * sizeof *b);
  double* u = malloc((size_t)(rows + 1) * sizeof *u);
  int64_t count = row_ptr[0] = 0;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = first + i - 1; j <= first + i + 1; ++j) {
      if (j < 0 || j >= n) continue;
      col[count] = j;
      val[count++] = j == first + i ? 2 + 50 * h * h : -1;
    }
    row_ptr[i + 1] = count;
    const double x = (double)(first + i + 1) * h;
    b[i] = h * h * (2 + 50 * x * (1 - x));
  }

  newel_comm* ranks;
  newel_system* s;
  if (newel_mpi_comm(MPI_COMM_WORLD, &ranks) != NEWEL_OK || newel_create(&s) != NEWEL_OK)
    MPI_Abort(MPI_COMM_WORLD, 1);
  newel_set(s, "rtol", "1e-10");
  newel_set(s, "guess", "zero");
  newel_set(s, "threads", "1");
  if (newel_setup_rows(s, ranks, rows, 64, row_ptr, col, val) != NEWEL_OK || newel_solve(s, 1, b, u) > 1) {
    fprintf(stderr, "rank %d: %s\n", rank, newel_error(s));
    MPI_Abort(MPI_COMM_WORLD, 1);
  }

  double error = 0, worst, iterations, converged;
  for (int64_t i = 0; i < rows; ++i) {
    const double x = (double)(first + i + 1) * h;
    error = fmax(error, fabs(u[i] - x * (1 - x)));
  }
  MPI_Allreduce(&error, &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  newel_report_number(s, 0, "converged", &converged);
  newel_report_number(s, 0, "iterations", &iterations);
  const int good = converged == 1 && worst < 1e-8;
  if (rank == 0) {
    printf("%s after %.0f iterations on %d processes, error %.1e\n", converged == 1 ? "converged" : "FAILED",
           iterations, size, worst);
  }

  newel_destroy(s);
  newel_comm_destroy(ranks);
  free(row_ptr), free(col), free(val), free(b), free(u);
  MPI_Finalize();
  return good ? 0 : 1;
}
