// SPDX-License-Identifier: Apache-2.0
/// ForcingTerms: how exactly the steps of Newton's method have to be solved.
#pragma once

namespace newel {

/// The choices of S. Eisenstat and H. Walker, "Choosing the forcing terms in an inexact Newton method", SIAM J. Sci.
/// Comput. 17 (1996), with their safeguards.
struct ForcingOptions {
  /// 1: by how well the linear model predicted |F|, equation (2.2); 2: by how far |F| has fallen, equation (2.6).
  int choice = 2;
  double first = 0.5;  ///< of the first step
  double most = 0.9;   ///< no step has a larger one
  double gamma = 0.9;  ///< of choice 2, from 0 to 1
  double alpha = 2;    ///< of choice 2, above 1 and at most 2
  /// |F| at which Newton's method ends; 0: not known. A step is then not solved to less than half of that (C. Kelley,
  /// Iterative Methods for Linear and Nonlinear Equations, 1995, equation (6.20)).
  double outer_tolerance = 0;
};

/// For F(x) = 0, solved by F'(x_k) s_k = -F(x_k) and x_{k+1} = x_k + s_k: the relative tolerance of step k, which
/// ends when |F(x_k) + F'(x_k) s_k| <= eta_k |F(x_k)|. Use it as `StopCriterion::rel_tol` with zero as the initial
/// guess.
class ForcingTerms {
 public:
  /// Throws InputError for options that are out of range.
  explicit ForcingTerms(const ForcingOptions& options = {});

  /// eta_k for `residual` = |F(x_k)|. `linear_residual` = |F(x_{k-1}) + F'(x_{k-1}) s_{k-1}|, what the last solve
  /// left
  /// (`SolveReport::true_residual`); only choice 1 reads it, and not before the second step. Throws InputError for
  /// numbers that are negative or not finite.
  double next(double residual, double linear_residual = 0);
  /// The next step is the first of another system F(x) = 0.
  void restart() { last_residual_ = -1; }

 private:
  ForcingOptions options_;
  double last_residual_ = -1;  // |F(x_{k-1})|; negative: there was no step
  double last_ = 0;            // eta_{k-1}
};

}  // namespace newel
