/* SPDX-License-Identifier: Apache-2.0 */
/* 09  Newel from C: heat in a rod that is warmed along its length and cooled at its ends, in ten steps of time,
 *
 *         u_t = k_s u_xx + 1   on (0, 1),      u = 0 at both ends and at the beginning,      k_s = 1 + s / 10 in step s
 *
 * Finite differences on n interior points, h = 1 / (n + 1), and backward Euler with the step dt, multiplied by h^2 / dt:
 *
 *         (h^2 / dt + 2 k) u_i - k (u_(i-1) + u_(i+1)) = h^2 / dt u_i(before) + h^2
 *
 * The matrix of every step has the same pattern and other values. The program solves each system by elimination, too,
 * which for three diagonals is a few lines, and compares.
 *
 * Shows: newel.h: options, setup, refresh, solve, fields of the report.
 * Compile: in your CMakeLists.txt find_package(newel), target_link_libraries(program PRIVATE newel::newel_c); here
 * the target 09_from_c. */
#include <math.h>
#include <newel.h>
#include <stdio.h>
#include <stdlib.h>

enum { n = 2000, steps = 10 };

/* The values of step s, row by row. */
static void assemble(double conduction, double mass, double* val) {
  int k = 0;
  for (int i = 0; i < n; ++i) {
    if (i > 0) val[k++] = -conduction;
    val[k++] = mass + 2 * conduction;
    if (i < n - 1) val[k++] = -conduction;
  }
}

/* x = A^-1 b by elimination; work has room for n. */
static void eliminate(double conduction, double mass, const double* b, double* x, double* work) {
  double pivot = mass + 2 * conduction;
  x[0] = b[0] / pivot;
  for (int i = 1; i < n; ++i) {
    work[i] = -conduction / pivot;
    pivot = mass + 2 * conduction + conduction * work[i];
    x[i] = (b[i] + conduction * x[i - 1]) / pivot;
  }
  for (int i = n - 2; i >= 0; --i) x[i] -= work[i + 1] * x[i + 1];
}

static int fail(newel_system* system, const char* what) {
  printf("%s: %s\n", what, newel_error(system));
  newel_destroy(system);
  return 1;
}

int main(void) {
  static int32_t row_ptr[n + 1], col[3 * n];
  static double val[3 * n], u[n], b[n], exact[n], work[n];
  for (int i = 0; i < n; ++i) {
    int32_t k = row_ptr[i];
    if (i > 0) col[k++] = i - 1;
    col[k++] = i;
    if (i < n - 1) col[k++] = i + 1;
    row_ptr[i + 1] = k;
  }
  const double h = 1.0 / (n + 1), dt = 1e-3, mass = h * h / dt;

  newel_system* system;
  if (newel_create(&system) != NEWEL_OK) return 1;
  newel_set(system, "rtol", "1e-10");
  newel_set(system, "expected_solves", "10");
  assemble(1, mass, val);
  if (newel_setup_csr(system, n, 32, row_ptr, col, val) != NEWEL_OK) return fail(system, "setup");

  double worst = 0, iterations = 0, total = 0;
  for (int s = 0; s < steps; ++s) {
    const double conduction = 1 + s / 10.0;
    assemble(conduction, mass, val);
    if (newel_refresh(system, val, 0) != NEWEL_OK) return fail(system, "refresh");
    for (int i = 0; i < n; ++i) b[i] = mass * u[i] + h * h;
    eliminate(conduction, mass, b, exact, work);
    if (newel_solve(system, 1, b, u) != NEWEL_OK) {
      const char* reason = "";
      newel_report_text(system, 0, "reason", &reason);
      return fail(system, reason);
    }
    newel_report_number(system, 0, "iterations", &iterations);
    total += iterations;
    for (int i = 0; i < n; ++i) worst = fmax(worst, fabs(u[i] - exact[i]) / exact[n / 2]);
  }
  const char *solver = "", *format = "";
  newel_report_text(system, 0, "solver", &solver);
  printf("%d steps by %s", steps, solver);
  newel_report_text(system, 0, "format", &format);
  printf(" in %s: %.0f iterations, error %.1e\n", format, total, worst);
  newel_destroy(system);
  /* |error| <= |A^-1| |r|, |A^-1| <= 1 / mass, |r| <= 1e-10 |b|, and b is at most mass u + h^2 = mass (u + dt) in each of
   * the n points, u that of the middle, where it has grown to about dt in the first step. Twice that for rounding. */
  return worst < 2 * 1e-10 * sqrt(n) * 2 ? 0 : 1;
}
