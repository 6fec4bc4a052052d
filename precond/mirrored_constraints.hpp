// SPDX-License-Identifier: Apache-2.0
/// Whether rows without a diagonal look like constraints of a saddle point. Internal.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include <newel/precond/choice.hpp>
#include "precond/matrix_on_host.hpp"

namespace newel::detail {

/// a_ij; 0: it is not stored.
template <class T>
T stored_value(const CsrView<T, Space::host>& a, Index i, Index j) {
  const Index* const begin = a.col.data + a.row_begin(i);
  const Index* const end = a.col.data + a.row_begin(i + 1);
  const Index* const found = std::lower_bound(begin, end, j);
  return found != end && *found == j ? a.val[found - a.col.data] : T(0);
}

/// Whether most unknowns that occur in rows without a diagonal are coupled back: of the entries (i, j) and (j, i),
/// one of whose rows alone has a diagonal entry other than 0, at least 0.6 have both. Fixed boundary values leave
/// 0.75 or more of a saddle point's; of circuit204, adder_dcop_05 and bips98_606 it is 0.56, 0.07 and 0.01. Two
/// passes over the matrix, and a search for each entry of those rows; on a device a copy of the matrix.
template <class T, Space S>
bool constraints_are_mirrored(const Context<S>& ctx, const CsrView<T, S>& a) {
  constexpr double least_share = 0.6;
  Csr<T, Space::host> kept;
  const CsrView<T, Space::host> on_host = matrix_on_host(ctx, a, kept);
  std::vector<char> has_diagonal(static_cast<std::size_t>(a.rows), 0);
  for (Index i = 0; i < a.rows; ++i) has_diagonal[static_cast<std::size_t>(i)] = stored_value(on_host, i, i) != T(0);
  Offset couplings = 0, mirrored = 0;
  for (Index i = 0; i < a.rows; ++i) {
    const bool own = has_diagonal[static_cast<std::size_t>(i)] != 0;
    for (Offset k = on_host.row_begin(i); k < on_host.row_begin(i + 1); ++k) {
      const Index j = on_host.col[k];
      if (on_host.val[k] == T(0) || own == (has_diagonal[static_cast<std::size_t>(j)] != 0)) continue;
      ++couplings;
      if (!own && stored_value(on_host, j, i) != T(0)) mirrored += 2;
    }
  }
  return static_cast<double>(mirrored) >= least_share * static_cast<double>(couplings);
}

/// For each row of a saddle point whether it looks like a constraint: its diagonal entry is not positive.
template <class T>
std::vector<char> constraint_rows(const CsrView<T, Space::host>& a) {
  std::vector<char> rows(static_cast<std::size_t>(a.rows), 0);
  for (Index i = 0; i < a.rows; ++i) rows[static_cast<std::size_t>(i)] = !(stored_value(a, i, i) > T(0));
  return rows;
}

/// Whether the rows of a symmetric matrix without a positive diagonal entry are coupled to the others more than among
/// each other, by the sums of absolute values: constraints are, and rows of an indefinite operator are not. Reads
/// these rows, and searches the diagonal entry of all.
template <class T>
bool constraints_stand_apart(const CsrView<T, Space::host>& a) {
  constexpr double most_among = 0.5;
  const std::vector<char> is_constraint = constraint_rows(a);
  double among = 0, to_others = 0;
  for (Index i = 0; i < a.rows; ++i) {
    if (is_constraint[static_cast<std::size_t>(i)] == 0) continue;
    for (Offset k = a.row_begin(i); k < a.row_begin(i + 1); ++k) {
      double& sum = is_constraint[static_cast<std::size_t>(a.col[k])] != 0 ? among : to_others;
      sum += std::abs(static_cast<double>(a.val[k]));
    }
  }
  return among <= most_among * to_others;
}

/// Whether a trial is to show if a preconditioner for saddle points serves.
template <class T, Space S>
bool may_be_saddle_point(const Context<S>& ctx, const CsrView<T, S>& a, const MatrixTraits& traits) {
  return is_saddle_point(traits) && (traits.pattern_symmetric || constraints_are_mirrored(ctx, a));
}

}  // namespace newel::detail
