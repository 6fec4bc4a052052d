// SPDX-License-Identifier: Apache-2.0
/// Chooses a preconditioner for a matrix: by a short trial of Jacobi and of one that costs more to set up.
#pragma once

#include <functional>
#include <string>

#include <newel/core/located_text.hpp>
#include <newel/core/matrix_traits.hpp>
#include <newel/precond/registry.hpp>

namespace newel {

/// The result of a few iterations with a preconditioner.
struct PrecondTrial {
  std::string name;      ///< in the table of preconditioners
  int iterations = 0;    ///< iterations made
  double reduction = 1;  ///< smallest residual / first residual
  bool failed = false;   ///< the solver gave up: breakdown, indefiniteness, overflow
  // By the cost model, from counts and bytes: no clock decides.
  double build_seconds = 0;      ///< of a setup
  double iteration_seconds = 0;  ///< per iteration with it
};

/// Input of the choice, in addition to the trials.
struct PrecondUse {
  MatrixTraits traits;           ///< of A
  double rel_tol = 1e-8;         ///< of the solves, relative to |b|
  double expected_products = 0;  ///< as in SystemOptions; 0: those of one solve
  double iteration_bytes = 0;    ///< bytes moved per iteration, without the products with M
  int precond_products = 1;      ///< products with M per iteration
  /// The cost model's seconds per iteration with the named preconditioner; empty: from the bytes above.
  std::function<double(const std::string& name)> iteration_seconds = {};
  double expected_iterations = 0;  ///< estimated for one solve with the simple preconditioner; 0: find out by a trial
  /// A stronger one may still be set up during a solve, so it is not tried now if the simple one is usable.
  bool later = false;
};

/// A choice, and its reason.
struct PrecondChoice {
  std::string name;          ///< in the table of preconditioners, or "none"
  LocatedText reason;        ///< one sentence
  bool provisional = false;  ///< a stronger one may follow: PrecondUse::later
};

/// Predicted iterations to `rel_tol` if the residual keeps decreasing at the rate of the trial; infinity if it did
/// not decrease or the solver failed.
double predict_iterations(const PrecondTrial& trial, double rel_tol);

/// The first preconditioner under "auto" for such a matrix; null if the table has none, or if it would divide by a
/// zero on the diagonal.
const PrecondMethod* simple_preconditioner(const MatrixTraits& traits);

/// The estimate of iterations that belongs to a preconditioner.
ExpectedIterations iterations_with(const PrecondMethod& method, MatrixOrigin origin = MatrixOrigin::unknown);
/// The same by name; for "auto" and "none" the estimate of the simple preconditioner.
ExpectedIterations iterations_with(std::string_view name, MatrixOrigin origin = MatrixOrigin::unknown);
/// Returns `simple`: the estimate of the simple preconditioner itself.
double simple_iterations(double simple);
/// How many iterations with the simple preconditioner correspond to n iterations by the non-decreasing estimate
/// `iterations`.
double simple_iterations_for(ExpectedIterations iterations, double n);

/// Preconditioners that may follow the simple one for such a matrix: FSAI and AMG if it is symmetric with a positive
/// diagonal; SPAI, ILUT and, if it is `elliptic`, AMG if it is not symmetric; otherwise none.
std::vector<const PrecondMethod*> stronger_preconditioners(const MatrixTraits& traits);

/// Why no stronger preconditioner can be faster by the cost model, even if far more iterations are needed than
/// expected. Empty: one can be faster, the model does not know, or the matrix does not support the simple one.
std::string why_no_stronger(const PrecondUse& use);

/// The faster of two by the cost model, setup included. The setup counts once for all right-hand sides. Their number
/// is `expected_products` divided by the iterations that `simple` needs. If neither reduced the residual: `strong`,
/// unless it failed.
PrecondChoice decide_precond(const PrecondTrial& simple, const PrecondTrial& strong, double rel_tol,
                             double expected_products);

/// Runs a few iterations with M, which may be null. Fills iterations, reduction and failure of a trial.
template <class T, Space S>
using TryPrecond = std::function<PrecondTrial(const LinearOperator<T, S>*)>;

/// What `choose_precond` returns.
template <class T, Space S>
struct ChosenPrecond {
  OperatorPtr<T, S> M;   ///< null for "none"
  PrecondChoice choice;  ///< which one, and why
};

/// The choice of "auto": Jacobi (none, if the diagonal has zeros) or the cheapest stronger preconditioner by the cost
/// model, setup included.
///
/// The stronger one is set up only if the first needs more than a few iterations, and if fewer iterations with it are
/// expected to outweigh their higher cost. It is skipped if the matrix or the memory does not support it, or if its
/// estimated setup takes longer than all iterations with the first; then the next best is tried. `options` holds the
/// options of all preconditioners (sides, powers and so on). The same result on every run with the same machine,
/// threads and options.
template <class T, Space S>
ChosenPrecond<T, S> choose_precond(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                                   const PrecondOptions& options, const SpmvOptions& spmv_options,
                                   const PrecondUse& use, const TryPrecond<T, S>& attempt);

}  // namespace newel
