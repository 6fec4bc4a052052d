// SPDX-License-Identifier: Apache-2.0
/// AmgCycle: the V-cycle on the levels of a hierarchy, in one space and precision. Internal.
#pragma once

#include <utility>
#include <vector>

#include <purlin/precond/amg/hierarchy.hpp>
#include <purlin/spmv/operator.hpp>

namespace purlin::detail {

/// The steps of a polynomial smoother: d_0 = first s r_0, then d_i = c1 d_{i-1} + c2 s r_i, where s is D^-1 / lambda,
/// r_i = r_{i-1} - A d_{i-1}, and x grows by every d.
struct SmootherSteps {
  double first = 0;
  std::vector<std::pair<double, double>> next;  ///< c1, c2
};

/// Chebyshev of the fourth kind (J. Lottes, "Optimal polynomial smoothers for multigrid V-cycles", 2022; M. Phillips
/// and P. Fischer, arXiv 2407.09848 and 2210.03179), or Jacobi damped by 4/3.
SmootherSteps smoother_steps(AmgSmoother smoother, int degree);

/// The levels' operators, all made by make_spmv, with the vectors of a cycle. Level 0 is in solver order; the others
/// have the numbering of the hierarchy.
template <class T, Space S>
class AmgCycle {
 public:
  AmgCycle() = default;
  /// `finest` is A in solver order; null where the hierarchy has a single level that is inverted.
  AmgCycle(const Context<S>& ctx, OperatorPtr<T, S> finest, const AmgHierarchy& hierarchy,
           const std::vector<Index>& old_of_new, const SmootherSteps& steps);

  /// Takes the hierarchy's new values, and for the finest matrix those of the caller; with `prolongators` theirs too.
  void refresh(const Context<S>& ctx, Span<const T, S> values, const AmgHierarchy& hierarchy, bool prolongators);

  /// x = M b: on each level a smoother from 0, the correction of the next level, and the smoother again. Symmetric
  /// where A is. Queued on the stream; allocates nothing.
  void apply(const Context<S>& ctx, Span<const T, S> b, Span<T, S> x) const { descend(ctx, 0, b, x); }

  bool capturable() const;
  std::uint64_t bytes_per_cycle() const;
  /// Bytes of matrices, of prolongators with their transposes, of the coarsest inverse, of vectors.
  std::vector<std::pair<std::string, std::uint64_t>> bytes() const;
  /// Entries of the operators.
  std::pair<Offset, Offset> nonzeros_and_slots() const;
  const MatrixOperator<T, S>* finest() const { return levels_.empty() ? nullptr : levels_.front().a.get(); }

 private:
  struct Level {
    OperatorPtr<T, S> a, p, pt;
    Array<T, S> smoother;      ///< D^-1 / lambda
    mutable Array<T, S> r, d;  ///< residual and direction
    mutable Array<T, S> b, x;  ///< of levels below the first
  };

  void descend(const Context<S>& ctx, std::size_t l, Span<const T, S> b, Span<T, S> x) const;
  void smooth_further(const Context<S>& ctx, const Level& level, const T* before, T* x) const;
  Span<const T, S> place(const Context<S>& ctx, Span<const double, Space::host> values);
  OperatorPtr<T, S> make_operator(const Context<S>& ctx, const ScalarPattern& pattern,
                                  Span<const double, Space::host> values) const;
  void place_smoother(const Context<S>& ctx, std::size_t l, const AmgHierarchy& hierarchy);
  template <class F>
  void for_operators(F&& f) const;

  std::vector<Level> levels_;
  OperatorPtr<T, S> inverse_;  ///< of the last level's matrix; null where the smoother ends the cycle
  std::vector<Index> old_of_new_;
  SmootherSteps steps_;
  Array<T, Space::host> converted_;  ///< values on their way from the hierarchy to S
  Array<T, S> placed_;
};

}  // namespace purlin::detail
