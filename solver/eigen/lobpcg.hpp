// SPDX-License-Identifier: Apache-2.0
/// Lobpcg: approximate eigenvectors X, and the directions P of their last step. Internal.
#pragma once

#include <vector>

#include "solver/eigen/pencil.hpp"

namespace newel::detail {

/// A. Knyazev, SIAM J. Sci. Comput. 23(2), 2001, algorithm 4.1. The basis is that of J. Duersch, M. Shao, C. Yang and
/// M. Gu, SIAM J. Sci. Comput. 40(5), 2018: preconditioned residuals are made orthonormal against X and P, and P
/// against X by the coefficients alone (section 3.2).
template <Space S>
class Lobpcg {
 public:
  /// Begins with the guesses, column after column, and with random vectors beside them.
  Lobpcg(const Context<S>& ctx, Pencil<S>& pencil, std::int64_t rows, int size, Span<const double, S> guesses);

  /// Ritz values, ascending, and their vectors.
  const std::vector<double>& values() const { return values_; }
  const Panels<S>& vectors() const { return x_.x; }
  /// The length of A x - lambda M x for each, by the products that were carried along.
  std::vector<double> residuals();
  /// Improves X by the preconditioned residuals of the columns that are active; false if these add no direction.
  bool step(const std::vector<int>& active);
  /// Replaces the products that were carried along, and the Ritz values, by new ones.
  void compute_again();

 private:
  using Blocks = typename Pencil<S>::Blocks;
  void compute_residuals(const std::vector<int>& columns);
  /// X becomes the vectors of the `size_` smallest Ritz values in the basis; returns their coefficients.
  SmallMatrix take_smallest(const Blocks& basis);

  Pencil<S>& pencil_;
  int size_;
  EigenBlock<S> x_, p_, w_, next_;
  Panels<S> residuals_;
  std::vector<double> values_;
};

}  // namespace newel::detail
