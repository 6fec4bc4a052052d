// SPDX-License-Identifier: Apache-2.0
/// When a host without a profile is measured, and what changes with it. Internal.
#pragma once

#include "solver/operators/operators.hpp"
#include "solver/policy/history.hpp"
#include "solver/policy/move.hpp"

namespace newel::detail {

/// The iteration of a solve from which on the system has taken so long with its present operators that a measurement
/// of the host is worth it. `no_exchange`: the host has a profile, or nothing is compared that the profile decides.
template <class T, Space S>
int measurement_due(Operators<T, S>& operators, const History& history);

/// Whether the setup that comes with a move takes so long that the host is measured before it.
template <class T, Space S>
bool is_worth_measuring(Operators<T, S>& operators, const Move& move);

/// Measures the host if it has no profile, and estimates formats and preconditioners again. Returns the seconds of an
/// iteration over those that were estimated before.
template <class T, Space S>
double measure_host(Operators<T, S>& operators);

/// During a setup that does not put off its choices: measures the host if the expected iterations with A in CSR are
/// worth it.
template <class T, Space S>
void measure_host_for_expected(Operators<T, S>& operators, const CsrView<T, S>& a);

}  // namespace newel::detail
