// SPDX-License-Identifier: Apache-2.0
/// ScaledFactors: the factors of a matrix in a fill-reducing order, rows and columns scaled by powers of two.
/// Internal.
#pragma once

#include <memory>
#include <vector>

#include "reorder/scaling/product_matching.hpp"
#include "solver/direct/factors.hpp"

namespace newel::detail {

/// What a factorisation takes, estimated from the pattern. Infinite: more than was counted.
struct FactorCost {
  double bytes = 0;
  double seconds = 0;
};

/// L D L^T without pivoting, or L U with row pivoting. Order and symbolic analysis are made once for a pattern; new
/// values take a numeric factorisation. Vectors are in the numbering of the matrix.
class ScaledFactors {
 public:
  /// `rows` is the pattern by rows: `begin` of rows, and `row` the columns of their entries. With `symmetric`, L D
  /// L^T. The library outlives this.
  ScaledFactors(const FactorLibrary& library, ColumnPattern rows, bool symmetric);

  bool symmetric() const { return symmetric_; }
  /// For the same matrix L U, of which nothing is made yet.
  ScaledFactors as_lu() const { return {*library_, rows_, false}; }

  /// Finds the order and counts the fill, up to so many entries of L.
  FactorCost order(double most_entries);
  /// The symbolic analysis. May throw std::bad_alloc, as `factorise` may.
  void analyse();
  /// From the values of the pattern's entries by rows. False: a pivot is 0 or not finite.
  [[nodiscard]] bool factorise(const std::vector<double>& values);

  /// Replaces v by 2^exponent inverse(A) v. Only that, and no step on the way, may leave the range.
  void solve(std::vector<double>& v, int exponent);
  /// A lower bound, usually within a factor of 3, of |B|_1 |inverse(B)|_1 where B is A as it was scaled (Hager 1984;
  /// Higham 1988, algorithm 2.4). At most six solves with either B or B^T. Infinite where these overflow.
  double condition();
  /// Rows paired with different columns in which they have an entry other than 0, as many as possible.
  ProductMatching matching(const Context<Space::host>& ctx, const std::vector<double>& values) const;

 private:
  void scale(const std::vector<double>& values);
  double inverse_norm();

  const FactorLibrary* library_;
  ColumnPattern rows_;
  bool symmetric_;
  std::vector<Index> new_row_, new_column_;  // of the pattern that is factorised; new_row_ is empty: the same
  ColumnPattern pattern_;
  std::vector<Index> source_;  // for each of its entries, the entry by rows
  std::vector<int> row_power_, column_power_;
  std::vector<double> scaled_, work_;  // values of pattern_; a vector
  std::unique_ptr<Factors> factors_;
};

}  // namespace newel::detail
