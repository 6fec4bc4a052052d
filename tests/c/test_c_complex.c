/* SPDX-License-Identifier: Apache-2.0 */
/* Complex systems by the C interface. Residuals are computed here. */
#include <complex.h>
#include <math.h>
#include <newel.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

enum { n = 40, most = 3 * n };

static int32_t row_ptr[n + 1], row[most], col[most];
static double complex val[most], b[2 * n], x[2 * n];
static float complex narrow_val[most], narrow_b[n], narrow_x[n];
static int entries = 0;

/* A line of n points: 2 + shift on the diagonal, -turn before it, -1 / turn behind it. */
static void make_matrix(double complex shift, double complex turn) {
  entries = 0;
  for (int i = 0; i < n; ++i) {
    row_ptr[i] = entries;
    for (int j = i - 1; j <= i + 1; ++j) {
      if (j < 0 || j >= n) continue;
      row[entries] = i;
      col[entries] = j;
      val[entries] = j == i ? 2 + shift : j < i ? -turn : -1 / turn;
      narrow_val[entries] = (float complex)val[entries];
      ++entries;
    }
  }
  row_ptr[n] = entries;
  for (int i = 0; i < 2 * n; ++i) b[i] = 1 + i % 7 - (i % 3) * I;
  for (int i = 0; i < n; ++i) narrow_b[i] = (float complex)b[i];
}

/* |right - factor A found| / |right| */
static double residual(const double complex* right, const double complex* found, double complex factor) {
  double sum = 0, whole = 0;
  for (int i = 0; i < n; ++i) {
    double complex r = right[i];
    for (int k = row_ptr[i]; k < row_ptr[i + 1]; ++k) r -= factor * val[k] * found[col[k]];
    sum += creal(r * conj(r));
    whole += creal(right[i] * conj(right[i]));
  }
  return sqrt(sum / whole);
}

static newel_system* complex_system(void) {
  newel_system* system = NULL;
  CHECK(newel_create(&system) == NEWEL_OK);
  CHECK(newel_set(system, "values", "complex") == NEWEL_OK);
  return system;
}

static void every_matrix_is_solved(void) {
  const double complex shifts[] = {0.5 * I, 0.1, 0, -6 + 0.1 * I}, turns[] = {1, cexp(0.7 * I), 1, 1};
  for (int k = 0; k < 4; ++k) {
    newel_system* system = complex_system();
    make_matrix(shifts[k], turns[k]);
    CHECK((k % 2 == 0 ? newel_setup_csr(system, n, 32, row_ptr, col, val)
                      : newel_setup_coo(system, n, entries, 32, row, col, val)) == NEWEL_OK);
    memset(x, 0, sizeof x);
    CHECK(newel_solve(system, 2, b, x) == NEWEL_OK);
    CHECK(residual(b, x, 1) < 1.001e-8);
    CHECK(residual(b + n, x + n, 1) < 1.001e-8);
    double rows = 0, norm = 0, sum = 0;
    for (int i = 0; i < n; ++i) sum += creal(b[i] * conj(b[i]));
    CHECK(newel_report_number(system, 0, "rows", &rows) == NEWEL_OK && rows == n);
    CHECK(newel_report_number(system, 0, "rhs_norm", &norm) == NEWEL_OK && fabs(norm - sqrt(sum)) < 1e-12 * norm);

    double complex other[most], y[n];
    for (int e = 0; e < entries; ++e) other[e] = (1 + 2 * I) * val[e];
    CHECK(newel_refresh(system, other, 0) == NEWEL_OK);
    CHECK(newel_solve(system, 1, b, x) == NEWEL_OK);
    CHECK(residual(b, x, 1 + 2 * I) < 1.001e-8);
    CHECK(newel_multiply(system, x, y) == NEWEL_OK);
    double far = 0;
    for (int i = 0; i < n; ++i) far = fmax(far, cabs(y[i] - b[i]));
    CHECK(far < 1e-6);
    newel_destroy(system);
  }
}

static void single_precision_takes_float_complex(void) {
  newel_system* system = complex_system();
  make_matrix(0.5 * I, 1);
  CHECK(newel_set(system, "precision", "single") == NEWEL_OK);
  CHECK(newel_set(system, "rtol", "1e-5") == NEWEL_OK);
  CHECK(newel_setup_csr(system, n, 32, row_ptr, col, narrow_val) == NEWEL_OK);
  CHECK(newel_solve(system, 1, narrow_b, narrow_x) == NEWEL_OK);
  for (int i = 0; i < n; ++i) x[i] = narrow_x[i];
  CHECK(residual(b, x, 1) < 2e-5);
  newel_destroy(system);
}

static void values_are_real_or_complex(void) {
  newel_system* system = complex_system();
  CHECK(newel_set(system, "values", "imaginary") == NEWEL_INVALID);
  CHECK(strstr(newel_error(system), "real, complex") != NULL);
  CHECK(newel_set(system, "null_space", "constant") == NEWEL_OK);
  make_matrix(0.5 * I, 1);
  CHECK(newel_setup_csr(system, n, 32, row_ptr, col, val) == NEWEL_INVALID);
  CHECK(strstr(newel_error(system), "null_space") != NULL);
  newel_destroy(system);
}

int main(void) {
  every_matrix_is_solved();
  single_precision_takes_float_complex();
  values_are_real_or_complex();
  printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
