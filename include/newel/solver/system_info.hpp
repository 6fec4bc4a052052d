// SPDX-License-Identifier: Apache-2.0
/// SystemInfo: what a LinearSystem has chosen, and why.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <newel/core/located_text.hpp>
#include <newel/core/matrix_traits.hpp>
#include <newel/reorder/row_order.hpp>
#include <newel/spmv/format_choice.hpp>

namespace newel {

/// What `LinearSystem::info` returns.
struct SystemInfo {
  OperatorInfo matrix;                ///< A in its format
  OperatorInfo preconditioner;        ///< name "none" where there is none
  LocatedText preconditioner_reason;  ///< why, where it was chosen automatically
  bool mixed = false;                 ///< `matrix` and `preconditioner` are those in single precision
  std::string precision_reason;       ///< where mixed precision was requested and is not used: why
  /// Mixed precision: A in double, for true residuals, and the values that the one in single precision is refreshed
  /// from. Without a name otherwise.
  OperatorInfo residual_matrix;
  std::string solver;         ///< the one that a solve starts with
  std::string method;         ///< the same as the table of solvers has it: "cg" for "mixed cg" and before "division"
  std::string solver_reason;  ///< why, where it was chosen automatically
  FormatChoice format;        ///< with its grounds, where it was chosen
  OrderReport order;          ///< the order of its rows
  bool reordered = false;     ///< whether that is not the caller's
  /// Unknowns in whose columns no entry is stored: no residual depends on them, and a solve leaves them as its guess
  /// has them. Caller's numbering.
  RowCount free_unknowns;
  std::vector<std::pair<std::string, double>> setup_seconds;  ///< by phase
  std::uint64_t bytes = 0;                                    ///< held in S by all that was made with this context
};

}  // namespace newel
