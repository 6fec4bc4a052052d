// SPDX-License-Identifier: Apache-2.0
/// Fill: the entries of factors and the work of a factorisation, counted from the pattern before it is made.
/// Internal.
#pragma once

#include <vector>

#include "solver/direct/factors.hpp"

namespace newel::detail {

/// Of a triangular factor with c_k entries in column k.
struct Fill {
  double entries = 0;  ///< sum of c_k
  double squares = 0;  ///< sum of c_k^2, half the operations of a factorisation
};

/// Of L, where A = L D L^T is symmetric and `new_number` its order. `pattern` is that of all of A. Counts up to
/// `most_entries`; where there are more, both figures are infinite. Walks every row's part of the elimination tree
/// (Liu 1990, section 3): as many steps as L has entries.
Fill fill_of_ldlt(const ColumnPattern& pattern, const std::vector<Index>& new_number, double most_entries);

/// Of the Cholesky factor of A^T A, whose pattern contains that of U, whatever rows are pivots (George and Ng 1985).
/// L has about as many.
Fill fill_of_lu(const ColumnPattern& pattern, const std::vector<Index>& new_number, double most_entries);

}  // namespace newel::detail
