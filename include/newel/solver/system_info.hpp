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
#include <newel/reorder/scaling.hpp>
#include <newel/spmv/format_choice.hpp>

namespace newel {

/// What `LinearSystem::info` returns.
struct SystemInfo {
  OperatorInfo matrix;                ///< A in its format
  OperatorInfo preconditioner;        ///< name "none" if there is none
  LocatedText preconditioner_reason;  ///< why, if it was chosen automatically
  bool mixed = false;                 ///< `matrix` and `preconditioner` are those in single precision
  std::string precision_reason;       ///< why mixed precision was requested but is not used, or empty
  /// Mixed precision: A in double, for true residuals and as source of the values in single precision. Otherwise its
  /// name is empty.
  OperatorInfo residual_matrix;
  std::string solver;         ///< the solver that a solve starts with
  std::string method;         ///< its name in the table of solvers: "cg" for "mixed cg", and the solver that follows
                              ///< "division"
  std::string solver_reason;  ///< why, if it was chosen automatically
  ScalingInfo scaling;        ///< how rows and columns are scaled and matched
  /// Rows with nothing but a diagonal entry that were solved first; the rest of the fields is of the system without
  /// them. 0 also if there are such rows, but the system was solved as it was given.
  Index fixing_rows = 0;
  FormatChoice format;     ///< with the reason, if it was chosen
  OrderReport order;       ///< the order of its rows
  bool reordered = false;  ///< whether the order is not the caller's
  /// Unknowns whose columns store no entry: no residual depends on them, and a solve keeps their initial guess. In
  /// the caller's numbering.
  RowCount free_unknowns;
  std::vector<std::pair<std::string, double>> setup_seconds;  ///< by phase
  std::uint64_t bytes = 0;                                    ///< held in S by everything made with this context
};

}  // namespace newel
