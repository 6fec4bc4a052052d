// SPDX-License-Identifier: Apache-2.0
/// ScalingOptions: whether a system is solved with scaled rows and columns, and with large entries on its diagonal.
#pragma once

#include <string>
#include <vector>

#include <newel/core/method_option.hpp>

namespace newel {

/// Whether something is done that a system may decide itself.
enum class Use { automatic, on, off };

/// How a LinearSystem changes A x = b before it is solved, as B y = c with B = R A Q C, c = R b and x = Q C y. R and
/// C are diagonal matrices of powers of two, so that no digit changes; Q permutes columns. They are stored in
/// `SolverOptions::methods`. Vectors, tolerances and residuals remain those of A x = b.
struct ScalingOptions {
  /// R and C, so that no entry is far above 1, by means of logarithms (A. Curtis and J. Reid, J. Inst. Maths Applics
  /// 10 (1972)); a symmetric matrix stays symmetric (D. Ruiz, RAL-TR-2001-034). With E, which divides each row of A
  /// by its largest entry, a solve then also needs |E (b - A x)| <= rel_tol |E b|; see SolveReport::scaled_residual.
  /// Needs a matrix on one rank, no null space, and no preconditioner of the caller's; else InputError.
  ///
  /// `automatic` scales a system whose solver is "auto" if the rows differ by a factor of 2^50 or more, if a row was
  /// hardly solved, or if all else has failed and the rows differ by 2^10 or more.
  Use scale = Use::automatic;
  /// Q brings entries to the diagonal whose product is the largest (I. Duff and J. Koster, "On algorithms for
  /// permuting large entries to the diagonal of a sparse matrix", SIAM J. Matrix Anal. Appl. 22 (2001)); its duals
  /// are then part of R and C. A symmetric matrix is not permuted; R and C are then those of I. Duff and S. Pralet,
  /// "Strategies for scaling and pivoting for sparse symmetric indefinite problems", SIAM J. Matrix Anal. Appl. 27
  /// (2005). The permutation is found on the host; it is kept until a diagonal entry becomes tiny.
  ///
  /// `automatic` matches a matrix that is not symmetric if its diagonal has zeros or all else has failed.
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
