// SPDX-License-Identifier: Apache-2.0
/// Options of the incomplete factorisations: FactorOptions for all of them, IluOptions, IlutOptions and IcOptions for
/// one each.
#pragma once

namespace newel {

/// The order in which rows are eliminated. It is internal to the preconditioner: vectors keep the order of A.
enum class FactorOrder {
  automatic,  ///< rcm
  natural,    ///< the caller's numbering
  rcm,        ///< reverse Cuthill-McKee: a small bandwidth (E. Cuthill and J. McKee, 1969; A. George, 1971)
  colours,    ///< greedy colouring: few steps, each with many rows, and usually more iterations
};

/// Options of all incomplete factorisations.
struct FactorOptions {
  FactorOrder order = FactorOrder::automatic;  ///< of the elimination
  /// 0: triangular systems are solved exactly, by levels. More: so many Jacobi sweeps on each of the two (E. Chow and
  /// A. Patel, SIAM J. Sci. Comput. 37, 2015, section 2.3), which are products.
  int sweeps = 0;
  /// Added to the diagonal before the factorisation, relative to |a_ii| (ic) or to the sum of the row's |a_ij|
  /// (others). It is raised if the factorisation fails (T. A. Manteuffel, Math. Comp. 34, 1980).
  double shift = 0;
};

/// Options of ILU(k).
struct IluOptions {
  /// k: entries whose level of fill is at most k are kept (Y. Saad, "Iterative Methods for Sparse Linear Systems",
  /// 2nd edition, 2003, section 10.3.3).
  int level = 0;
};

/// Options of ILUT (Y. Saad, "ILUT: a dual threshold incomplete LU factorization", Numer. Linear Algebra Appl. 1,
/// 1994).
struct IlutOptions {
  double drop = 1e-3;  ///< entries of a row below drop times the 2-norm of that row of A are left out
  double fill = 10;    ///< rows of L and U have at most fill / 2 times the mean number of entries of A's rows each
};

/// Options of IC(k), incomplete Cholesky.
struct IcOptions {
  int level = 0;  ///< k, as in IluOptions
};

}  // namespace newel
