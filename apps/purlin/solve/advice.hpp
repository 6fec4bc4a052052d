// SPDX-License-Identifier: Apache-2.0
/// Advice: one thing to try after a solve that failed.
#pragma once

#include <string>

#include <purlin/solver/krylov.hpp>

#include "options.hpp"

namespace purlin::cli {

/// The input of the rules in addition to the report of a solve.
struct AdviceFacts {
  Index rows = 0;
  bool rows_sum_to_zero = false;  ///< A maps constant vectors to zero
};

/// What a converged solve says too little about: its solution error, where that is known, is above 1e-2 and above
/// 1,000 times the relative residual. Else empty.
std::string remark_on_error(const SolveReport& report, double solution_error, const SolveOptions& options,
                            const AdviceFacts& facts);

/// One change of the command line that fits how the solve ended; empty for `converged`.
std::string next_step(const SolveReport& report, const SolveOptions& options, const AdviceFacts& facts);

}  // namespace purlin::cli
