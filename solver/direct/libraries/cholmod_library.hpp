// SPDX-License-Identifier: Apache-2.0
/// The functions of CHOLMOD that the direct solver calls, loaded when they are first needed. Internal.
///
/// The declarations are those of CHOLMOD 3 to 5 (T. Davis, User Guide for CHOLMOD, "Include/ files") as far as
/// they are used, for indices of 32 bits: no header of CHOLMOD is needed.
#pragma once

#include <cstddef>
#include <string>

namespace newel::detail {

/// Names as in CHOLMOD; what it has after these fields is its own.
struct CholmodMethod {
  double lnz, fl, prune_dense, prune_dense2, nd_oksep, other_1[4];
  std::size_t nd_small, other_2[4];
  int aggressive, order_for_lu, nd_compress, nd_camd, nd_components, ordering;
  std::size_t other_3[4];
};

struct CholmodGrowth {
  double grow0, grow1;
  std::size_t grow2;
};

struct CholmodFinal {
  int final_asis, final_super, final_ll, final_pack, final_monotonic, final_resymbol;
};

struct CholmodRelaxation {
  double zrelax[3];
  std::size_t nrelax[3];
};

struct CholmodMessages {
  int print, precise, try_catch;
};

struct CholmodCommon {
  static constexpr int supernodes = 2;                                  ///< `supernodal`
  static constexpr int as_they_are = 0, given = 1, minimum_degree = 2;  ///< `ordering`

  double dbound;
  CholmodGrowth growth;
  std::size_t maxrank;
  double supernodal_switch;
  int supernodal;
  CholmodFinal final_form;
  CholmodRelaxation relaxation;
  int prefer_zomplex, prefer_upper, quick_return_if_not_posdef, prefer_binary;
  CholmodMessages messages;
  void* error_handler;
  int nmethods, current, selected;
  CholmodMethod method[10];
  int postorder, default_nesdis;
  char others[8192];
};
// As in CHOLMOD, whose fields are one after the other.
static_assert(offsetof(CholmodCommon, relaxation) == 80 && offsetof(CholmodCommon, error_handler) == 160);

struct CholmodSparse {
  static constexpr int upper = 1;  ///< `stype`

  std::size_t nrow, ncol, nzmax;
  void *p, *i, *nz, *x, *z;
  int stype, itype, xtype, dtype, sorted, packed;
};

struct CholmodDense {
  std::size_t nrow, ncol, nzmax, d;
  void *x, *z;
  int xtype, dtype;
};

/// `minor` is n if the matrix was positive definite.
struct CholmodFactor {
  std::size_t n, minor;
};

struct Cholmod {
  static constexpr int real = 1;         ///< `xtype`
  static constexpr int system_of_a = 0;  ///< of `cholmod_solve`

  int (*cholmod_start)(CholmodCommon*);
  int (*cholmod_finish)(CholmodCommon*);
  CholmodFactor* (*cholmod_analyze)(CholmodSparse*, CholmodCommon*);
  int (*cholmod_factorize)(CholmodSparse*, CholmodFactor*, CholmodCommon*);
  CholmodDense* (*cholmod_solve)(int system, CholmodFactor*, CholmodDense*, CholmodCommon*);
  int (*cholmod_free_factor)(CholmodFactor**, CholmodCommon*);
  int (*cholmod_free_dense)(CholmodDense**, CholmodCommon*);
};

/// Null: it is not there, and `cholmod_missing` says why. Loads CHOLMOD at the first call.
const Cholmod* cholmod();
const std::string& cholmod_missing();

}  // namespace newel::detail
