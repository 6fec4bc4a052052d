// SPDX-License-Identifier: Apache-2.0
/// AmgCycle: the V-cycle on the levels of a hierarchy, in one space and precision. Internal.
#pragma once

#include "precond/amg/cycle/cycle_levels.hpp"

namespace newel::detail {

/// The first level's operators, in solver order.
template <class T, Space S>
struct AmgFinest {
  OperatorPtr<T, S> a;
  SparseSmoother<T, S> smoother;
  bool in_blocks = false;  ///< `a` is made of the hierarchy's values, and refreshed from them
  bool converts = false;   ///< b and x of a cycle in single precision are in double
  bool symmetric = false;  ///< see PrecondOptions; for the smoothers of all levels
  /// The hierarchy's first level is a coarse one itself, and smoothed and tried like one. `a` is made of its values.
  bool below_first = false;
  TriedLevels tried = tried_levels<S>;
};

/// A level's matrix in blocks on the host, which has to outlive it; else in the format csr.
template <class T, Space S>
OperatorPtr<T, S> make_block_matrix(const Context<S>& ctx, const BlockCsr<S>& a);

/// The levels' operators: matrices made by make_spmv, prolongators, and on a device coarse levels in one kernel.
/// Level 0 is in solver order; the others have the numbering of the hierarchy, which has to outlive the cycle.
///
/// Where A is symmetric, a level below the first, of those tried, on which CG converges slowly with the cycle from
/// there on is solved by two of them, whose error is the Chebyshev polynomial of degree 2 on [1/4, 1]: the AMLI-cycle
/// of O. Axelsson and P. S. Vassilevski, "Algebraic multilevel preconditioning methods I", Numer. Math. 56, 1989.
/// Linear and symmetric as a V-cycle is.
template <class T, Space S>
class AmgCycle {
 public:
  AmgCycle() = default;
  /// `finest` is A in solver order, and its smoother where that is a sparse matrix; null where the hierarchy has a
  /// single level that is inverted. Other levels' smoothers are the diagonal where they refuse the matrix, and
  /// all that the hierarchy has chosen where they leave the spectrum as wide.
  AmgCycle(const Context<S>& ctx, AmgFinest<T, S> finest, const AmgHierarchy<S>& hierarchy, LevelOrder<S> order,
           int degree);

  /// Another smoother for the first level, the diagonal where it has no matrix; `degree` as in the constructor.
  void smooth_first_with(const Context<S>& ctx, SparseSmoother<T, S> smoother, const AmgHierarchy<S>& hierarchy,
                         int degree) {
    take_smoother(ctx, 0, std::move(smoother), hierarchy, degree);
  }

  /// Takes the hierarchy's new values, and for the finest matrix those of the caller; with `prolongators` theirs too.
  void refresh(const Context<S>& ctx, Span<const T, S> values, const AmgHierarchy<S>& hierarchy, bool prolongators);

  /// x = M b: on each level a smoother from 0, the correction of the next level, and the smoother again. Symmetric
  /// where A is. *bx = b.x, unless it is null. V: T, or double where the finest matrix `converts`. Queued on the
  /// stream; allocates nothing.
  template <class V>
  void apply(const Context<S>& ctx, Span<const V, S> b, Span<V, S> x, double* bx) const;

  const CycleLevels<T, S>& levels() const { return levels_; }
  /// The first level's matrix; null where there is none but an inverse.
  const MatrixOperator<T, S>* finest() const { return levels_.all.empty() ? nullptr : levels_[0].a.get(); }
  bool finest_in_blocks() const { return finest_in_blocks_; }
  /// From the hierarchy's numbering to that of the first level; empty: the same.
  Span<const Index, S> old_of_new() const { return order_.old_of_new.cspan(); }
  /// Whether a ColumnCycle can do as it does: not where one kernel, or the cycle of a coarse level, is all of it.
  bool has_columns() const { return !below_first_ && !levels_.in_coarse(0); }

 private:
  /// The first of the levels that are coarse ones.
  std::size_t first_below() const { return below_first_ ? 0 : 1; }
  /// As `old_of_new`, of level l.
  Span<const Index, S> order_of(std::size_t l) const { return l == 0 ? old_of_new() : Span<const Index, S>(); }
  void take_smoother(const Context<S>& ctx, std::size_t l, SparseSmoother<T, S> smoother,
                     const AmgHierarchy<S>& hierarchy, int degree);
  void refresh_smoother(const Context<S>& ctx, std::size_t l, Span<const T, S> values,
                        const AmgHierarchy<S>& hierarchy);
  void choose_cycles(const Context<S>& ctx, const AmgHierarchy<S>& hierarchy, int degree, const TriedLevels& tried);

  CycleLevels<T, S> levels_;
  LevelOrder<S> order_;
  bool below_first_ = false;
  bool finest_in_blocks_ = false;
};

}  // namespace newel::detail
