// SPDX-License-Identifier: Apache-2.0
/// AmgCycle: the V-cycle on the levels of a hierarchy, in one space and precision. Internal.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "precond/amg/smooth/amg_smoother.hpp"
#include "precond/amg/cycle/coarse_cycle.hpp"
#include "precond/amg/cycle/transfer.hpp"

namespace newel::detail {

/// The figure `local_operations`; 0 where there is none.
double local_operations_of(const OperatorInfo& info);

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

/// The levels' operators, with the vectors of a cycle: matrices made by make_spmv, prolongators, and on a device
/// coarse levels in one kernel. Level 0 is in solver order; the others have the numbering of the hierarchy, which has
/// to outlive the cycle.
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

  /// The smoothers in use: "chebyshev", "fsai and chebyshev".
  std::string smoother_text(const AmgHierarchy<S>& hierarchy) const;
  /// Which levels are solved by two cycles: ", two cycles on levels 2 and 3", the first being 1; else empty.
  std::string cycles_text() const;
  bool capturable() const;
  std::uint64_t bytes_per_cycle() const;
  /// Bytes of matrices, of prolongators with their transposes, of the coarsest inverse, of vectors.
  std::vector<std::pair<std::string, std::uint64_t>> bytes() const;
  /// Entries of the operators.
  std::pair<Offset, Offset> nonzeros_and_slots() const;
  /// Those of the smoothers together.
  double local_operations() const;
  /// From the hierarchy's numbering to that of the first level; empty: the same.
  Span<const Index, S> old_of_new() const { return order_.old_of_new.cspan(); }
  bool finest_in_blocks() const { return finest_in_blocks_; }
  const MatrixOperator<T, S>* finest() const { return levels_.empty() ? nullptr : levels_.front().a.get(); }
  /// Without a matrix where it is a diagonal.
  const SparseSmoother<T, S>& finest_smoother() const {
    static const SparseSmoother<T, S> none;
    return levels_.empty() ? none : levels_.front().sparse;
  }

 private:
  /// Between two cycles of a level. The residual is one in double: of a coarse matrix of a body that is hardly held
  /// one in single precision is lost in rounding.
  struct Again {
    Array<T, S> b, x;
    OperatorPtr<double, S> exact;  ///< A; null: the level's is one in double
    Array<double, S> exact_r, exact_x;

    std::uint64_t vector_bytes() const { return b.bytes() + x.bytes() + exact_r.bytes() + exact_x.bytes(); }
  };
  struct Level {
    OperatorPtr<T, S> a;
    AmgTransfer<T, S> transfer;  ///< to the next level; none from the last
    SparseSmoother<T, S> sparse;
    Array<T, S> smoother;      ///< D^-1 / lambda; with a sparse one 1 / lambda
    mutable Array<T, S> r, d;  ///< residual and direction
    mutable Array<T, S> z;     ///< the sparse smoother times r
    SmootherSteps steps;
    mutable Array<T, S> b, x;      ///< of levels below the first
    int cycles = 1;                ///< in which the level is, in one of the whole
    std::unique_ptr<Again> again;  ///< null: one cycle solves it
  };

  void descend(const Context<S>& ctx, std::size_t l, Span<const T, S> b, Span<T, S> x) const;
  void correct(const Context<S>& ctx, const Level& level, std::size_t l) const;
  void choose_cycles(const Context<S>& ctx, const AmgHierarchy<S>& hierarchy, int degree, const TriedLevels& tried);
  void solve_twice(const Context<S>& ctx, const AmgLevel<S>& from, Level& level, int degree) const;
  bool solved_twice(std::size_t l) const {
    if (coarse_ != nullptr && l >= coarse_first_) return coarse_->solved_twice(l - coarse_first_);
    return levels_[l].again != nullptr;
  }
  template <class Last>
  void smooth(const Context<S>& ctx, std::size_t l, T* x, Last&& last) const;
  Span<const T, S> place(const Context<S>& ctx, Span<const double, S> values);
  SparseSmoother<T, S> make_smoother(const Context<S>& ctx, const AmgLevel<S>& level) const;
  void take_smoother(const Context<S>& ctx, std::size_t l, SparseSmoother<T, S> smoother,
                     const AmgHierarchy<S>& hierarchy, int degree);
  void refresh_smoother(const Context<S>& ctx, std::size_t l, Span<const T, S> values,
                        const AmgHierarchy<S>& hierarchy);
  double sparse_lambda(const Context<S>& ctx, std::size_t l, const AmgHierarchy<S>& hierarchy) const;
  void place_smoother(const Context<S>& ctx, std::size_t l, const AmgHierarchy<S>& hierarchy, double lambda);
  template <class F>
  void for_operators(F&& f) const;

  std::vector<Level> levels_;
  /// The last levels in one, from number `coarse_first_` on; null: each for itself.
  std::unique_ptr<CoarseCycle<T, S>> coarse_;
  std::size_t coarse_first_ = 0;
  OperatorPtr<T, S>
      inverse_;  ///< of the last level's matrix; null where the smoother ends the cycle, or in `coarse_`
  LevelOrder<S> order_;
  bool is_first(std::size_t l) const { return l == 0 && !below_first_; }

  bool symmetric_ = false;
  bool below_first_ = false;
  bool finest_in_blocks_ = false;
  Array<T, S> converted_;              ///< values on their way from the hierarchy
  mutable Array<T, S> own_b_, own_x_;  ///< b and x of a cycle that `converts`; b where the first level has no r
};

}  // namespace newel::detail
