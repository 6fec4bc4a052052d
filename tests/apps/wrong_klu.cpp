// SPDX-License-Identifier: Apache-2.0
// A library with the name and the functions of KLU, whose answers are wrong. With OTHER_SETTINGS its defaults are
// those of no version that Newel knows.
#include "solver/direct/libraries/klu_library.hpp"

using newel::detail::KluCommon;
using newel::detail::KluNumeric;
using newel::detail::KluSymbolic;

namespace {
KluSymbolic symbolic = {0, 1, 1, 1};
char numeric;
}  // namespace

extern "C" {

int klu_defaults(KluCommon* common) {
#ifndef OTHER_SETTINGS
  common->tol = 0.001;
#endif
  common->memgrow = 1.2;
  common->btf = 1;
  common->ordering = 0;
  common->scale = KluCommon::by_largest;
  common->halt_if_singular = 1;
  return 1;
}

KluSymbolic* klu_analyze(int, int*, int*, KluCommon*) { return &symbolic; }

KluNumeric* klu_factor(int*, int*, double*, KluSymbolic*, KluCommon*) {
  return reinterpret_cast<KluNumeric*>(&numeric);
}

int klu_refactor(int*, int*, double*, KluSymbolic*, KluNumeric*, KluCommon*) { return 1; }

int klu_solve(KluSymbolic*, KluNumeric*, int, int, double* b, KluCommon*) {
  b[0] += 1;
  return 1;
}

int klu_tsolve(KluSymbolic*, KluNumeric*, int, int, double*, KluCommon*) { return 1; }
int klu_free_symbolic(KluSymbolic**, KluCommon*) { return 1; }
int klu_free_numeric(KluNumeric**, KluCommon*) { return 1; }
}
