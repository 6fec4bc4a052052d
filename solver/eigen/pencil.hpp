// SPDX-License-Identifier: Apache-2.0
/// Pencil: A x = lambda M x on blocks of vectors, and bases of them that are M-orthonormal. Internal.
#pragma once

#include <vector>

#include <newel/solver/eigenpairs.hpp>
#include "solver/eigen/panels.hpp"

namespace newel::detail {

/// Vectors, and the products of A and of M with them.
template <Space S>
struct EigenBlock {
  EigenBlock() = default;
  EigenBlock(const Context<S>& ctx, std::int64_t rows, int most, bool with_mass)
      : x(ctx, rows, most), a(ctx, rows, most), m(ctx, rows, with_mass ? most : 0) {}

  int columns() const { return x.columns(); }

  Panels<S> x, a;
  Panels<S> m;  ///< unused if M is the identity
};

/// The problem with the memory that its operations need, for blocks of up to `most` vectors.
template <Space S>
class Pencil {
 public:
  using Blocks = std::vector<const EigenBlock<S>*>;

  Pencil(const Context<S>& ctx, const EigenProblem<S>& problem, std::int64_t rows, int most);

  EigenBlock<S> new_block() const { return EigenBlock<S>(ctx_, rows_, most_, problem_.m != nullptr); }
  /// M x of a block.
  const Panels<S>& mass(const EigenBlock<S>& block) const { return problem_.m != nullptr ? block.m : block.x; }
  PanelAlgebra<S>& algebra() { return algebra_; }
  /// Memory of a block, which any other function of this class may overwrite.
  EigenBlock<S>& spare() { return spare_; }
  /// A^T B, all of whose values are finite; otherwise InputError.
  SmallMatrix dots(const Panels<S>& a, const Panels<S>& b, Span<const double, S> weights = {});
  /// Replaces the vectors of `z` by an M-orthonormal basis of what they have beyond the blocks and the vectors that
  /// are left out, and computes M z. Nearly dependent ones are dropped. Two rounds of classical Gram-Schmidt and of
  /// SVQB (A. Stathopoulos and K. Wu, SIAM J. Sci. Comput. 23(6), 2002).
  void orthonormalise(EigenBlock<S>& z, const Blocks& blocks);
  void multiply(EigenBlock<S>& z) { algebra_.apply(problem_.a, z.x, z.a); }
  void precondition(const Panels<S>& from, Panels<S>& to) { algebra_.apply(problem_.preconditioner, from, to); }
  /// X^T A X for the vectors of the blocks side by side, its lower triangle.
  SmallMatrix projected(const Blocks& basis);
  /// to = the vectors of the blocks times the coefficients, with their products.
  void combine(const Blocks& basis, const SmallMatrix& coefficients, EigenBlock<S>& to);
  /// The square roots of r.D^-1 r of each column, with the diagonal D of M.
  std::vector<double> lengths(const Panels<S>& r);

 private:
  void project(EigenBlock<S>& z, const Blocks& blocks);
  void orthonormalise_among_themselves(EigenBlock<S>& z);
  void replace(EigenBlock<S>& z, const Blocks& others, const SmallMatrix& coefficients);

  const Context<S>& ctx_;
  const EigenProblem<S>& problem_;
  std::int64_t rows_;
  int most_;
  PanelAlgebra<S> algebra_;
  EigenBlock<S> spare_, deflated_;
};

}  // namespace newel::detail
