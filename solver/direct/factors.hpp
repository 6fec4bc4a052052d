// SPDX-License-Identifier: Apache-2.0
/// Factors: what a library of sparse factorisations does for the direct solver, in double precision. Internal.
#pragma once

#include <memory>
#include <vector>

#include <newel/core/types.hpp>

namespace newel::detail {

/// The pattern of a square matrix by columns; entries are numbered in this order.
struct ColumnPattern {
  Index size = 0;
  std::vector<Index> begin;  ///< size + 1
  std::vector<Index> row;    ///< of each entry, strictly ascending in a column

  Index entries() const { return static_cast<Index>(row.size()); }
};

/// The factors of matrices with one pattern. The symbolic analysis is made once, by the constructor.
class Factors {
 public:
  virtual ~Factors() = default;

  /// From the values of the pattern's entries. False: a pivot is 0 or not finite, and there are no factors.
  [[nodiscard]] virtual bool factorise(const std::vector<double>& values) = 0;
  /// Replaces v by inverse(A) v.
  virtual void solve(std::vector<double>& v) = 0;
  /// Replaces v by inverse(A^T) v.
  virtual void solve_transposed(std::vector<double>& v) = 0;
};

/// A library of factorisations. Orders are given as the new number of each row or column.
struct FactorLibrary {
  /// A fill-reducing order of rows and columns together for a pattern that is symmetric (approximate minimum degree;
  /// Amestoy, Davis and Duff 1996).
  std::vector<Index> (*order_symmetric)(const ColumnPattern& pattern);
  /// A fill-reducing order of the columns, whatever rows are chosen as pivots (COLAMD; Davis, Gilbert, Larimore and
  /// Ng 2004).
  std::vector<Index> (*order_columns)(const ColumnPattern& pattern);
  /// A = L D L^T without pivoting, for a symmetric A of which the pattern has the upper triangle with the diagonal.
  std::unique_ptr<Factors> (*make_ldlt)(const ColumnPattern& upper);
  /// P A = L U with row pivoting, supernodal (Demmel, Eisenstat, Gilbert, Li and Liu 1999).
  std::unique_ptr<Factors> (*make_lu)(const ColumnPattern& pattern);
};

/// In builds with Eigen.
extern const FactorLibrary eigen_factors;

}  // namespace newel::detail
