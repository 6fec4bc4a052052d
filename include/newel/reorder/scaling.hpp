// SPDX-License-Identifier: Apache-2.0
/// ScalingOptions: whether a system is solved with scaled rows and columns, and with large entries on its diagonal.
#pragma once

#include <string>
#include <vector>

#include <newel/core/method_option.hpp>

namespace newel {

/// Whether something is done that a system may decide itself.
enum class Use { automatic, on, off };

/// How a LinearSystem changes A x = b before it is solved, as B y = c with B = R A Q C, c = R b and x = Q C y. R and C
/// are diagonal matrices of powers of two, so that no digit of a value changes; Q permutes columns. They are stored in
/// `SolverOptions::methods`. Vectors, tolerances and residuals remain those of A x = b.
struct ScalingOptions {
  /// R and C, so that the largest entry of each row and column is about 1: rows first and then columns, or for a
  /// symmetric matrix both alike (D. Ruiz, "A scaling algorithm to equilibrate both rows and columns norms in
  /// matrices", RAL-TR-2001-034), so that it stays symmetric. A solve then stops when |R (b - A x)| meets the relative
  /// tolerance too.
  ///
  /// `automatic` scales a system whose solver is "auto" if the rows differ by a factor of 2^50 or more, if a row was
  /// hardly solved, or if a solve has failed and the rows differ by many orders.
  Use scale = Use::automatic;
  /// Q brings entries to the diagonal whose product is the largest (I. Duff and J. Koster, "On algorithms for permuting
  /// large entries to the diagonal of a sparse matrix", SIAM J. Matrix Anal. Appl. 22 (2001)); R and C then also come
  /// from that matching. A symmetric matrix is not permuted: R and C are the symmetric ones of I. Duff and S. Pralet,
  /// "Strategies for scaling and pivoting for sparse symmetric indefinite problems", SIAM J. Matrix Anal. Appl. 27
  /// (2005). The permutation is found on the host; it is kept until a diagonal entry becomes tiny.
  ///
  /// `automatic` matches if a solve has failed and the matrix is not symmetric.
  Use match = Use::automatic;
};

/// The rows of these options, from which command lines, bindings, reports and cache keys are made.
std::vector<MethodOption> scaling_option_list();

/// What was done with the rows and columns of a system.
struct ScalingInfo {
  bool scaled = false;   ///< rows and columns are scaled
  bool matched = false;  ///< columns are permuted, or the scaling of a symmetric matrix comes from a matching
  std::string reason;    ///< why, or why not as requested; empty: nothing was done
  int least_power = 0;   ///< of two, that multiplies a row
  int most_power = 0;    ///< likewise
};

}  // namespace newel
