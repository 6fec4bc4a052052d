// SPDX-License-Identifier: Apache-2.0
// Finding the constraints of a saddle point.
#include "precond/saddle/saddle_rows.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include <newel/core/error.hpp>
#include <newel/core/parallel.hpp>
#include "core/vectors/instantiate.hpp"

namespace newel::detail {
namespace {

using HostContext = Context<Space::host>;

template <class T>
Array<double, Space::host> diagonal_of(const HostContext& ctx, const CsrView<T, Space::host>& a) {
  Array<double, Space::host> diagonal(ctx, a.rows);
  parallel_for(ctx, a.rows, [&](Index i) {
    diagonal[i] = 0;
    for (Offset k = a.row_begin(i); k < a.row_begin(i + 1); ++k) {
      if (a.col[k] == i) diagonal[i] = static_cast<double>(a.val[k]);
    }
  });
  return diagonal;
}

// In a positive definite matrix a_ij^2 < a_ii a_jj. A row most of whose entries are far above that has a diagonal
// entry that says nothing, such as a small penalty; this does not depend on the units of rows. Entries that are zero
// but for rounding do not count, nor do those that couple to other constraints.
template <class T>
bool contradicts(const CsrView<T, Space::host>& a, const Array<double, Space::host>& diagonal, Index i) {
  constexpr double far_above = 100, rounding = 1e-10;
  double largest = 0;
  for (Offset k = a.row_begin(i); k < a.row_begin(i + 1); ++k) {
    largest = std::max(largest, std::fabs(static_cast<double>(a.val[k])));
  }
  Offset others = 0, above = 0;
  for (Offset k = a.row_begin(i); k < a.row_begin(i + 1); ++k) {
    const double value = static_cast<double>(a.val[k]);
    if (a.col[k] == i || !(std::fabs(value) > rounding * largest) || !(diagonal[a.col[k]] > 0)) continue;
    ++others;
    if (value * value > far_above * diagonal[i] * diagonal[a.col[k]]) ++above;
  }
  return above > others - above;
}

// By the caller's number of each row.
template <class T>
std::vector<char> by_diagonal(const HostContext& ctx, const CsrView<T, Space::host>& a,
                              const std::vector<Index>& old_of_new) {
  const Array<double, Space::host> diagonal = diagonal_of(ctx, a);
  std::vector<char> is_constraint(static_cast<std::size_t>(a.rows), 0);
  parallel_for(ctx, a.rows, [&](Index i) {
    const Index user = old_of_new.empty() ? i : old_of_new[i];
    is_constraint[user] = !(diagonal[i] > 0) || contradicts(a, diagonal, i) ? 1 : 0;
  });
  return is_constraint;
}

std::vector<char> as_given(Index rows, const SaddleOptions& options) {
  std::vector<char> is_constraint(static_cast<std::size_t>(rows), 0);
  if (options.rows == nullptr) {
    for (Index i = rows - std::min<Index>(options.constraints, rows); i < rows; ++i) is_constraint[i] = 1;
    return is_constraint;
  }
  for (const Index row : *options.rows) {
    if (row < 0 || row >= rows) {
      throw InputError("the constraint " + std::to_string(row) + " is not a row of a matrix of " +
                       std::to_string(rows) + " rows");
    }
    is_constraint[row] = 1;
  }
  return is_constraint;
}

}  // namespace

template <class T>
SaddleRows find_saddle_rows(const HostContext& ctx, const CsrView<T, Space::host>& a,
                            const std::vector<Index>& old_of_new, const SaddleOptions& options) {
  const bool given = options.rows != nullptr || options.constraints > 0;
  const std::vector<char> is_constraint = given ? as_given(a.rows, options) : by_diagonal(ctx, a, old_of_new);
  SaddleRows found;
  for (Index i = 0; i < a.rows; ++i) (is_constraint[i] ? found.constraints : found.primal).push_back(i);
  if (found.constraints.empty()) {
    throw InputError(
        "the matrix does not look like a saddle point: no diagonal entry is missing, zero, negative or very small");
  }
  if (found.constraints.size() > found.primal.size()) {
    throw InputError("a saddle point has at most as many constraints as other rows, not " +
                     std::to_string(found.constraints.size()) + " and " + std::to_string(found.primal.size()));
  }
  return found;
}

#define X(T, S)                                                                                             \
  template SaddleRows find_saddle_rows(const HostContext&, const CsrView<T, S>&, const std::vector<Index>&, \
                                       const SaddleOptions&);
NEWEL_FOR_TYPES(X, Space::host)
#undef X

}  // namespace newel::detail
