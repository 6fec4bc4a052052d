// SPDX-License-Identifier: Apache-2.0
/// l1-Jacobi: M is the diagonal matrix with 1 / sum_j |a_ij|, positive definite for every A.
#pragma once

#include <newel/precond/preconditioner.hpp>

namespace newel {

/// Its line of the table of preconditioners.
PrecondMethod l1_jacobi_method();

/// z_i = r_i / sum_j |a_ij| (A. Baker, R. Falgout, T. Kolev, U. Yang, "Multigrid Smoothers for Ultraparallel
/// Computing", SIAM J. Sci. Comput. 33 (2011), section 5). For a symmetric A the eigenvalues of M A lie in [-1, 1].
/// Where the sum is 0 or has no finite inverse, z_i = r_i.
template <class T, Space S>
class L1JacobiOperator final : public MatrixOperator<T, S> {
 public:
  /// Keeps the row pointers of the canonical square matrix `a`, and its value map. Throws InputError if it is not
  /// square.
  L1JacobiOperator(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order, const PrecondOptions&,
                   const SpmvOptions&);
  /// Of some rows of a matrix: z_i belongs to row `row_of[i]` of them; empty: to row i.
  L1JacobiOperator(const Context<S>& ctx, Span<const Offset, S> row_ptr, Span<const T, S> val,
                   Span<const Index, S> row_of);

  Index rows() const override { return rows_; }
  Index cols() const override { return rows_; }
  /// One pass over the values. Allocates nothing; queued on the stream.
  void refresh(const Context<S>& ctx, Span<const T, S> values) override;
  Slots<T, S> slots(const Context<S>& ctx) override;
  void slots_written(const Context<S>& ctx) override;

  void apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const override;
  void apply_dot(const Context<S>& ctx, Span<const T, S> x, Span<T, S> y, double* xy) const override;
  OperatorTraits<T, S> traits() const override { return {true, false, false, inverse()}; }
  OperatorInfo info() const override;

 private:
  Span<const T, S> inverse() const { return inverse_.cspan().subspan(0, rows_); }
  template <class Position>
  void take(const Context<S>& ctx, Span<const T, S> values, const Position* position);

  Index rows_ = 0;
  Offset nonzeros_ = 0;
  Array<Offset, S> row_ptr_;
  Array<Index, S> row_of_;
  ValueMap<S> source_;  ///< where the entries stand in the caller's values; empty: in the order of `a`
  Array<T, S> inverse_;
  Array<T, S> slots_;  ///< of callers that write values in place
  double setup_seconds_ = 0;
};

}  // namespace newel
