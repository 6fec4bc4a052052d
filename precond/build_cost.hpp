// SPDX-License-Identifier: Apache-2.0
/// What a preconditioner costs, from counts: the cost model of the choice "auto". Internal.
#pragma once

#include <newel/precond/preconditioner.hpp>
#include "precond/precond_constants.hpp"

namespace newel::detail {

/// The local problems of a preconditioner on A's own pattern, all together.
struct LocalProblems {
  double entries = 0;  ///< of M
  double work = 0;     ///< multiplications
};

/// As if the rows of M were of one length, but for what their differences add to the `work` of a row: of a pattern on
/// a device, whose way to the host would take longer than a solve.
LocalProblems usual_problems(Index rows, double length, double work);

/// Seconds of the numeric work for problems that are to give `entries` in all: powers, thresholds and growth change
/// the lengths of all problems alike.
double seconds_of(const LocalProblems& problems, const ProblemRates& rates, double entries, const Machine& machine);

/// Entries of M: those that it has, or that `cost` expects. Of a question about a setup.
double stored_entries(const PrecondQuestion& question, const PrecondCost& cost);

/// The answer of the method's line, and for what that leaves open as PrecondCost says.
PrecondCost cost_of(const PrecondMethod& method, const PrecondQuestion& question);

/// Seconds of a setup and a refresh of `method` on the pattern of A. From sizes of the local problems, not from a
/// clock: the same on every run. Reads the pattern once where the method asks for it; that of a device matrix is then
/// downloaded, which FSAI and SPAI do not ask for. `machine` null: as `machine_of` knows it; `values` null: not
/// known; `made_entries`: of M, if it is there (FSAI: both factors together).
template <Space S>
PrecondSeconds build_seconds(const Context<S>& ctx, const Pattern<S>& pattern, const PrecondMethod& method,
                             const PrecondOptions& options, const Machine* machine = nullptr,
                             const KnownValues* values = nullptr, Offset made_entries = 0);

}  // namespace newel::detail
