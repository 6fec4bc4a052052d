/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of small systems by the C interface. Residuals are computed here. */
#include <math.h>
#include <newel.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

enum { n = 30, systems = 11, most = 3 * n };

static int64_t row_ptr[n + 1], col[most];
static double val[systems * most], b[systems * n], x[systems * n];
static float narrow_val[systems * most], narrow_b[systems * n], narrow_x[systems * n];
static int entries = 0;

/* A line of n points in each system, with another diagonal; counted from `base`. */
static void make_systems(int base) {
  entries = 0;
  for (int i = 0; i < n; ++i) {
    row_ptr[i] = entries + base;
    for (int j = i - 1; j <= i + 1; ++j) {
      if (j >= 0 && j < n) col[entries++] = j + base;
    }
  }
  row_ptr[n] = entries + base;
  for (int s = 0; s < systems; ++s) {
    int at = 0;
    for (int i = 0; i < n; ++i) {
      for (int64_t e = row_ptr[i]; e < row_ptr[i + 1]; ++e, ++at)
        val[s * entries + at] = col[at] - base == i ? 2.1 + 0.1 * s : -1.0;
    }
  }
  for (int i = 0; i < systems * entries; ++i) narrow_val[i] = (float)val[i];
  for (int i = 0; i < systems * n; ++i) {
    b[i] = 1 + i % 7;
    narrow_b[i] = (float)b[i];
    x[i] = 0;
  }
}

/* |b - A found| / |b| of a system. */
static double residual(int s, int base, const double* found) {
  double sum = 0, whole = 0;
  for (int i = 0; i < n; ++i) {
    double r = b[s * n + i];
    for (int64_t e = row_ptr[i] - base; e < row_ptr[i + 1] - base; ++e)
      r -= val[s * entries + e] * found[s * n + col[e] - base];
    sum += r * r;
    whole += b[s * n + i] * b[s * n + i];
  }
  return sqrt(sum / whole);
}

static void solves(const char* solver, const char* preconditioner, int base) {
  newel_system* system = NULL;
  make_systems(base);
  CHECK(newel_create(&system) == NEWEL_OK);
  CHECK(newel_set(system, "solver", solver) == NEWEL_OK);
  CHECK(newel_set(system, "preconditioner", preconditioner) == NEWEL_OK);
  CHECK(newel_set(system, "rtol", "1e-10") == NEWEL_OK);
  CHECK(newel_set(system, "index_base", base == 0 ? "0" : "1") == NEWEL_OK);
  CHECK(newel_setup_batch(system, n, 64, row_ptr, col) == NEWEL_OK);
  CHECK(newel_solve_batch(system, systems, val, b, x) == NEWEL_OK);
  for (int s = 0; s < systems; ++s) {
    double reported = 0, iterations = 0;
    CHECK(residual(s, base, x) <= 1.0001e-10);
    CHECK(newel_report_number(system, s, "true_residual", &reported) == NEWEL_OK);
    CHECK(newel_report_number(system, s, "iterations", &iterations) == NEWEL_OK);
    CHECK(reported > 0 && reported < 1e-8 && iterations > 0);
  }
  newel_destroy(system);
}

static void reports_failures(void) {
  newel_system* system = NULL;
  const char* text = NULL;
  make_systems(0);
  val[3 * entries + 5] = NAN;
  CHECK(newel_create(&system) == NEWEL_OK);
  CHECK(newel_setup_batch(system, n, 64, row_ptr, col) == NEWEL_OK);
  CHECK(newel_solve_batch(system, systems, val, b, x) == NEWEL_NOT_CONVERGED);
  CHECK(newel_report_text(system, 3, "status", &text) == NEWEL_OK && strcmp(text, "not_finite") == 0);
  CHECK(newel_report_text(system, 3, "reason", &text) == NEWEL_OK && strlen(text) > 10);
  CHECK(newel_report_text(system, 4, "status", &text) == NEWEL_OK && strcmp(text, "converged") == 0);
  CHECK(newel_report_text(system, 4, "solver", &text) == NEWEL_OK && strcmp(text, "cg") == 0);
  CHECK(residual(4, 0, x) <= 1.0001e-8);
  CHECK(newel_solve_batch(system, 0, NULL, NULL, NULL) == NEWEL_OK);
  CHECK(newel_report_text(system, 0, "status", &text) == NEWEL_INVALID);
  newel_destroy(system);
}

static void solves_in_single_precision(void) {
  newel_system* system = NULL;
  make_systems(0);
  CHECK(newel_create(&system) == NEWEL_OK);
  CHECK(newel_set(system, "precision", "single") == NEWEL_OK);
  CHECK(newel_set(system, "rtol", "1e-4") == NEWEL_OK);
  CHECK(newel_setup_batch(system, n, 64, row_ptr, col) == NEWEL_OK);
  CHECK(newel_solve_batch(system, systems, narrow_val, narrow_b, narrow_x) == NEWEL_OK);
  for (int i = 0; i < systems * n; ++i) x[i] = narrow_x[i];
  for (int s = 0; s < systems; ++s) CHECK(residual(s, 0, x) <= 2e-4);
  newel_destroy(system);
}

static void refuses(void) {
  newel_system* system = NULL;
  make_systems(0);
  CHECK(newel_create(&system) == NEWEL_OK);
  CHECK(newel_solve_batch(system, systems, val, b, x) == NEWEL_INVALID);
  CHECK(newel_set(system, "precision", "mixed") == NEWEL_OK);
  CHECK(newel_setup_batch(system, n, 64, row_ptr, col) == NEWEL_INVALID);
  CHECK(strstr(newel_error(system), "precision") != NULL);
  CHECK(newel_set(system, "precision", "double") == NEWEL_OK);
  CHECK(newel_set(system, "preconditioner", "amg") == NEWEL_OK);
  CHECK(newel_setup_batch(system, n, 64, row_ptr, col) == NEWEL_INVALID);
  CHECK(strstr(newel_error(system), "block-jacobi") != NULL);
  CHECK(newel_set(system, "preconditioner", "auto") == NEWEL_OK);
  CHECK(newel_setup_batch(system, n, 16, row_ptr, col) == NEWEL_INVALID);
  CHECK(newel_setup_batch(system, n, 64, row_ptr, NULL) == NEWEL_INVALID);
  col[4] = n;
  CHECK(newel_setup_batch(system, n, 64, row_ptr, col) == NEWEL_INVALID);
  make_systems(0);
  CHECK(newel_setup_batch(system, n, 64, row_ptr, col) == NEWEL_OK);
  CHECK(newel_solve_batch(system, systems, NULL, b, x) == NEWEL_INVALID);
  CHECK(newel_solve_batch(system, -1, val, b, x) == NEWEL_INVALID);
  CHECK(newel_solve(system, 1, b, x) == NEWEL_INVALID);
  CHECK(strstr(newel_error(system), "newel_solve_batch") != NULL);
  CHECK(newel_refresh(system, val, 0) == NEWEL_INVALID);
  newel_destroy(system);
}

int main(void) {
  const char* const solvers[] = {"auto", "cg", "bicgstab", "gmres"};
  const char* const preconditioners[] = {"auto", "block-jacobi", "fsai", "ilu"};
  for (int k = 0; k < 4; ++k) {
    for (int m = 0; m < 4; ++m) solves(solvers[k], preconditioners[m], (k + m) % 2);
  }
  reports_failures();
  solves_in_single_precision();
  refuses();
  if (failures == 0) puts("all checks passed");
  return failures == 0 ? 0 : 1;
}
