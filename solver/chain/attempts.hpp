// SPDX-License-Identifier: Apache-2.0
/// What the attempts of a solve come to, as one report. Internal.
#pragma once

#include <cstdint>
#include <string>

#include <newel/solver/method.hpp>

namespace newel::detail {

/// After these outcomes another solver may do better from the same x.
bool worth_another_solver(const SolveReport& report);
/// Whether this one may help. Where A may be positive definite, one for symmetric matrices does no better than CG.
bool may_help(const SolverMethod& method, const SolveReport& report);
/// Whether it is known that no x solves the system, so that no other solver has to be tried.
bool is_unsolvable(const SolveReport& report);
/// Whether rounding is what keeps x from the tolerance, as far as the attempts can tell.
bool ended_by_rounding(const SolveReport& report);
/// The same as `worth_another_solver` of another preconditioner: not against rounding, nor for a b that no x
/// produces.
bool worth_another_preconditioner(const SolveReport& report);

/// With fewer iterations a method cannot be judged, unless there are as many as unknowns: a residual may stand still
/// for n iterations and fall then.
inline constexpr int enough_to_judge = 1000;
/// The same of a method that is tried when all others have failed. An iteration limit is the caller's, and counts as
/// failure only if it lets the others be judged.
bool worth_last_resort(const SolveReport& report, std::int64_t rows);

/// What the attempts call attainable becomes one figure, the residual of the best x. Where another attempt came far
/// below what one of them reached, none of them knows.
void settle_attainable(SolveReport& whole);

/// Makes the sentences of a report and its attempts. `preconditioner` is its name, or empty.
void write_reasons(SolveReport& report, const std::string& preconditioner);

/// What a report says of the residual of its x, for a report whose x has been replaced by that of `from`.
void take_residual(SolveReport& report, const SolveReport& from);

/// The last attempt's outcome, seen from outside it.
void overrule(SolveReport& report, Status status, const Failure& failure);

/// Appends what a later attempt did to the report of the earlier ones. The history has the start once.
void append_attempt(SolveReport& whole, SolveReport&& next);

}  // namespace newel::detail
