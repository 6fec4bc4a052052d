// SPDX-License-Identifier: Apache-2.0
/// Whether a saddle point comes from an equation of fourth order. Internal.
#pragma once

#include <algorithm>

#include "precond/mirrored_constraints.hpp"

namespace newel::detail {

/// Whether the Schur complement S = B diag(A)^-1 B^T of a symmetric saddle point looks like an operator of fourth
/// order: in most rows the positive entries beside the diagonal add up to more than half of it. Neither its diagonal
/// nor AMG serves such an S. Of four plates in mixed form 0.92 to 0.97 of the rows do, of flows with bubbles 0.65, of
/// other flows, elasticity and mixed diffusion 0 to 0.16. Looks at 32 constraints, at 9 if they are not.
template <class T>
bool is_of_fourth_order(const CsrView<T, Space::host>& a) {
  constexpr Index looked_at = 32, most_others = 8;
  constexpr double most_positive = 0.5;
  const std::vector<char> constraint = constraint_rows(a);
  const auto is_constraint = [&](Index i) { return constraint[static_cast<std::size_t>(i)] != 0; };
  std::vector<Index> constraints;
  for (Index i = 0; i < a.rows; ++i) {
    if (is_constraint(i)) constraints.push_back(i);
  }
  std::vector<double> of_row(static_cast<std::size_t>(a.rows), 0);
  std::vector<Index> met;
  const auto count = static_cast<Index>(constraints.size()), looks = std::min(count, looked_at);
  Index others = 0;
  for (Index look = 0; look < looks; ++look) {
    const Index i = constraints[static_cast<std::size_t>(Offset{look} * count / looks)];
    for (Offset k = a.row_begin(i); k < a.row_begin(i + 1); ++k) {
      const Index u = a.col[k];
      if (is_constraint(u)) continue;
      const double share = static_cast<double>(a.val[k]) / static_cast<double>(stored_value(a, u, u));
      for (Offset l = a.row_begin(u); l < a.row_begin(u + 1); ++l) {
        of_row[a.col[l]] += share * static_cast<double>(a.val[l]);
        met.push_back(a.col[l]);
      }
    }
    double positive = 0;
    for (const Index j : met) {
      if (j != i && is_constraint(j)) positive += std::max(of_row[j], 0.0);
      if (j != i) of_row[j] = 0;
    }
    if (!(positive > most_positive * of_row[i]) && ++others > most_others) return false;
    of_row[i] = 0;
    met.clear();
  }
  return looks > 0;
}

/// What the rows without a positive diagonal entry are, of a symmetric matrix that may be a saddle point.
enum class ConstraintKind {
  none,         ///< no constraints: they are coupled among each other
  usual,        ///< constraints
  fourth_order  ///< constraints for which no preconditioner serves
};

/// Takes as long as both questions above.
template <class T>
ConstraintKind constraint_kind(const CsrView<T, Space::host>& a) {
  if (!constraints_stand_apart(a)) return ConstraintKind::none;
  return is_of_fourth_order(a) ? ConstraintKind::fourth_order : ConstraintKind::usual;
}

}  // namespace newel::detail
