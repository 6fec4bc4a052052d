/* SPDX-License-Identifier: Apache-2.0 */
/* Solves the cases of scripts/statements/drivers.py through the C interface. */
#include <newel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void* allocated(size_t size) {
  void* memory = malloc(size > 0 ? size : 1);
  if (memory == NULL) exit(3);
  return memory;
}

/* Ends the program at the end of its input. */
static void* taken(size_t size) {
  void* memory = allocated(size);
  if (fread(memory, 1, size, stdin) < size) exit(0);
  return memory;
}

/* The doubles of the input as floats where the system is in single precision. */
static void* numbers(size_t count, int single) {
  double* given = taken(count * sizeof(double));
  if (!single) return given;
  float* result = allocated(count * sizeof(float));
  for (size_t i = 0; i < count; ++i) result[i] = (float)given[i];
  free(given);
  return result;
}

static int set_options(newel_system* s, char* text) {
  for (char* line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
    char* value = strchr(line, '=');
    *value++ = '\0';
    if (strcmp(line, "way") == 0) continue;
    const int code = newel_set(s, line, value);
    if (code != NEWEL_OK) return code;
  }
  return newel_set(s, "threads", "1");
}

static const char* const number_names[] = {
    "converged", "iterations",     "true_residual",       "initial_residual",     "rhs_norm",
    "tolerance", "history_length", "attainable_residual", "residual_error_bound", "row_residual"};
static const char* const text_names[] = {"status", "cause", "reason", "solver", "preconditioner"};

enum { room = 1 << 16 };

static void answer(int code, const char* text) {
  const int head[2] = {code, (int)strlen(text)};
  fwrite(head, sizeof head, 1, stdout);
  fputs(text, stdout);
}

static void answer_error(newel_system* s, int code) {
  static char text[room];
  snprintf(text, sizeof text, "error=%s\n", newel_error(s));
  answer(code, text);
}

static void answer_reports(newel_system* s, int code, int columns) {
  static char text[room];
  int length = 0;
  for (int c = 0; c < columns; ++c) {
    for (size_t k = 0; k < sizeof number_names / sizeof *number_names; ++k) {
      double value = 0;
      if (newel_report_number(s, c, number_names[k], &value) != NEWEL_OK) continue;
      length += snprintf(text + length, (size_t)(room - length), "%d.%s=%.17g\n", c, number_names[k], value);
    }
    for (size_t k = 0; k < sizeof text_names / sizeof *text_names; ++k) {
      const char* words = "";
      if (newel_report_text(s, c, text_names[k], &words) != NEWEL_OK) continue;
      length += snprintf(text + length, (size_t)(room - length), "%d.%s=%s\n", c, text_names[k], words);
    }
  }
  answer(code, text);
}

static int set_up(newel_system* s, int form, int n, int entries, const int32_t* first, const int32_t* second,
                  const void* values) {
  if (form == 0) return newel_setup_csr(s, n, 32, first, second, values);
  if (form == 1) return newel_setup_csc(s, n, 32, first, second, values);
  return newel_setup_coo(s, n, entries, 32, first, second, values);
}

int main(void) {
  for (;;) {
    int32_t* size = taken(sizeof *size);
    char *text = taken((size_t)*size), *options = allocated((size_t)*size + 1);
    memcpy(options, text, (size_t)*size);
    options[*size] = '\0';
    int32_t* head = taken(7 * sizeof *head);
    const int n = head[0], entries = head[1], columns = head[2], rounds = head[3], single = head[4], form = head[5];
    int32_t* first = taken((size_t)(form == 2 ? entries : n + 1) * sizeof *first);
    int32_t* second = taken((size_t)entries * sizeof *second);
    const size_t unknowns = (size_t)n * (size_t)columns;

    newel_system* s;
    if (newel_create(&s) != NEWEL_OK) return 3;
    char several[16];
    snprintf(several, sizeof several, "%d", columns);
    newel_set(s, "columns", several);
    newel_set(s, "guess", head[6] ? "x" : "zero");
    int code = set_options(s, options);
    for (int k = 0; k < rounds; ++k) {
      void *values = numbers((size_t)entries, single), *b = numbers(unknowns, single), *x = numbers(unknowns, single);
      if (code == NEWEL_OK || code == NEWEL_NOT_CONVERGED) {
        code = k == 0 ? set_up(s, form, n, entries, first, second, values) : newel_refresh(s, values, 0);
        if (code == NEWEL_OK) code = newel_solve(s, columns, b, x);
        if (code > NEWEL_NOT_CONVERGED) {
          answer_error(s, code);
        } else {
          answer_reports(s, code, columns);
          for (size_t i = 0; i < unknowns; ++i) {
            const double value = single ? ((float*)x)[i] : ((double*)x)[i];
            fwrite(&value, sizeof value, 1, stdout);
          }
        }
      } else if (k == 0) {
        answer_error(s, code);
      }
      free(values), free(b), free(x);
    }
    fflush(stdout);
    newel_destroy(s);
    free(size), free(text), free(options), free(head), free(first), free(second);
  }
}
