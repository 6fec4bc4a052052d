// SPDX-License-Identifier: Apache-2.0
/// SystemFacts: properties of a matrix and a right-hand side that explain why a solve failed.
#pragma once

#include <vector>

#include <newel/core/matrix_traits.hpp>
#include <newel/solver/linear_system.hpp>

namespace newel {

/// Plain values; an interface fills in what it knows. Rows and columns are 0-based.
struct SystemFacts {
  Index rows = 0;                 ///< of A
  RowCount zero_rows;             ///< rows of A whose entries are all 0
  RowCount impossible_rows;       ///< those of them where b is not 0: no x solves the system
  RowCount zero_columns;          ///< unknowns whose columns of A store no entry
  RowCount not_finite_rows;       ///< rows of A that contain NaN or infinity
  bool rows_sum_to_zero = false;  ///< A maps constant vectors to zero
  bool has_entries = true;        ///< A is a matrix, not an operator: preconditioners can be chosen
  bool full_diagonal = true;      ///< every diagonal entry is stored and not 0, as far as is known
  bool symmetric = false;         ///< pattern and values of A are symmetric, as far as is known
  bool may_be_definite = false;   ///< symmetric with a positive diagonal

  /// Whether A is zero.
  bool zero_matrix() const { return rows > 0 && zero_rows.count == rows; }
};

/// Facts found by four products with A and during setup, one set for each of the `columns` right-hand sides stored
/// one after another in b. For matrices and operators, in either space. Call it after a failed solve. Waits on the
/// context's stream.
template <class T, Space S>
std::vector<SystemFacts> facts_of(const Context<S>& ctx, LinearSystem<T, S>& system, Span<const T, S> b,
                                  Index columns = 1);

}  // namespace newel
