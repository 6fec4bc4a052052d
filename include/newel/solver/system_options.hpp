// SPDX-License-Identifier: Apache-2.0
/// SystemOptions: what a LinearSystem should do, and what it may choose itself.
#pragma once

#include <optional>
#include <vector>

#include <newel/precond/registry.hpp>
#include <newel/solver/decision.hpp>
#include <newel/solver/registry.hpp>
#include <newel/spmv/registry.hpp>

namespace newel {

/// Directions that A maps to zero; they are removed from the solution.
enum class NullSpace {
  none,  ///< A is regular
  /// The vector of ones: pure Neumann problems. The returned x has mean zero. If the columns of A also sum to zero
  /// and b does not, x solves the system for b minus its mean, and the status is `stagnation`.
  constant,
};

/// What `LinearSystem::refresh` replaces.
enum class RefreshScope {
  everything,  ///< the matrix and the preconditioner
  /// Only the matrix; the preconditioner keeps its values. For values that change little between solves: an old
  /// approximate inverse then works nearly as well as a new one and costs nothing.
  operator_only,
};

/// Deliberately wrong estimates, to study what they cost.
struct EstimateScale {
  double iterations = 1;        ///< factor on the iterations that remain
  double single_seconds = 1;    ///< factor on the seconds of an iteration in single precision
  bool device_unknown = false;  ///< measure any device or host as if the cost model had not been fitted to it
};

/// The options of a LinearSystem.
struct SystemOptions {
  /// The format may also be "auto" (the default) or "measure": see `choose_format_by_cost` and `measure_formats`.
  SpmvOptions spmv{"auto"};
  /// Matrix-vector products expected with this setup; a chosen format must recover its setup cost within them. 0: the
  /// products of one solve, as estimated by `expected_products`.
  double expected_products = 0;
  /// Right-hand sides per solve, at least 1. With several, "auto" skips formats that multiply one vector at a time,
  /// and the memory check includes their vectors. Solves with other numbers of right-hand sides still work.
  int columns = 1;
  /// The name may also be "auto" (the default): see `choose_precond`. If all solvers fail with the chosen one, the
  /// next preconditioners are tried.
  PrecondOptions precond{"auto"};
  SolverOptions solver;  ///< which method, and its options
  /// Tolerances and limits of a solve. The time limit also applies to the constructor, whose time counts as part of
  /// the first solve. If the limit ends the setup of a preconditioner, solves return `Status::time_limit` at once. A
  /// solve starts no setup that is estimated to exceed the remaining time.
  StopCriterion stop;
  NullSpace null_space = NullSpace::none;  ///< known null space of A
  /// Iterate in single precision and compute residuals in double. For systems in double; the solution is as accurate
  /// as with iterations in double. Matrix and preconditioner are stored in single precision, and the matrix also in
  /// double as CSR. If single precision is not enough, the solver continues in double, and the report says so. If the
  /// preconditioner cannot be built in single precision, everything is done in double, and
  /// `SystemInfo::precision_reason` says so.
  ///
  /// If format and preconditioner are "auto", the precision is chosen too: single if it is expected to be faster than
  /// double with the best preconditioner, otherwise double.
  bool mixed = false;
  /// Same bits on every run on the same machine or device with the same number of threads. Choices by measured times
  /// (the format "measure") and formats that may differ from run to run ("csr:alg1" on a device) throw InputError. No
  /// machine is measured for the cost model. Everything else is reproducible without this option.
  bool deterministic = false;
  /// The caller's own numbering: new row i is the caller's row old_of_new[i]. Empty: the format decides.
  std::vector<Index> old_of_new;
  /// Part boundaries, parts + 1 values ascending from 0 to n, in the numbering `old_of_new`, or in the caller's
  /// numbering if that is empty. For formats with parts; without boundaries they cut equal ranges. An order and its
  /// parts may be kept (`OrderedSystem::order`) and given to a later system. Invalid boundaries throw InputError.
  std::vector<Index> part_begin;
  /// The state of an earlier system of the same pattern (`SystemHistory::decision`). Options left at "auto" are taken
  /// from it instead of being decided again, and the new system continues from that state.
  ///
  /// If the new system has the values that the earlier one had, its solves have the same bits, on the same machine
  /// with the same number of threads; on a device, with Jacobi or no preconditioner. With other preconditioners on a
  /// device, results agree up to rounding. AMG keeps the levels of the values that it was set up from, so for AMG
  /// this holds only if the values have not changed. With `old_of_new` and `part_begin` of the earlier system, its
  /// order is not computed again. Throws InputError if the sizes differ, or for names that the tables do not contain.
  std::optional<SystemDecision> decision;
  /// Accept CSR rows with unsorted or repeated columns: sort the columns and sum repeated entries. Otherwise such
  /// rows throw InputError. Other forms of a MatrixInput, and CSR that must be converted anyway
  /// (see `as_csr`), are always sorted and summed.
  bool canonicalise = false;
  EstimateScale estimate_scale;  ///< for studies of wrong estimates; leave the default
};

}  // namespace newel
