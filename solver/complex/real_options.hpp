// SPDX-License-Identifier: Apache-2.0
/// The options of a complex system, translated to its real one. Internal.
#pragma once

#include <newel/solver/complex_system.hpp>

namespace newel::detail {

/// `options` for a complex matrix of n rows, as the real system of 2 n rows needs them. Throws InputError for what it
/// cannot represent.
SystemOptions options_of_pairs(const Context<Space::host>& ctx, SystemOptions options, Index n);

/// `options` for the real system of `real_parts`: each part meets its share of an absolute tolerance.
SystemOptions options_of_parts(SystemOptions options);
StopCriterion stop_of_parts(StopCriterion stop);

/// The report of a complex solve from those of its real and its imaginary part.
SolveReport report_of_parts(const SolveReport& re, const SolveReport& im, const StopCriterion& stop);

}  // namespace newel::detail
