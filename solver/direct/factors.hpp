// SPDX-License-Identifier: Apache-2.0
/// Factors: what a library of sparse factorisations does for the direct solver, in double precision. Internal.
#pragma once

#include <memory>
#include <vector>

#include <newel/solver/factorisations.hpp>

namespace newel::detail {

/// The pattern of a square matrix by columns; entries are numbered in this order.
struct ColumnPattern {
  Index size = 0;
  std::vector<Index> begin;  ///< size + 1
  std::vector<Index> row;    ///< of each entry, strictly ascending in a column

  Index entries() const { return static_cast<Index>(row.size()); }
};

/// What a factorisation takes, estimated from the pattern. Infinite: more than was counted.
struct FactorCost {
  double bytes = 0;
  double seconds = 0;
};

/// The factors of matrices with one pattern, for which the constructor finds an order.
class Factors {
 public:
  virtual ~Factors() = default;

  /// The new number of each column, of a symmetric matrix of each row too. Empty: columns stay as they are.
  virtual const std::vector<Index>& order() const = 0;
  virtual FactorCost cost() const = 0;
  /// The symbolic analysis of the pattern in that order; of a symmetric matrix it is the upper triangle. The pattern
  /// outlives this. May throw std::bad_alloc, as `factorise` may.
  virtual void analyse(const ColumnPattern& ordered) = 0;
  /// From the values of the entries of `ordered`, which are finite and stay where they are until the next call.
  /// False: a pivot is 0 or not finite, and there are no factors.
  [[nodiscard]] virtual bool factorise(const std::vector<double>& values) = 0;
  /// If the pivots are those of earlier values: factorises the same values with pivots chosen for them. False: they
  /// are chosen for these already, or there are no factors now.
  [[nodiscard]] virtual bool choose_pivots_anew() { return false; }
  /// Replaces v by inverse(A) v; v may be several columns, one after another.
  virtual void solve(std::vector<double>& v) = 0;
  /// Replaces v by inverse(A^T) v.
  virtual void solve_transposed(std::vector<double>& v) = 0;
};

class SymmetricOrders;

/// A matrix whose factors may be made.
struct FactorTask {
  const ColumnPattern& whole;  ///< its pattern by columns
  double most_entries;         ///< up to which fill is counted
  SymmetricOrders& orders;     ///< of the pattern, if the matrix is symmetric
};

/// One way to factorise on the host: a row of the table of factorisations.
struct HostFactorisation {
  Factorisation about;
  bool symmetric = false;  ///< for symmetric matrices alone
  /// Of a matrix with fewer, others are preferred: they are made before this library would be loaded.
  Index fewest_entries = 0;
  /// Why the library cannot be used here; empty: it can. Loads the library at the first call.
  const std::string& (*missing)() = nullptr;
  std::unique_ptr<Factors> (*make)(const FactorTask& task) = nullptr;
};

/// All of this build, preferred ones first.
const std::vector<HostFactorisation>& host_factorisations();

}  // namespace newel::detail
