/* SPDX-License-Identifier: Apache-2.0 */
/* The C interface, called from C: every form of a matrix, options, errors, refresh, reports. Residuals are computed here. */
#include <math.h>
#include <purlin.h>
#include <stdio.h>
#include <string.h>

enum { n = 40, most = 3 * n };

static int failures = 0;

static void check(int holds, const char *what, int line) {
  if (holds) return;
  printf("line %d: %s\n", line, what);
  ++failures;
}
#define CHECK(condition) check(condition, #condition, __LINE__)

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
static double residual(const double *rhs, const double *solution, double factor) {
  double squares = 0, norm = 0;
  for (int i = 0; i < n; ++i) {
    double r = rhs[i];
    for (int k = row_ptr[i]; k < row_ptr[i + 1]; ++k) r -= factor * val[k] * solution[col[k]];
    squares += r * r;
    norm += rhs[i] * rhs[i];
  }
  return sqrt(squares / norm);
}

static purlin_system *new_system(void) {
  purlin_system *system = NULL;
  CHECK(purlin_create(&system) == PURLIN_OK);
  return system;
}

static void solved(purlin_system *system) {
  memset(x, 0, sizeof x);
  CHECK(purlin_solve(system, 1, b, x) == PURLIN_OK);
  CHECK(residual(b, x, 1) < 2e-8);
  purlin_destroy(system);
}

static void every_form_is_solved(void) {
  purlin_system *system = new_system();
  CHECK(purlin_setup_csr(system, n, 32, row_ptr, col, val) == PURLIN_OK);
  solved(system);
  system = new_system();
  CHECK(purlin_setup_csr(system, n, 64, wide_row_ptr, wide_col, val) == PURLIN_OK);
  solved(system);
  system = new_system();
  CHECK(purlin_setup_coo(system, n, entries, 32, row, col, val) == PURLIN_OK);
  solved(system);
  system = new_system();
  CHECK(purlin_setup_bsr(system, n, 1, 32, row_ptr, col, val) == PURLIN_OK);
  solved(system);
  /* The arrays of rows, read as columns, are the transpose: the wind blows the other way. */
  system = new_system();
  CHECK(purlin_setup_csc(system, n, 32, row_ptr, col, val) == PURLIN_OK);
  double y[n], transposed[n];
  memset(transposed, 0, sizeof transposed);
  for (int k = 0; k < entries; ++k) transposed[col[k]] += val[k] * b[row[k]];
  CHECK(purlin_multiply(system, b, y) == PURLIN_OK);
  for (int i = 0; i < n; ++i) CHECK(fabs(y[i] - transposed[i]) < 1e-13);
  purlin_destroy(system);
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
  purlin_system *system = new_system();
  CHECK(purlin_set(system, "index_base", "1") == PURLIN_OK);
  CHECK(purlin_set(system, "stored_half", "lower") == PURLIN_OK);
  CHECK(purlin_setup_coo(system, n, count, 32, one_row, one_col, half) == PURLIN_OK);
  double y[n];
  CHECK(purlin_multiply(system, b, y) == PURLIN_OK);
  CHECK(fabs(y[0] - (half[0] * b[0] + half[1] * b[1])) < 1e-13);
  one_col[3] = n + 1;
  CHECK(purlin_setup_coo(system, n, count, 32, one_row, one_col, half) == PURLIN_INVALID);
  CHECK(strstr(purlin_error(system), "column 41 (counted from 1)") != NULL);
  CHECK(purlin_solve(system, 1, b, x) == PURLIN_INVALID);
  CHECK(strstr(purlin_error(system), "has not been set up") != NULL);
  purlin_destroy(system);
}

static void values_are_refreshed(void) {
  double twice[most];
  for (int k = 0; k < entries; ++k) twice[k] = 2 * val[k];
  purlin_system *system = new_system();
  CHECK(purlin_refresh(system, twice, 0) == PURLIN_INVALID);
  CHECK(purlin_setup_csr(system, n, 32, row_ptr, col, val) == PURLIN_OK);
  CHECK(purlin_refresh(system, twice, 0) == PURLIN_OK);
  memset(x, 0, sizeof x);
  CHECK(purlin_solve(system, 2, b, x) == PURLIN_OK);
  CHECK(residual(b, x, 2) < 2e-8);
  CHECK(residual(b + n, x + n, 2) < 2e-8);
  CHECK(purlin_refresh(system, val, 1) == PURLIN_OK);
  CHECK(purlin_solve(system, 1, b, x) == PURLIN_OK);
  CHECK(residual(b, x, 1) < 2e-8);
  purlin_destroy(system);
}

static void a_guess_of_zero_is_not_read(void) {
  double zeros[2 * n];
  purlin_system *system = new_system();
  CHECK(purlin_set(system, "format", "csr") == PURLIN_OK && purlin_set(system, "preconditioner", "jacobi") == PURLIN_OK);
  CHECK(purlin_setup_csr(system, n, 32, row_ptr, col, val) == PURLIN_OK);
  for (int columns = 1; columns <= 2; ++columns) {
    CHECK(purlin_set(system, "guess", "zero") == PURLIN_OK);
    for (int i = 0; i < 2 * n; ++i) x[i] = NAN, zeros[i] = 0;
    CHECK(purlin_solve(system, columns, b, x) == PURLIN_OK);
    CHECK(purlin_set(system, "guess", "x") == PURLIN_OK);
    CHECK(purlin_solve(system, columns, b, zeros) == PURLIN_OK);
    CHECK(memcmp(x, zeros, columns * n * sizeof *x) == 0);
    double iterations = -1;
    CHECK(purlin_solve(system, columns, b, x) == PURLIN_OK);
    CHECK(purlin_report_number(system, 0, "iterations", &iterations) == PURLIN_OK && iterations == 0);
  }
  CHECK(purlin_set(system, "guess", "ones") == PURLIN_INVALID);
  CHECK(strstr(purlin_error(system), "x, zero") != NULL);
  purlin_destroy(system);
}

static void single_precision_takes_floats(void) {
  float values[most], rhs[n], solution[n];
  for (int k = 0; k < entries; ++k) values[k] = (float)val[k];
  for (int i = 0; i < n; ++i) rhs[i] = (float)b[i], solution[i] = 0;
  purlin_system *system = new_system();
  CHECK(purlin_set(system, "precision", "single") == PURLIN_OK);
  CHECK(purlin_set(system, "rtol", "1e-4") == PURLIN_OK);
  CHECK(purlin_setup_csr(system, n, 32, row_ptr, col, values) == PURLIN_OK);
  CHECK(purlin_solve(system, 1, rhs, solution) == PURLIN_OK);
  for (int i = 0; i < n; ++i) x[i] = solution[i];
  CHECK(residual(b, x, 1) < 2e-4);
  purlin_destroy(system);
}

static int stop_after_two(void *user, int column, int iteration, double relative_residual) {
  *(int *)user = iteration;
  return column == 0 && relative_residual > 0 && iteration < 2;
}

static void reports_say_how_it_went(void) {
  purlin_system *system = new_system();
  double number = 0, history[most];
  const char *text = "";
  int seen = 0;
  CHECK(purlin_report_number(system, 0, "iterations", &number) == PURLIN_INVALID);
  CHECK(purlin_set(system, "preconditioner", "jacobi") == PURLIN_OK);
  CHECK(purlin_setup_csr(system, n, 32, row_ptr, col, val) == PURLIN_OK);
  CHECK(purlin_set_progress(system, stop_after_two, &seen) == PURLIN_OK);
  memset(x, 0, sizeof x);
  CHECK(purlin_solve(system, 1, b, x) == PURLIN_NOT_CONVERGED);
  CHECK(seen == 2);
  CHECK(purlin_report_text(system, 0, "status", &text) == PURLIN_OK && strcmp(text, "stopped_by_caller") == 0);
  CHECK(purlin_set_progress(system, NULL, NULL) == PURLIN_OK);
  CHECK(purlin_solve(system, 1, b, x) == PURLIN_OK);
  CHECK(purlin_report_number(system, 0, "converged", &number) == PURLIN_OK && number == 1);
  CHECK(purlin_report_number(system, 0, "true_residual", &number) == PURLIN_OK);
  double norm = 0;
  CHECK(purlin_report_number(system, 0, "rhs_norm", &norm) == PURLIN_OK);
  CHECK(fabs(number / norm - residual(b, x, 1)) < 1e-14);
  CHECK(purlin_report_text(system, 0, "preconditioner", &text) == PURLIN_OK && strcmp(text, "jacobi") == 0);
  CHECK(purlin_report_number(system, 0, "history_length", &number) == PURLIN_OK && number < most);
  CHECK(purlin_report_history(system, 0, history, (int64_t)number) == PURLIN_OK);
  CHECK(history[(int)number - 1] <= 1e-8 * norm);
  CHECK(purlin_report_number(system, 0, "colour", &number) == PURLIN_INVALID);
  CHECK(strstr(purlin_error(system), "iterations") != NULL);
  CHECK(purlin_report_text(system, 1, "status", &text) == PURLIN_INVALID);
  purlin_destroy(system);
}

static void mistakes_are_named(void) {
  purlin_system *system = new_system();
  CHECK(purlin_set(system, "solvr", "cg") == PURLIN_INVALID && strstr(purlin_error(system), "solver") != NULL);
  CHECK(purlin_set(system, "solver", "magic") == PURLIN_INVALID && strstr(purlin_error(system), "bicgstab") != NULL);
  CHECK(purlin_set(system, "format", "magic") == PURLIN_INVALID && strstr(purlin_error(system), "csr") != NULL);
  CHECK(purlin_set(system, "rtol", "1e-8x") == PURLIN_INVALID && strstr(purlin_error(system), "a number") != NULL);
  CHECK(purlin_set(system, "rtol", "-1") == PURLIN_INVALID);
  CHECK(purlin_set(system, "threads", "1.5") == PURLIN_INVALID);
  CHECK(purlin_set(system, "device", "gpu") == PURLIN_INVALID && strstr(purlin_error(system), "host") != NULL);
  CHECK(purlin_set(system, "amg_degree", "99") == PURLIN_INVALID);
  CHECK(purlin_set(system, "amg_degree", "3") == PURLIN_OK && purlin_error(system)[0] == '\0');
  CHECK(purlin_set(system, "amg_smoother", "jacobi") == PURLIN_OK);
  CHECK(purlin_set(system, NULL, "cg") == PURLIN_INVALID);
  CHECK(purlin_setup_csr(system, n, 16, row_ptr, col, val) == PURLIN_INVALID);
  CHECK(purlin_setup_csr(system, -1, 32, row_ptr, col, val) == PURLIN_INVALID);
  CHECK(purlin_setup_csr(system, n, 32, NULL, col, val) == PURLIN_INVALID);
  CHECK(purlin_setup_csr(system, n, 32, row_ptr, col, NULL) == PURLIN_INVALID);
  CHECK(purlin_setup_bsr(system, n, 0, 32, row_ptr, col, val) == PURLIN_INVALID);
  CHECK(purlin_setup_coo(system, n, -5, 32, row, col, val) == PURLIN_INVALID);
  CHECK(purlin_set_coordinates(system, n, 4, val) == PURLIN_INVALID);
  CHECK(purlin_set_near_null_space(system, n, 1, NULL) == PURLIN_INVALID);
  CHECK(purlin_setup_csr(system, n, 32, row_ptr, col, val) == PURLIN_OK);
  CHECK(purlin_solve(system, 0, b, x) == PURLIN_INVALID);
  CHECK(purlin_solve(system, 1, NULL, x) == PURLIN_INVALID);
  CHECK(purlin_solve(system, 1, b, b) == PURLIN_INVALID);
  CHECK(purlin_solve(NULL, 1, b, x) == PURLIN_INVALID);
  CHECK(purlin_create(NULL) == PURLIN_INVALID);
  purlin_destroy(system);
  purlin_destroy(NULL);
}

static int use_it_from_within(void *user, int column, int iteration, double relative_residual) {
  (void)column, (void)iteration, (void)relative_residual;
  CHECK(purlin_multiply(user, b, x) == PURLIN_INVALID);
  return 1;
}

static void what_multigrid_takes_is_passed_on(void) {
  double points[n], vectors[n];
  for (int i = 0; i < n; ++i) points[i] = i, vectors[i] = 1 + i;
  purlin_system *system = new_system();
  CHECK(purlin_set(system, "preconditioner", "amg") == PURLIN_OK);
  CHECK(purlin_set(system, "expected_solves", "100") == PURLIN_OK);
  CHECK(purlin_set_coordinates(system, n, 1, points) == PURLIN_OK);
  CHECK(purlin_set_near_null_space(system, n, 1, vectors) == PURLIN_OK);
  make_matrix(0);
  CHECK(purlin_setup_csr(system, n, 32, row_ptr, col, val) == PURLIN_OK);
  CHECK(purlin_set_progress(system, use_it_from_within, system) == PURLIN_OK);
  memset(x, 0, sizeof x);
  CHECK(purlin_solve(system, 1, b, x) == PURLIN_OK);
  CHECK(residual(b, x, 1) < 2e-8);
  for (int i = 0; i < n; ++i) points[i] *= 2;
  CHECK(purlin_move_nodes(system, n, 1, points) == PURLIN_OK);
  CHECK(purlin_refresh(system, val, 0) == PURLIN_OK);
  memset(x, 0, sizeof x);
  CHECK(purlin_solve(system, 1, b, x) == PURLIN_OK);
  CHECK(residual(b, x, 1) < 2e-8);
  CHECK(purlin_move_nodes(system, n / 2, 2, points) == PURLIN_INVALID);
  CHECK(purlin_move_nodes(system, n, 4, points) == PURLIN_INVALID);
  CHECK(purlin_move_nodes(system, n, 1, NULL) == PURLIN_INVALID);
  CHECK(purlin_set_near_null_space(system, n - 1, 1, vectors) == PURLIN_OK);
  CHECK(purlin_setup_csr(system, n, 32, row_ptr, col, val) == PURLIN_INVALID);
  purlin_destroy(system);
}

/* Arrays of the host on a device. Without a GPU the setup says so. */
static void a_decision_is_handed_on(void) {
  purlin_system *system = new_system();
  make_matrix(0);
  CHECK(purlin_setup_csr(system, n, 32, row_ptr, col, val) == PURLIN_OK);
  memset(x, 0, sizeof x);
  CHECK(purlin_solve(system, 1, b, x) == PURLIN_OK);
  const char *text = NULL;
  CHECK(purlin_report_text(system, 0, "decision", &text) == PURLIN_OK);
  CHECK(strstr(text, "\"solves\": 1") != NULL);
  purlin_system *next = new_system();
  CHECK(purlin_set(next, "decision", text) == PURLIN_OK);
  CHECK(purlin_setup_csr(next, n, 32, row_ptr, col, val) == PURLIN_OK);
  memset(x, 0, sizeof x);
  CHECK(purlin_solve(next, 1, b, x) == PURLIN_OK);
  CHECK(purlin_report_text(next, 0, "decision", &text) == PURLIN_OK);
  CHECK(strstr(text, "\"solves\": 2") != NULL);
  CHECK(purlin_set(next, "decision", "{}") == PURLIN_INVALID);
  CHECK(strstr(purlin_error(next), "decision") != NULL);
  CHECK(purlin_set(next, "decision", "") == PURLIN_OK);
  CHECK(purlin_setup_csr(next, n, 32, row_ptr, col, val) == PURLIN_OK);
  memset(x, 0, sizeof x);
  CHECK(purlin_solve(next, 1, b, x) == PURLIN_OK);
  CHECK(purlin_report_text(next, 0, "decision", &text) == PURLIN_OK);
  CHECK(strstr(text, "\"solves\": 1") != NULL);
  purlin_destroy(next);
  purlin_destroy(system);
}

static void a_device_is_chosen_by_name(void) {
  purlin_system *system = new_system();
#if PURLIN_HAS_CUDA
  CHECK(purlin_set(system, "device", "cuda:x") == PURLIN_INVALID);
  CHECK(purlin_set(system, "device", "cuda:-1") == PURLIN_INVALID);
  CHECK(purlin_set(system, "device", "cuda:4711") == PURLIN_OK);
  CHECK(purlin_setup_csr(system, n, 32, row_ptr, col, val) == PURLIN_INTERNAL);
  CHECK(strstr(purlin_error(system), "CUDA device") != NULL);
  CHECK(purlin_set(system, "device", "cuda") == PURLIN_OK);
  CHECK(purlin_set(system, "threads", "2") == PURLIN_OK);
  CHECK(purlin_setup_csr(system, n, 32, row_ptr, col, val) == PURLIN_INVALID);
  CHECK(strstr(purlin_error(system), "threads") != NULL);
  CHECK(purlin_set(system, "threads", "0") == PURLIN_OK);
  const int status = purlin_setup_csr(system, n, 64, wide_row_ptr, wide_col, val);
  if (status == PURLIN_INTERNAL && strstr(purlin_error(system), "no CUDA device") != NULL) {
    printf("no device: %s\n", purlin_error(system));
    purlin_destroy(system);
    return;
  }
  CHECK(status == PURLIN_OK);
  memset(x, 0, sizeof x);
  CHECK(purlin_solve(system, 2, b, x) == PURLIN_OK);
  CHECK(residual(b, x, 1) < 2e-8);
  CHECK(residual(b + n, x + n, 1) < 2e-8);
  solved(system);
#else
  CHECK(purlin_set(system, "device", "cuda") == PURLIN_INVALID);
  CHECK(strstr(purlin_error(system), "without CUDA") != NULL);
  CHECK(purlin_set_stream(system, NULL) == PURLIN_INVALID);
  CHECK(purlin_set(system, "device", "host") == PURLIN_OK);
  purlin_destroy(system);
#endif
}

int main(void) {
  make_matrix(0.4);
  CHECK(purlin_c_version() == 1 && strchr(purlin_version(), '.') != NULL);
  every_form_is_solved();
  indices_may_count_from_one_and_halves_be_stored();
  values_are_refreshed();
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
