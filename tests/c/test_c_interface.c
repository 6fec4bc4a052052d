/* SPDX-License-Identifier: Apache-2.0 */
/* The C interface, called from C: every form of a matrix, options, errors, refresh, reports. Residuals are computed
 * here. */
#include <math.h>
#include <newel.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

enum { n = 40, most = 3 * n };

/* A line of n points with a wind: -1 - w, 3, -1 + w. */
static int32_t row_ptr[n + 1], row[most], col[most];
static int64_t wide_row_ptr[n + 1], wide_col[most];
static double val[most], b[2 * n], x[2 * n];
static int entries = 0;

static void make_matrix(double wind) {
  entries = 0;
  for (int i = 0; i < n; ++i) {
    row_ptr[i] = entries;
    for (int j = i - 1; j <= i + 1; ++j) {
      if (j < 0 || j >= n) continue;
      row[entries] = i;
      col[entries] = j;
      val[entries++] = j == i ? 3 : j < i ? -1 - wind : -1 + wind;
    }
  }
  row_ptr[n] = entries;
  for (int i = 0; i <= n; ++i) wide_row_ptr[i] = row_ptr[i];
  for (int k = 0; k < entries; ++k) wide_col[k] = col[k];
  for (int i = 0; i < 2 * n; ++i) b[i] = 1 + i % 7;
}

/* |b - factor A x| / |b| for one column. */
static double residual(const double* rhs, const double* solution, double factor) {
  double squares = 0, norm = 0;
  for (int i = 0; i < n; ++i) {
    double r = rhs[i];
    for (int k = row_ptr[i]; k < row_ptr[i + 1]; ++k) r -= factor * val[k] * solution[col[k]];
    squares += r * r;
    norm += rhs[i] * rhs[i];
  }
  return sqrt(squares / norm);
}

static newel_system* new_system(void) {
  newel_system* system = NULL;
  CHECK(newel_create(&system) == NEWEL_OK);
  return system;
}

static void solved(newel_system* system) {
  memset(x, 0, sizeof x);
  CHECK(newel_solve(system, 1, b, x) == NEWEL_OK);
  CHECK(residual(b, x, 1) < 2e-8);
  newel_destroy(system);
}

static void every_form_is_solved(void) {
  newel_system* system = new_system();
  CHECK(newel_setup_csr(system, n, 32, row_ptr, col, val) == NEWEL_OK);
  solved(system);
  system = new_system();
  CHECK(newel_setup_csr(system, n, 64, wide_row_ptr, wide_col, val) == NEWEL_OK);
  solved(system);
  system = new_system();
  CHECK(newel_setup_coo(system, n, entries, 32, row, col, val) == NEWEL_OK);
  solved(system);
  system = new_system();
  CHECK(newel_setup_bsr(system, n, 1, 32, row_ptr, col, val) == NEWEL_OK);
  solved(system);
  /* The arrays of rows, read as columns, are the transpose: the wind blows the other way. */
  system = new_system();
  CHECK(newel_setup_csc(system, n, 32, row_ptr, col, val) == NEWEL_OK);
  double y[n], transposed[n];
  memset(transposed, 0, sizeof transposed);
  for (int k = 0; k < entries; ++k) transposed[col[k]] += val[k] * b[row[k]];
  CHECK(newel_multiply(system, b, y) == NEWEL_OK);
  for (int i = 0; i < n; ++i) CHECK(fabs(y[i] - transposed[i]) < 1e-13);
  newel_destroy(system);
}

static void indices_may_count_from_one_and_halves_be_stored(void) {
  int32_t one_row[most], one_col[most];
  double half[most];
  int count = 0;
  for (int k = 0; k < entries; ++k) {
    if (col[k] > row[k]) continue;
    one_row[count] = row[k] + 1;
    one_col[count] = col[k] + 1;
    half[count++] = val[k];
  }
  newel_system* system = new_system();
  CHECK(newel_set(system, "index_base", "1") == NEWEL_OK);
  CHECK(newel_set(system, "stored_half", "lower") == NEWEL_OK);
  CHECK(newel_setup_coo(system, n, count, 32, one_row, one_col, half) == NEWEL_OK);
  double y[n];
  CHECK(newel_multiply(system, b, y) == NEWEL_OK);
  CHECK(fabs(y[0] - (half[0] * b[0] + half[1] * b[1])) < 1e-13);
  one_col[3] = n + 1;
  CHECK(newel_setup_coo(system, n, count, 32, one_row, one_col, half) == NEWEL_INVALID);
  CHECK(strstr(newel_error(system), "column 41 (counted from 1)") != NULL);
  CHECK(newel_solve(system, 1, b, x) == NEWEL_INVALID);
  CHECK(strstr(newel_error(system), "has not been set up") != NULL);
  newel_destroy(system);
}

static void values_are_refreshed(void) {
  double twice[most];
  for (int k = 0; k < entries; ++k) twice[k] = 2 * val[k];
  newel_system* system = new_system();
  CHECK(newel_refresh(system, twice, 0) == NEWEL_INVALID);
  CHECK(newel_setup_csr(system, n, 32, row_ptr, col, val) == NEWEL_OK);
  CHECK(newel_refresh(system, twice, 0) == NEWEL_OK);
  memset(x, 0, sizeof x);
  CHECK(newel_solve(system, 2, b, x) == NEWEL_OK);
  CHECK(residual(b, x, 2) < 2e-8);
  CHECK(residual(b + n, x + n, 2) < 2e-8);
  CHECK(newel_refresh(system, val, 1) == NEWEL_OK);
  CHECK(newel_solve(system, 1, b, x) == NEWEL_OK);
  CHECK(residual(b, x, 1) < 2e-8);
  newel_destroy(system);
}

/* Row i is 4 x_i + x_{i+1} = ..., or 8 x_i = ... where the pattern is a diagonal. */
static void a_matrix_with_fewer_entries_is_a_refresh(void) {
  const int ptr[] = {0, 2, 4, 5}, cols[] = {0, 1, 1, 2, 2}, diagonal_ptr[] = {0, 1, 2, 3}, diagonal[] = {0, 1, 2};
  const int other_cols[] = {0, 2, 1, 2, 2};
  const double v[] = {4, 1, 4, 1, 4}, eights[] = {8, 8, 8}, right[] = {5, 5, 4}, eight[] = {8, 8, 8};
  double y[3];
  int again = -1;
  newel_system* system = new_system();
  CHECK(newel_update_csr(system, 3, 32, ptr, cols, v, 0, &again) == NEWEL_OK && again == 1);
  CHECK(newel_solve(system, 1, right, y) == NEWEL_OK);
  for (int i = 0; i < 3; ++i) CHECK(fabs(y[i] - 1) < 1e-7);
  CHECK(newel_update_csr(system, 3, 32, diagonal_ptr, diagonal, eights, 0, &again) == NEWEL_OK && again == 0);
  CHECK(newel_solve(system, 1, eight, y) == NEWEL_OK);
  for (int i = 0; i < 3; ++i) CHECK(fabs(y[i] - 1) < 1e-7);
  CHECK(newel_update_csr(system, 3, 32, ptr, other_cols, v, 0, &again) == NEWEL_OK && again == 1);
  CHECK(newel_solve(system, 1, right, y) == NEWEL_OK);
  for (int i = 0; i < 3; ++i) CHECK(fabs(y[i] - 1) < 1e-7);
  CHECK(newel_update_csr(system, 2, 32, diagonal_ptr, diagonal, eights, 1, NULL) == NEWEL_OK);
  CHECK(newel_setup_csr(system, 3, 32, ptr, cols, v) == NEWEL_OK);
  CHECK(newel_update_csr(system, 3, 32, diagonal_ptr, diagonal, eights, 0, &again) == NEWEL_OK && again == 1);
  newel_destroy(system);
}

static void a_guess_of_zero_is_not_read(void) {
  double zeros[2 * n];
  newel_system* system = new_system();
  CHECK(newel_set(system, "format", "csr") == NEWEL_OK && newel_set(system, "preconditioner", "jacobi") == NEWEL_OK);
  CHECK(newel_setup_csr(system, n, 32, row_ptr, col, val) == NEWEL_OK);
  for (int columns = 1; columns <= 2; ++columns) {
    CHECK(newel_set(system, "guess", "zero") == NEWEL_OK);
    for (int i = 0; i < 2 * n; ++i) x[i] = NAN, zeros[i] = 0;
    CHECK(newel_solve(system, columns, b, x) == NEWEL_OK);
    CHECK(newel_set(system, "guess", "x") == NEWEL_OK);
    CHECK(newel_solve(system, columns, b, zeros) == NEWEL_OK);
    CHECK(memcmp(x, zeros, columns * n * sizeof *x) == 0);
    double iterations = -1;
    CHECK(newel_solve(system, columns, b, x) == NEWEL_OK);
    CHECK(newel_report_number(system, 0, "iterations", &iterations) == NEWEL_OK && iterations == 0);
  }
  CHECK(newel_set(system, "guess", "ones") == NEWEL_INVALID);
  CHECK(strstr(newel_error(system), "x, zero") != NULL);
  newel_destroy(system);
}

static void single_precision_takes_floats(void) {
  float values[most], rhs[n], solution[n];
  for (int k = 0; k < entries; ++k) values[k] = (float)val[k];
  for (int i = 0; i < n; ++i) rhs[i] = (float)b[i], solution[i] = 0;
  newel_system* system = new_system();
  CHECK(newel_set(system, "precision", "single") == NEWEL_OK);
  CHECK(newel_set(system, "rtol", "1e-4") == NEWEL_OK);
  CHECK(newel_setup_csr(system, n, 32, row_ptr, col, values) == NEWEL_OK);
  CHECK(newel_solve(system, 1, rhs, solution) == NEWEL_OK);
  for (int i = 0; i < n; ++i) x[i] = solution[i];
  CHECK(residual(b, x, 1) < 2e-4);
  newel_destroy(system);
}

static int stop_after_two(void* user, int column, int iteration, double relative_residual) {
  *(int*)user = iteration;
  return column == 0 && relative_residual > 0 && iteration < 2;
}

static void reports_say_how_it_went(void) {
  newel_system* system = new_system();
  double number = 0, history[most];
  const char* text = "";
  int seen = 0;
  CHECK(newel_report_number(system, 0, "iterations", &number) == NEWEL_INVALID);
  CHECK(newel_set(system, "preconditioner", "jacobi") == NEWEL_OK);
  CHECK(newel_setup_csr(system, n, 32, row_ptr, col, val) == NEWEL_OK);
  CHECK(newel_set_progress(system, stop_after_two, &seen) == NEWEL_OK);
  memset(x, 0, sizeof x);
  CHECK(newel_solve(system, 1, b, x) == NEWEL_NOT_CONVERGED);
  CHECK(seen == 2);
  CHECK(newel_report_text(system, 0, "status", &text) == NEWEL_OK && strcmp(text, "stopped_by_caller") == 0);
  CHECK(newel_set_progress(system, NULL, NULL) == NEWEL_OK);
  CHECK(newel_solve(system, 1, b, x) == NEWEL_OK);
  CHECK(newel_report_number(system, 0, "converged", &number) == NEWEL_OK && number == 1);
  CHECK(newel_report_number(system, 0, "true_residual", &number) == NEWEL_OK);
  double norm = 0;
  CHECK(newel_report_number(system, 0, "rhs_norm", &norm) == NEWEL_OK);
  CHECK(fabs(number / norm - residual(b, x, 1)) < 1e-14);
  CHECK(newel_report_text(system, 0, "preconditioner", &text) == NEWEL_OK && strcmp(text, "jacobi") == 0);
  CHECK(newel_report_number(system, 0, "history_length", &number) == NEWEL_OK && number < most);
  CHECK(newel_report_history(system, 0, history, (int64_t)number) == NEWEL_OK);
  CHECK(history[(int)number - 1] <= 1e-8 * norm);
  CHECK(newel_report_number(system, 0, "colour", &number) == NEWEL_INVALID);
  CHECK(strstr(newel_error(system), "iterations") != NULL);
  CHECK(newel_report_text(system, 1, "status", &text) == NEWEL_INVALID);
  newel_destroy(system);
}

static void mistakes_are_named(void) {
  newel_system* system = new_system();
  CHECK(newel_set(system, "solvr", "cg") == NEWEL_INVALID && strstr(newel_error(system), "solver") != NULL);
  CHECK(newel_set(system, "solver", "magic") == NEWEL_INVALID && strstr(newel_error(system), "bicgstab") != NULL);
  CHECK(newel_set(system, "format", "magic") == NEWEL_INVALID && strstr(newel_error(system), "csr") != NULL);
  CHECK(newel_set(system, "rtol", "1e-8x") == NEWEL_INVALID && strstr(newel_error(system), "a number") != NULL);
  CHECK(newel_set(system, "rtol", "-1") == NEWEL_INVALID);
  CHECK(newel_set(system, "threads", "1.5") == NEWEL_INVALID);
  CHECK(newel_set(system, "device", "gpu") == NEWEL_INVALID && strstr(newel_error(system), "host") != NULL);
  CHECK(newel_set(system, "amg_degree", "99") == NEWEL_INVALID);
  CHECK(newel_set(system, "amg_degree", "3") == NEWEL_OK && newel_error(system)[0] == '\0');
  CHECK(newel_set(system, "amg_smoother", "jacobi") == NEWEL_OK);
  CHECK(newel_set(system, NULL, "cg") == NEWEL_INVALID);
  CHECK(newel_setup_csr(system, n, 16, row_ptr, col, val) == NEWEL_INVALID);
  CHECK(newel_setup_csr(system, -1, 32, row_ptr, col, val) == NEWEL_INVALID);
  CHECK(newel_setup_csr(system, n, 32, NULL, col, val) == NEWEL_INVALID);
  CHECK(newel_setup_csr(system, n, 32, row_ptr, col, NULL) == NEWEL_INVALID);
  CHECK(newel_setup_bsr(system, n, 0, 32, row_ptr, col, val) == NEWEL_INVALID);
  CHECK(newel_setup_coo(system, n, -5, 32, row, col, val) == NEWEL_INVALID);
  CHECK(newel_set_coordinates(system, n, 4, val) == NEWEL_INVALID);
  CHECK(newel_set_near_null_space(system, n, 1, NULL) == NEWEL_INVALID);
  CHECK(newel_setup_csr(system, n, 32, row_ptr, col, val) == NEWEL_OK);
  CHECK(newel_solve(system, 0, b, x) == NEWEL_INVALID);
  CHECK(newel_solve(system, 1, NULL, x) == NEWEL_INVALID);
  CHECK(newel_solve(system, 1, b, b) == NEWEL_INVALID);
  CHECK(newel_solve(NULL, 1, b, x) == NEWEL_INVALID);
  CHECK(newel_create(NULL) == NEWEL_INVALID);
  newel_destroy(system);
  newel_destroy(NULL);
}

static int use_it_from_within(void* user, int column, int iteration, double relative_residual) {
  (void)column, (void)iteration, (void)relative_residual;
  CHECK(newel_multiply(user, b, x) == NEWEL_INVALID);
  return 1;
}

static void what_multigrid_takes_is_passed_on(void) {
  double points[n], vectors[n];
  for (int i = 0; i < n; ++i) points[i] = i, vectors[i] = 1 + i;
  newel_system* system = new_system();
  CHECK(newel_set(system, "preconditioner", "amg") == NEWEL_OK);
  CHECK(newel_set(system, "expected_solves", "100") == NEWEL_OK);
  CHECK(newel_set_coordinates(system, n, 1, points) == NEWEL_OK);
  CHECK(newel_set_near_null_space(system, n, 1, vectors) == NEWEL_OK);
  make_matrix(0);
  CHECK(newel_setup_csr(system, n, 32, row_ptr, col, val) == NEWEL_OK);
  CHECK(newel_set_progress(system, use_it_from_within, system) == NEWEL_OK);
  memset(x, 0, sizeof x);
  CHECK(newel_solve(system, 1, b, x) == NEWEL_OK);
  CHECK(residual(b, x, 1) < 2e-8);
  for (int i = 0; i < n; ++i) points[i] *= 2;
  CHECK(newel_move_nodes(system, n, 1, points) == NEWEL_OK);
  CHECK(newel_refresh(system, val, 0) == NEWEL_OK);
  memset(x, 0, sizeof x);
  CHECK(newel_solve(system, 1, b, x) == NEWEL_OK);
  CHECK(residual(b, x, 1) < 2e-8);
  CHECK(newel_move_nodes(system, n / 2, 2, points) == NEWEL_INVALID);
  CHECK(newel_move_nodes(system, n, 4, points) == NEWEL_INVALID);
  CHECK(newel_move_nodes(system, n, 1, NULL) == NEWEL_INVALID);
  CHECK(newel_set_near_null_space(system, n - 1, 1, vectors) == NEWEL_OK);
  CHECK(newel_setup_csr(system, n, 32, row_ptr, col, val) == NEWEL_INVALID);
  newel_destroy(system);
}

/* Arrays of the host on a device. Without a GPU the setup says so. */
static void a_decision_is_handed_on(void) {
  newel_system* system = new_system();
  make_matrix(0);
  CHECK(newel_setup_csr(system, n, 32, row_ptr, col, val) == NEWEL_OK);
  memset(x, 0, sizeof x);
  CHECK(newel_solve(system, 1, b, x) == NEWEL_OK);
  const char* text = NULL;
  CHECK(newel_report_text(system, 0, "decision", &text) == NEWEL_OK);
  CHECK(strstr(text, "\"solves\": 1") != NULL);
  newel_system* next = new_system();
  CHECK(newel_set(next, "decision", text) == NEWEL_OK);
  CHECK(newel_setup_csr(next, n, 32, row_ptr, col, val) == NEWEL_OK);
  memset(x, 0, sizeof x);
  CHECK(newel_solve(next, 1, b, x) == NEWEL_OK);
  CHECK(newel_report_text(next, 0, "decision", &text) == NEWEL_OK);
  CHECK(strstr(text, "\"solves\": 2") != NULL);
  CHECK(newel_set(next, "decision", "{}") == NEWEL_INVALID);
  CHECK(strstr(newel_error(next), "decision") != NULL);
  CHECK(newel_set(next, "decision", "") == NEWEL_OK);
  CHECK(newel_setup_csr(next, n, 32, row_ptr, col, val) == NEWEL_OK);
  memset(x, 0, sizeof x);
  CHECK(newel_solve(next, 1, b, x) == NEWEL_OK);
  CHECK(newel_report_text(next, 0, "decision", &text) == NEWEL_OK);
  CHECK(strstr(text, "\"solves\": 1") != NULL);
  newel_destroy(next);
  newel_destroy(system);
}

static void a_device_is_chosen_by_name(void) {
  newel_system* system = new_system();
#if NEWEL_HAS_CUDA
  CHECK(newel_set(system, "device", "cuda:x") == NEWEL_INVALID);
  CHECK(newel_set(system, "device", "cuda:-1") == NEWEL_INVALID);
  CHECK(newel_set(system, "device", "cuda:4711") == NEWEL_OK);
  CHECK(newel_setup_csr(system, n, 32, row_ptr, col, val) == NEWEL_INTERNAL);
  CHECK(strstr(newel_error(system), "CUDA device") != NULL);
  const int numbers[] = {0, 4711}, wrong[] = {0, -1};
  CHECK(newel_set_devices(system, 2, wrong) == NEWEL_INVALID);
  CHECK(strstr(newel_error(system), "found -1") != NULL);
  CHECK(newel_set_devices(system, -1, numbers) == NEWEL_INVALID);
  CHECK(newel_set_devices(system, 2, NULL) == NEWEL_INVALID);
  CHECK(newel_set_devices(system, 2, numbers) == NEWEL_OK);
  CHECK(newel_setup_csr(system, n, 32, row_ptr, col, val) == NEWEL_INTERNAL);
  CHECK(strstr(newel_error(system), "CUDA device") != NULL);
  CHECK(newel_set_devices(system, 0, NULL) == NEWEL_OK);
  CHECK(newel_setup_csr(system, n, 32, row_ptr, col, val) == NEWEL_OK);
  memset(x, 0, sizeof x);
  CHECK(newel_solve(system, 1, b, x) == NEWEL_OK);
  CHECK(residual(b, x, 1) < 2e-8);
  CHECK(newel_set_devices(system, 2, numbers) == NEWEL_OK);
  CHECK(newel_set(system, "device", "cuda") == NEWEL_OK);  // instead of those
  CHECK(newel_set(system, "threads", "2") == NEWEL_OK);
  CHECK(newel_setup_csr(system, n, 32, row_ptr, col, val) == NEWEL_INVALID);
  CHECK(strstr(newel_error(system), "threads") != NULL);
  CHECK(newel_set(system, "threads", "0") == NEWEL_OK);
  const int status = newel_setup_csr(system, n, 64, wide_row_ptr, wide_col, val);
  if (status == NEWEL_INTERNAL && strstr(newel_error(system), "no CUDA device") != NULL) {
    printf("no device: %s\n", newel_error(system));
    newel_destroy(system);
    return;
  }
  CHECK(status == NEWEL_OK);
  memset(x, 0, sizeof x);
  CHECK(newel_solve(system, 2, b, x) == NEWEL_OK);
  CHECK(residual(b, x, 1) < 2e-8);
  CHECK(residual(b + n, x + n, 1) < 2e-8);
  solved(system);
#else
  CHECK(newel_set(system, "device", "cuda") == NEWEL_INVALID);
  CHECK(strstr(newel_error(system), "without CUDA") != NULL);
  CHECK(newel_set_stream(system, NULL) == NEWEL_INVALID);
  const int numbers[] = {0, 1};
  CHECK(newel_set_devices(system, 2, numbers) == NEWEL_INVALID);
  CHECK(newel_set(system, "device", "host") == NEWEL_OK);
  newel_destroy(system);
#endif
}

int main(void) {
  make_matrix(0.4);
  CHECK(newel_c_version() == 1 && strchr(newel_version(), '.') != NULL);
  every_form_is_solved();
  indices_may_count_from_one_and_halves_be_stored();
  values_are_refreshed();
  a_matrix_with_fewer_entries_is_a_refresh();
  a_guess_of_zero_is_not_read();
  single_precision_takes_floats();
  reports_say_how_it_went();
  mistakes_are_named();
  a_device_is_chosen_by_name();
  a_decision_is_handed_on();
  what_multigrid_takes_is_passed_on();
  printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
