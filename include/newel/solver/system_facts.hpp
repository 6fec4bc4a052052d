// SPDX-License-Identifier: Apache-2.0
/// SystemFacts: what of a matrix and a right-hand side explains that a solve failed.
#pragma once

#include <vector>

#include <newel/core/matrix_traits.hpp>
#include <newel/solver/linear_system.hpp>

namespace newel {

/// Plain values, for an interface to fill in as it knows them. Rows and columns are 0-based.
struct SystemFacts {
  Index rows = 0;                 ///< of A
  RowCount zero_rows;             ///< rows of A without an entry other than 0
  RowCount impossible_rows;       ///< those of them where b is not 0: no x solves the system
  RowCount zero_columns;          ///< unknowns that no entry of A is stored for
  RowCount not_finite_rows;       ///< rows of A with NaN or infinity
  bool rows_sum_to_zero = false;  ///< A maps constant vectors to zero
  bool has_entries = true;        ///< A is a matrix, not an operator: there is a choice of preconditioners
  bool full_diagonal = true;      ///< no entry of the diagonal is missing or 0, as far as is known
  bool may_be_definite = false;   ///< symmetric with a positive diagonal

  /// A is zero.
  bool zero_matrix() const { return rows > 0 && zero_rows.count == rows; }
};

/// What four products of A show, and what the setup has seen of it: of a matrix or an operator, in either space, one
/// for each of `columns` right-hand sides, which stand after each other in b. For the time after a solve that failed.
/// Waits on the context's stream.
template <class T, Space S>
std::vector<SystemFacts> facts_of(const Context<S>& ctx, LinearSystem<T, S>& system, Span<const T, S> b,
                                  Index columns = 1);

}  // namespace newel
