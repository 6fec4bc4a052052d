// SPDX-License-Identifier: Apache-2.0
/// SystemOptions: what a LinearSystem is to do, and what is left to it.
#pragma once

#include <optional>
#include <vector>

#include <newel/precond/registry.hpp>
#include <newel/solver/decision.hpp>
#include <newel/solver/registry.hpp>
#include <newel/spmv/registry.hpp>

namespace newel {

/// Directions that A maps to zero, taken out of the solution.
enum class NullSpace {
  none,  ///< A is regular
  /// The vector of ones: pure Neumann problems. The returned x has mean zero. Where the columns of A sum to zero too
  /// and b does not, x solves the system for b without its mean, and the status is `stagnation`.
  constant,
};

/// What `LinearSystem::refresh` replaces.
enum class RefreshScope {
  everything,  ///< the matrix and the preconditioner
  /// The matrix; the preconditioner keeps its values. For values that change little from solve to solve: an old
  /// approximate inverse then works nearly as well as a new one and costs nothing.
  operator_only,
};

/// Estimates that are wrong on purpose, to see what that costs.
struct EstimateScale {
  double iterations = 1;        ///< iterations to come
  double single_seconds = 1;    ///< seconds of an iteration in single precision
  bool device_unknown = false;  ///< any device is measured as one that the cost model is not fitted to
};

/// The options of a LinearSystem.
struct SystemOptions {
  /// The format may also be "auto", the default, or "measure": see `choose_format_by_cost` and `measure_formats`.
  SpmvOptions spmv{"auto"};
  /// Products that this setup will be used for, which a chosen format must pay back in; 0: those of one solve, as
  /// `expected_products` estimates them.
  double expected_products = 0;
  /// Right-hand sides that a solve will bring at once: with several, "auto" leaves out formats that multiply one
  /// vector after the other, and memory is checked for their vectors too. Any number, 1 at the least; others may come
  /// all the same.
  int columns = 1;
  /// The name may also be "auto", the default: see `choose_precond`. If the solvers fail with the one that was
  /// chosen, the others follow.
  PrecondOptions precond{"auto"};
  SolverOptions solver;  ///< which method, and its choices
  /// Tolerances and limits of a solve. The time limit counts for the constructor too, and what that takes counts as a
  /// part of the first solve. If it ends the setup of a preconditioner, solves return `Status::time_limit` at once.
  /// No setup is begun in a solve that is estimated to take longer than what is left.
  StopCriterion stop;
  NullSpace null_space = NullSpace::none;  ///< what is known of it
  /// Iterate in single precision, and form residuals in double: for systems in double, whose solution is as good as
  /// that of an iteration in double. Matrix and preconditioner are stored in single precision, and the matrix also in
  /// double as CSR. If single precision is not enough, the solver continues in double, and the report says so; if it
  /// does not support the preconditioner, everything is done in double, and `SystemInfo::precision_reason` says so.
  ///
  /// Where format and preconditioner are "auto", the precision is chosen like them: the system iterates in single
  /// precision if that is expected to be faster than double with the best preconditioner, and else in double.
  bool mixed = false;
  /// The same bits on every run on the same machine or device with as many threads: what is chosen by measuring times
  /// (the format "measure") or may differ from run to run ("csr:alg1" on a device) is refused with InputError, and no
  /// device is measured for the cost model. All else keeps its bits anyway.
  bool deterministic = false;
  /// The caller's own numbering: new row i is the caller's row old_of_new[i]. Empty: the format decides.
  std::vector<Index> old_of_new;
  /// Bounds of parts in that numbering, or without one in the caller's, parts + 1, ascending from 0 to n: for formats
  /// with parts, which else cut into equal ranges. An order and its parts may be kept (`LinearSystem::order`) and
  /// given to a later system. Bounds that do not fit are refused with InputError.
  std::vector<Index> part_begin;
  /// Where an earlier system of the same pattern stood (`LinearSystem::decision`): what the options leave to "auto"
  /// is taken from it instead of being decided, and the system goes on where that one was. Made from the values that
  /// the other one had, its solves have the same bits, on the same machine with as many threads; on a device with
  /// Jacobi or none, and up to rounding with other preconditioners; with AMG, whose levels stay those of the values
  /// that it was set up from, only if these have not changed. With `old_of_new` and `part_begin` of that system its
  /// order is not planned again. Throws InputError where the sizes differ, and for names that the tables do not have.
  std::optional<SystemDecision> decision;
  /// Accept CSR rows with unsorted or repeated columns: sort and sum them. Otherwise they are refused. Other forms of
  /// a MatrixInput than CSR, and CSR that has to be converted anyway (`MatrixInput::as_csr`), are always sorted and
  /// summed.
  bool canonicalise = false;
  EstimateScale estimate_scale;  ///< for studies of what wrong estimates cost; leave it as it is
};

}  // namespace newel
