// SPDX-License-Identifier: Apache-2.0
/// The functions of KLU that the direct solver calls, loaded when they are first needed. Internal.
///
/// The declarations are those of KLU 1 and 2 (T. Davis, KLU User Guide, chapter 7), for indices of 32 bits: no header
/// of KLU is needed.
#pragma once

#include <cstddef>
#include <string>

namespace newel::detail {

/// What KLU has counted. Names as in KLU.
struct KluStatistics {
  double flops, rcond, condest, rgrowth, work;
  std::size_t memusage, mempeak;
};

/// Settings and statistics. Names as in KLU.
struct KluCommon {
  static constexpr int none = -1, by_largest = 2;  ///< `scale`: of rows; by their largest entries

  double tol, memgrow, initmem_amd, initmem, maxwork;
  int btf, ordering, scale;
  void *user_order, *user_data;
  int halt_if_singular;
  int status, nrealloc, structural_rank, numerical_rank, singular_col, noffdiag;
  KluStatistics statistics;
  char later_versions[256];
};
static_assert(offsetof(KluCommon, statistics) == 104);  // as in KLU, whose fields are one after the other

/// What an analysis estimates; more fields follow in KLU.
struct KluSymbolic {
  double symmetry, est_flops, lnz, unz;
};

struct KluNumeric;

/// Names as in KLU. Functions that return int give 0 for a failure, and a reason in `status`: positive for a singular
/// matrix, -2 for memory.
struct Klu {
  int (*klu_defaults)(KluCommon*);
  KluSymbolic* (*klu_analyze)(int n, int* begin, int* row, KluCommon*);
  KluNumeric* (*klu_factor)(int* begin, int* row, double* values, KluSymbolic*, KluCommon*);
  int (*klu_refactor)(int* begin, int* row, double* values, KluSymbolic*, KluNumeric*, KluCommon*);
  int (*klu_solve)(KluSymbolic*, KluNumeric*, int stride, int columns, double* b, KluCommon*);
  int (*klu_tsolve)(KluSymbolic*, KluNumeric*, int stride, int columns, double* b, KluCommon*);
  int (*klu_free_symbolic)(KluSymbolic**, KluCommon*);
  int (*klu_free_numeric)(KluNumeric**, KluCommon*);
};

/// Null: it is not there, and `klu_missing` says why. Loads KLU at the first call.
const Klu* klu();
const std::string& klu_missing();

}  // namespace newel::detail
