// SPDX-License-Identifier: Apache-2.0
/// Which preconditioner to use for a matrix, and why: by a short trial of Jacobi and of one that costs more to build.
#pragma once

#include <functional>
#include <string>

#include <newel/core/located_text.hpp>
#include <newel/core/matrix_traits.hpp>
#include <newel/precond/registry.hpp>

namespace newel {

/// What a few iterations with a preconditioner gave.
struct PrecondTrial {
  std::string name;      ///< in the table of preconditioners
  int iterations = 0;    ///< that were made
  double reduction = 1;  ///< the least residual over the first one
  bool failed = false;   ///< the solver gave up: breakdown, indefiniteness, overflow
  // By the cost model, from counts and bytes: no clock decides.
  double build_seconds = 0;      ///< of a setup
  double iteration_seconds = 0;  ///< of an iteration with it
};

/// The input of the choice, in addition to the trials.
struct PrecondUse {
  MatrixTraits traits;           ///< of A
  double rel_tol = 1e-8;         ///< of the solves, relative to |b|
  double expected_products = 0;  ///< as SystemOptions has them; 0: those of one solve
  double iteration_bytes = 0;    ///< what an iteration moves in addition to its products with M
  int precond_products = 1;      ///< of an iteration
  /// The cost model's seconds of an iteration with the named preconditioner; empty: from the bytes above.
  std::function<double(const std::string& name)> iteration_seconds = {};
  double expected_iterations = 0;  ///< of one solve with the simple one, estimated; 0: a trial shows it
  /// A stronger one may still come in the middle of a solve: it is not tried where the simple one is admitted.
  bool later = false;
};

/// A choice, and its grounds in one sentence.
struct PrecondChoice {
  std::string name;          ///< in the table of preconditioners, or "none"
  LocatedText reason;        ///< one sentence
  bool provisional = false;  ///< a stronger one may follow: PrecondUse::later
};

/// How many iterations to `rel_tol` the trial promises, if the residual keeps decreasing as it did; infinity where it
/// did not fall or the solver failed.
double predict_iterations(const PrecondTrial& trial, double rel_tol);

/// The one that `auto` begins with for such a matrix; null where the table has none, or it divides by a diagonal with
/// zeros.
const PrecondMethod* simple_preconditioner(const MatrixTraits& traits);

/// The estimate that goes with a line of the table.
ExpectedIterations iterations_with(const PrecondMethod& method, MatrixOrigin origin = MatrixOrigin::unknown);
/// Of that name; those of the simple one for "auto" and "none".
ExpectedIterations iterations_with(std::string_view name, MatrixOrigin origin = MatrixOrigin::unknown);
/// As many.
double simple_iterations(double simple);
/// The iterations with the simple one for which `iterations`, which never descends, expects n.
double simple_iterations_for(ExpectedIterations iterations, double n);

/// Those that may follow the simple one for such a matrix, in the order of the table: FSAI and AMG for a symmetric
/// one with a positive diagonal, SPAI for any other.
std::vector<const PrecondMethod*> stronger_preconditioners(const MatrixTraits& traits);

/// Why none of the stronger ones can pay by the cost model, even if there are far more iterations than are expected;
/// empty: one can, or the model does not tell, or the matrix does not support the simple one.
std::string why_no_stronger(const PrecondUse& use);

/// The quicker of two by the cost model, setup included. The right-hand sides that the building is shared by are the
/// expected products over the iterations that `simple` needs. Where neither made the residual fall, `strong` unless
/// it failed.
PrecondChoice decide_precond(const PrecondTrial& simple, const PrecondTrial& strong, double rel_tol,
                             double expected_products);

/// Runs a few iterations with M, which may be null, and fills iterations, reduction and failure of a trial.
template <class T, Space S>
using TryPrecond = std::function<PrecondTrial(const LinearOperator<T, S>*)>;

/// What `choose_precond` returns.
template <class T, Space S>
struct ChosenPrecond {
  OperatorPtr<T, S> M;   ///< null for "none"
  PrecondChoice choice;  ///< which it is, and why
};

/// "auto": Jacobi (none, where the diagonal has zeros) against the stronger one that costs the least by the model,
/// setup included. That one is built only where the first needs more than a few iterations, and where the iterations
/// to be expected with it would pay for their own, higher costs. One that the matrix or the memory does not support
/// is out, as is one whose setup takes longer by the model than all iterations with the first; the next best is
/// tried. `options` holds sides, powers and the like of all. The same on every run with
/// the same machine, threads and options.
template <class T, Space S>
ChosenPrecond<T, S> choose_precond(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                                   const PrecondOptions& options, const SpmvOptions& spmv_options,
                                   const PrecondUse& use, const TryPrecond<T, S>& attempt);

}  // namespace newel
