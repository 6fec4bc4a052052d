// SPDX-License-Identifier: Apache-2.0
/// Advice: one thing to try after a solve that failed.
#pragma once

#include <string>

#include <newel/solver/advice.hpp>

#include "options.hpp"

namespace newel::cli {

/// What a converged solve says too little about: its solution error, where that is known, is above 1e-2 and above
/// 1,000 times the relative residual. Else empty.
std::string remark_on_error(const SolveReport& report, double solution_error, const SolveOptions& options,
                            const SystemFacts& facts);

/// One change of the command line that fits how the solve ended; empty for `converged`. `preconditioner` is the one
/// that it ended with; empty: the one in the options.
std::string next_step(const SolveReport& report, const SolveOptions& options, const SystemFacts& facts,
                      const std::string& preconditioner = {});

/// The reason of a solve that failed, with what is wrong with the matrix itself.
std::string full_reason(const SolveReport& report, const SolveOptions& options, const SystemFacts& facts);

}  // namespace newel::cli
