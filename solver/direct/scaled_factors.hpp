// SPDX-License-Identifier: Apache-2.0
/// ScaledFactors: the factors of a matrix in a fill-reducing order, rows and columns scaled by powers of two.
/// Internal.
#pragma once

#include <memory>
#include <vector>

#include "reorder/scaling/product_matching.hpp"
#include "solver/direct/factors.hpp"

namespace newel::detail {

/// Factors of one kind of the table. Order and symbolic analysis are made once for a pattern; new
/// values take a numeric factorisation. Vectors are in the numbering of the matrix.
class ScaledFactors {
 public:
  /// Finds the order, and counts the fill: see FactorTask. `rows` is the pattern by rows: `begin` of rows, and
  /// `row` the columns of their entries; `orders` are of it. The row of the table outlives this.
  ScaledFactors(const HostFactorisation& kind, std::shared_ptr<const ColumnPattern> rows, double most_entries,
                SymmetricOrders& orders);

  const HostFactorisation& kind() const { return *kind_; }
  FactorCost cost() const { return factors_->cost(); }
  /// The symbolic analysis. May throw std::bad_alloc, as the constructor and `factorise` may.
  void analyse();
  /// From the values of the pattern's entries by rows. False: a value is not finite, or a pivot is 0 or not finite.
  [[nodiscard]] bool factorise(const std::vector<double>& values);
  /// As in Factors, of the values that were factorised last.
  [[nodiscard]] bool choose_pivots_anew() { return factors_->choose_pivots_anew(); }

  /// Replaces each column of v, n values one column after another, by 2^exponent inverse(A) times it. Only that, and
  /// no step on the way, may leave the range.
  void solve(std::vector<double>& v, int exponent);
  /// The same of one column by inverse(A^T).
  void solve_transposed(std::vector<double>& v);
  /// A lower bound, usually within a factor of 3, of |B|_1 |inverse(B)|_1 where B is A as it was scaled (Hager 1984;
  /// Higham 1988, algorithm 2.4). At most six solves with either B or B^T. Infinite where these overflow.
  double condition();

 private:
  /// How rows or columns of A are numbered and scaled in the matrix that is factorised.
  struct Side {
    const std::vector<Index>& new_number;  ///< empty: the same
    const std::vector<int>& power;

    std::size_t place(std::size_t i) const {
      return new_number.empty() ? i : static_cast<std::size_t>(new_number[i]);
    }
  };
  template <class Solve>
  void carry(std::vector<double>& v, const Side& in, const Side& out, int exponent, const Solve& solve);

  bool scale_rows(const std::vector<double>& values);
  double inverse_norm();

  const HostFactorisation* kind_;
  std::shared_ptr<const ColumnPattern> rows_;
  std::unique_ptr<Factors> factors_;
  std::vector<Index> new_row_, new_column_;  // of the pattern that is factorised; new_row_ is empty: the same
  ColumnPattern pattern_;
  std::vector<Index> source_;  // for each of its entries, the entry by rows
  std::vector<int> row_power_, column_power_;
  std::vector<double> scaled_, work_;  // values of pattern_; columns of a solve
};

/// Rows paired with different columns in which they have an entry other than 0, as many as possible. `values` of the
/// entries by rows. Throws WorkInterrupted.
ProductMatching matching_of(const Context<Space::host>& ctx, const ColumnPattern& rows,
                            const std::vector<double>& values);

}  // namespace newel::detail
