/* SPDX-License-Identifier: Apache-2.0 */
/* Counting checks for programs in C. */
#ifndef NEWEL_TESTS_C_CHECK_H
#define NEWEL_TESTS_C_CHECK_H

#include <stdio.h>

static int failures = 0;

static void check(int holds, const char* what, int line) {
  if (holds) return;
  printf("line %d: %s\n", line, what);
  ++failures;
}
#define CHECK(condition) check(condition, #condition, __LINE__)

#endif
