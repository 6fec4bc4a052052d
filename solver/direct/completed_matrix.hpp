// SPDX-License-Identifier: Apache-2.0
/// CompletedMatrix: a matrix for factors, with an entry more for each row without a partner if it is structurally
/// singular. Internal.
#pragma once

#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <newel/solver/failure.hpp>
#include "reorder/scaling/product_matching.hpp"
#include "solver/direct/factors.hpp"

namespace newel::detail {

/// Of a vector r: its part in the range of A, and the norm of the other part, of which nothing can be removed.
struct LeastResidual {
  std::vector<double> in_range;
  double least = 0;  ///< a little less, so that rounding cannot make it more; 0: rounding may have spoilt it
};

/// A + E: as many rows of A as possible are paired with different columns, and E has an entry other than 0 for each
/// pair of a row and a column that remain. If the paired rows and columns make up a regular matrix, the rank of A is
/// their number, A + E is regular, and for each row i that remains there is a z with z^T A = 0, z_i = 1 and 0 in the
/// others that remain. Then
///
/// - x with (A + E) x = b has E x = 0 if b is in the range of A, since (E x)_i = z^T b = 0. So x solves A x = b, with
///   0 in the columns that remain;
/// - for other b, |b - A x| is at least |z^T b| / |z| for every x and every sum z of such.
class Completion {
 public:
  /// For a matching of the pattern by rows that is not perfect.
  Completion(const ColumnPattern& rows, const ProductMatching& matching);

  const std::shared_ptr<const ColumnPattern>& rows() const { return rows_; }
  const std::vector<double>& values() const { return values_; }
  void take_values(const std::vector<double>& of_A);
  Index added() const { return static_cast<Index>(entries_.size()); }
  /// Whether E is symmetric.
  bool is_symmetric() const;
  /// Whether it is that of this matching, too.
  bool is_for(const ProductMatching& matching) const;

  /// Sets to 0 what rounding has left in v for columns of A that are 0; v may be several columns, one after another.
  void clear_idle(std::vector<double>& v) const;
  /// E x and E^T z.
  std::vector<double> added_times(const std::vector<double>& x) const;
  std::vector<double> added_transposed_times(const std::vector<double>& z) const;
  /// w = w - (A + E)^T z
  void subtract_transposed_product(const std::vector<double>& z, std::vector<double>& w) const;

 private:
  struct Added {
    Index row, column;
    double value;
    Index entry = -1;  ///< among those of A + E
    bool idle = true;  ///< A is 0 in its column
  };
  static std::vector<Added> entries_for(const ProductMatching& matching);

  std::vector<Added> entries_;  // of E, by rows
  std::shared_ptr<const ColumnPattern> rows_;
  std::vector<Index> place_;  // of each entry of A
  std::vector<double> values_;
};

/// A matrix for factors: A, and on demand A + E.
class CompletedMatrix {
 public:
  /// `rows` is the pattern of A by rows.
  explicit CompletedMatrix(ColumnPattern rows);

  /// Where the values of A's entries by rows are to be written.
  std::vector<double>& new_values();
  bool is_finite() const;
  /// Whether the diagonal shows that A is not structurally singular.
  bool has_full_diagonal() const;
  /// What is to be factorised, by rows: A or A + E.
  const std::shared_ptr<const ColumnPattern>& rows() const { return made_ ? made_->rows() : rows_; }
  const std::vector<double>& values() const { return made_ ? made_->values() : values_; }
  /// Entries of E; 0: it is A.
  Index added() const { return made_ ? made_->added() : 0; }
  bool adds_symmetric() const { return !made_ || made_->is_symmetric(); }
  /// To be called for a solution v with it, so that unknowns of no equation keep their values.
  void clear_idle(std::vector<double>& v) const {
    if (made_) made_->clear_idle(v);
  }

  /// Takes A + E, if it is not that already. False: A is not structurally singular, as far as is known.
  bool complete(const Context<Space::host>& ctx);
  /// For new values of A: the E that belongs to them, which may be none. True: the pattern is another one now.
  bool renew(const Context<Space::host>& ctx);
  void take_A() { made_.reset(); }

  /// Names the rank, and a row and a column that remain, if A is structurally singular and time is left to find that.
  void name_unmatched(const Context<Space::host>& ctx, Failure& failure);
  /// Of A + E: the least-squares problem of r = b - A x for some x. `solve` and `solve_transposed` replace v by
  /// inverse(A + E) v and inverse((A + E)^T) v.
  template <class Solve, class SolveTransposed>
  LeastResidual least_squares(std::vector<double> r, const Solve& solve,
                              const SolveTransposed& solve_transposed) const;

 private:
  const ProductMatching* matching(const Context<Space::host>& ctx);

  std::shared_ptr<const ColumnPattern> rows_;
  std::vector<double> values_;
  std::optional<ProductMatching> matching_;  // of these values, once it is asked for
  std::optional<Completion> made_;           // A + E
};

double inner_product_of(const std::vector<double>& v, const std::vector<double>& w);
/// w = w + a v
void add_times(double a, const std::vector<double>& v, std::vector<double>& w);
/// |v|, also if squares leave the range.
double norm_of(std::vector<double> v);
/// Divides v by 2^k, so that its largest element is about 1. Nothing: v is 0 or not finite.
std::optional<int> normalise(std::vector<double>& v);

// The z with z^T A = 0 are N c: (A + E)^T z = E^T c for any c in the rows that remain, and N^T v = E inverse(A + E)
// v. CG for N^T N c = N^T r, of as many unknowns as there are rows that remain, makes r - N c the part in the range
// of A.
template <class Solve, class SolveTransposed>
LeastResidual CompletedMatrix::least_squares(std::vector<double> r, const Solve& solve,
                                             const SolveTransposed& solve_transposed) const {
  constexpr int most_steps = 30;
  constexpr double enough = 1e-20, accurate = 1e-3, most_digits_lost = 1e-12, for_rounding = 0.99;
  LeastResidual found{r, 0};
  const std::optional<int> power = normalise(r);
  if (!made_ || !power) return found;
  const auto n_transposed = [&](std::vector<double> v) {
    solve(v);
    return made_->added_times(v);
  };
  std::vector<double> rest = r, c(r.size(), 0.0), z(r.size(), 0.0), g = n_transposed(rest), p = g;
  double gg = inner_product_of(g, g);
  const double first = gg;
  for (int step = 0; step < most_steps && gg > enough * first; ++step) {
    std::vector<double> q = made_->added_transposed_times(p);
    solve_transposed(q);
    const double a = gg / inner_product_of(q, q);
    if (!std::isfinite(a)) return found;
    add_times(a, p, c);
    add_times(a, q, z);
    add_times(-a, q, rest);
    g = n_transposed(rest);
    const double before = std::exchange(gg, inner_product_of(g, g));
    for (std::size_t i = 0; i < p.size(); ++i) p[i] = g[i] + gg / before * p[i];
  }
  std::vector<double> correction =
      made_->added_transposed_times(c);  // of z, by one step of refinement: about its error
  made_->subtract_transposed_product(z, correction);
  solve_transposed(correction);
  add_times(1, correction, z);
  const double product = std::fabs(inner_product_of(z, r)), size = norm_of(z), of_r = norm_of(r);
  const bool known = product > 0 && std::isfinite(product) && most_digits_lost * size * of_r <= product &&
                     norm_of(correction) * of_r <= accurate * product;
  if (!std::isfinite(norm_of(rest))) return found;
  for (std::size_t i = 0; i < rest.size(); ++i) found.in_range[i] = std::ldexp(rest[i], *power);
  if (known) found.least = std::ldexp(for_rounding * product / size, *power);
  return found;
}

}  // namespace newel::detail
