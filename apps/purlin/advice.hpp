// SPDX-License-Identifier: Apache-2.0
/// Advice: a command to begin with, and one thing to try after a solve that failed.
#pragma once

#include <string>

#include <purlin/core/matrix_traits.hpp>
#include <purlin/solver/krylov.hpp>

#include "options.hpp"

namespace purlin::cli {

/// What to try for a matrix with zeros on its diagonal where `--precond none` does not suffice.
std::string strong_precond();

struct Recommendation {
  std::string command;  ///< empty where no solve can work
  std::string reason;   ///< why this one, or why none
};

/// The input of the rules in addition to the report of a solve.
struct AdviceFacts {
  Index rows = 0;
  bool rows_sum_to_zero = false;  ///< A maps constant vectors to zero
};

/// A command for the matrix `name` with these traits, square or not. It names what differs from the defaults only.
Recommendation recommend(const std::string& name, Index rows, Index cols, const MatrixTraits& traits,
                         bool rows_sum_to_zero);

/// What a converged solve says too little about: its solution error, where that is known, is above 1e-2 and above
/// 1,000 times the relative residual. Else empty.
std::string remark_on_error(const SolveReport& report, double solution_error, const SolveOptions& options,
                            const AdviceFacts& facts);

/// One change of the command line that fits how the solve ended; empty for `converged`.
std::string next_step(const SolveReport& report, const SolveOptions& options, const AdviceFacts& facts);

}  // namespace purlin::cli
