/* SPDX-License-Identifier: Apache-2.0 */
/* The smallest eigenpairs by the C interface, against formulas of chains. Residuals are computed here. */
#include <math.h>
#include <newel.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

enum { n = 300, most = 3 * n, pairs = 4 };

static const double pi = 3.14159265358979323846;
static int row_ptr[n + 1], col[most];
static float narrow[most];
static double stiffness[most], mass[most], shifted[most], values[pairs], vectors[pairs * n], ones[n];

/* A chain of springs whose ends are held, or free, and the mass of linear elements times 6. */
static void make_chain(int is_free) {
  int at = 0;
  for (int i = 0; i < n; ++i) {
    row_ptr[i] = at;
    ones[i] = 1;
    for (int j = i - 1; j <= i + 1; ++j) {
      if (j < 0 || j >= n) continue;
      const int end = is_free && (i == 0 || i == n - 1);
      col[at] = j;
      stiffness[at] = i == j ? (end ? 1 : 2) : -1;
      mass[at] = i == j ? (end ? 2 : 4) : 1;
      narrow[at] = (float)mass[at];
      shifted[at] = stiffness[at] + 1e-5 * mass[at];
      ++at;
    }
  }
  row_ptr[n] = at;
}

static newel_system* set_up(const void* val, const char* preconditioner, const char* precision) {
  newel_system* system = NULL;
  CHECK(newel_create(&system) == NEWEL_OK);
  CHECK(newel_set(system, "solver", "cg") == NEWEL_OK);
  CHECK(newel_set(system, "format", "csr") == NEWEL_OK);
  CHECK(newel_set(system, "preconditioner", preconditioner) == NEWEL_OK);
  CHECK(newel_set(system, "precision", precision) == NEWEL_OK);
  CHECK(newel_set(system, "rtol", "1e-7") == NEWEL_OK);
  CHECK(newel_setup_csr(system, n, 32, row_ptr, col, val) == NEWEL_OK);
  return system;
}

/* sum_j A_ij x_j */
static double product(const double* val, const double* x, int i) {
  double sum = 0;
  for (int e = row_ptr[i]; e < row_ptr[i + 1]; ++e) sum += val[e] * x[col[e]];
  return sum;
}

/* |A x - lambda M x| / sqrt(diagonal of M), and that x.M x = 1 with a positive largest entry. */
static double residual(int pair, const double* of_mass) {
  const double* const x = vectors + pair * n;
  double sum = 0, length = 0, largest = 0;
  for (int i = 0; i < n; ++i) {
    const double m = of_mass ? product(of_mass, x, i) : x[i];
    double diagonal = 1;
    for (int e = row_ptr[i]; of_mass && e < row_ptr[i + 1]; ++e) {
      if (col[e] == i) diagonal = of_mass[e];
    }
    const double r = product(stiffness, x, i) - values[pair] * m;
    sum += r * r / diagonal;
    length += x[i] * m;
    if (fabs(x[i]) > fabs(largest)) largest = x[i];
  }
  CHECK(fabs(length - 1) < 1e-10 && largest > 0);
  return sqrt(sum);
}

static void check_pairs(newel_system* system, const double* of_mass, const double* expected) {
  for (int k = 0; k < pairs; ++k) {
    double reported = 0, tolerance = 0, iterations = 0;
    const char* text = NULL;
    CHECK(newel_report_number(system, k, "true_residual", &reported) == NEWEL_OK);
    CHECK(newel_report_number(system, k, "tolerance", &tolerance) == NEWEL_OK);
    CHECK(newel_report_number(system, k, "iterations", &iterations) == NEWEL_OK);
    CHECK(newel_report_text(system, k, "status", &text) == NEWEL_OK && strcmp(text, "converged") == 0);
    CHECK(newel_report_text(system, k, "solver", &text) == NEWEL_OK && strcmp(text, "lobpcg") == 0);
    CHECK(fabs(tolerance - 1e-7 * values[pairs - 1]) < 1e-9 * values[pairs - 1] && iterations > 0);
    CHECK(residual(k, of_mass) <= 1.01 * tolerance + 1e-13 && fabs(residual(k, of_mass) - reported) < 1e-13);
    CHECK(fabs(values[k] - expected[k]) <= tolerance); /* a residual bounds the distance to an eigenvalue */
  }
  CHECK(newel_report_text(system, pairs, "status", &(const char*){NULL}) == NEWEL_INVALID);
}

static void finds_those_of_a_matrix(const char* preconditioner) {
  double expected[pairs];
  make_chain(0);
  for (int k = 0; k < pairs; ++k) expected[k] = 4 * pow(sin(pi * (k + 1) / (2.0 * (n + 1))), 2);
  newel_system* system = set_up(stiffness, preconditioner, "double");
  CHECK(newel_eigenpairs(system, NULL, NULL, pairs, 0, NULL, values, vectors) == NEWEL_OK);
  check_pairs(system, NULL, expected);
  newel_destroy(system);
}

/* The free chain: stiffness 2 - 2 cos t and mass 4 + 2 cos t, t = k pi / (n - 1). */
static void finds_those_of_a_pencil(int leaves_out) {
  double expected[pairs];
  make_chain(1);
  for (int k = 0; k < pairs; ++k) {
    const double c = cos(pi * (k + leaves_out) / (n - 1));
    expected[k] = (2 - 2 * c) / (4 + 2 * c);
  }
  newel_system* const of_a = set_up(stiffness, "none", "double");
  newel_system* const of_m = set_up(mass, "jacobi", "double");
  newel_system* const near = set_up(shifted, "amg", "double");
  CHECK(newel_eigenpairs(of_a, of_m, near, pairs, leaves_out, ones, values, vectors) == NEWEL_OK);
  check_pairs(of_a, mass, expected);
  for (int k = 0; leaves_out && k < pairs; ++k) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += product(mass, vectors + k * n, i);
    CHECK(fabs(sum) < 1e-8);
  }
  newel_destroy(near);
  newel_destroy(of_m);
  newel_destroy(of_a);
}

static int at_most_two(void* user, int column, int iteration, double residual_of_solve) {
  *(int*)user = iteration;
  return column == 0 && residual_of_solve == -1 && iteration < 2;
}

static void ends_early(void) {
  int last = 0;
  const char* text = NULL;
  make_chain(0);
  newel_system* const system = set_up(stiffness, "none", "double");
  CHECK(newel_set(system, "max_iterations", "3") == NEWEL_OK);
  CHECK(newel_eigenpairs(system, NULL, NULL, pairs, 0, NULL, values, vectors) == NEWEL_NOT_CONVERGED);
  CHECK(newel_report_text(system, 0, "status", &text) == NEWEL_OK && strcmp(text, "max_iterations") == 0);
  CHECK(newel_report_text(system, 0, "reason", &text) == NEWEL_OK && strlen(text) > 10);
  CHECK(newel_set_progress(system, at_most_two, &last) == NEWEL_OK);
  CHECK(newel_eigenpairs(system, NULL, NULL, pairs, 0, NULL, values, vectors) == NEWEL_NOT_CONVERGED);
  CHECK(newel_report_text(system, 0, "status", &text) == NEWEL_OK && strcmp(text, "stopped_by_caller") == 0);
  CHECK(last == 2);
  newel_destroy(system);
}

static void refuses(void) {
  newel_system *empty = NULL, *wrong = NULL;
  make_chain(0);
  newel_system* const system = set_up(stiffness, "amg", "double");
  newel_system* const of_m = set_up(mass, "none", "double");
  newel_system* const single = set_up(narrow, "jacobi", "single");
  CHECK(newel_create(&empty) == NEWEL_OK);
#define REFUSES(words, ...)                              \
  CHECK(newel_eigenpairs(__VA_ARGS__) == NEWEL_INVALID); \
  CHECK(strstr(newel_error(system), words) != NULL || !(words)[0])
  REFUSES("pairs", system, NULL, NULL, 0, 0, NULL, values, vectors);
  REFUSES("values", system, NULL, NULL, pairs, 0, NULL, NULL, vectors);
  REFUSES("vectors", system, NULL, NULL, pairs, 0, NULL, values, NULL);
  REFUSES("null_space", system, NULL, NULL, pairs, 1, NULL, values, vectors);
  REFUSES("mass", system, system, NULL, pairs, 0, NULL, values, vectors);
  REFUSES("jacobi", system, of_m, NULL, pairs, 0, NULL, values, vectors);
  REFUSES("double precision", system, single, NULL, pairs, 0, NULL, values, vectors);
  REFUSES("set up", system, empty, NULL, pairs, 0, NULL, values, vectors);
  REFUSES("", empty, NULL, NULL, pairs, 0, NULL, values, vectors);
  REFUSES("", NULL, NULL, NULL, pairs, 0, NULL, values, vectors);
  stiffness[1] = -0.5; /* of the first row, not of the second */
  wrong = set_up(stiffness, "none", "double");
  CHECK(newel_eigenpairs(wrong, NULL, system, pairs, 0, NULL, values, vectors) == NEWEL_INVALID);
  CHECK(strstr(newel_error(wrong), "symmetric") != NULL);
  CHECK(newel_set(wrong, "format", "ehyb") == NEWEL_OK);
  CHECK(newel_setup_csr(wrong, n, 32, row_ptr, col, mass) == NEWEL_OK);
  REFUSES("format csr", system, NULL, wrong, pairs, 0, NULL, values, vectors);
  newel_destroy(wrong);
  newel_destroy(empty);
  newel_destroy(single);
  newel_destroy(of_m);
  newel_destroy(system);
}

int main(void) {
  finds_those_of_a_matrix("amg");
  finds_those_of_a_matrix("fsai");
  finds_those_of_a_pencil(0);
  finds_those_of_a_pencil(1);
  ends_early();
  refuses();
  if (failures == 0) puts("all checks passed");
  return failures == 0 ? 0 : 1;
}
