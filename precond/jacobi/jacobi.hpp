// SPDX-License-Identifier: Apache-2.0
/// Jacobi: M = D^-1, the inverse of the diagonal. One multiplication per row, folded into a dot product on request.
#pragma once

#include <newel/precond/preconditioner.hpp>
#include "precond/jacobi/inverse_diagonal.hpp"

namespace newel {
namespace detail {

/// See EstimatePrecond.
std::uint64_t estimate_jacobi_bytes(const PrecondOptions& options, const SpmvFormat& format, Index rows,
                                    Offset nonzeros, std::size_t value_bytes);

}  // namespace detail

/// Its line of the table of preconditioners.
PrecondMethod jacobi_method();

/// z_i = r_i / a_ii. Needs every diagonal entry stored, nonzero and with a finite inverse.
template <class T, Space S>
class JacobiOperator final : public MatrixOperator<T, S> {
 public:
  /// Finds the diagonal of the canonical square matrix `a` once. Throws InputError that names the first row whose
  /// diagonal entry is missing or zero. Waits on the stream.
  JacobiOperator(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order, const PrecondOptions&,
                 const SpmvOptions&);

  /// Of an operator that shows its diagonal (`LinearOperator::matrix_diagonal`), and outlives this; null where it
  /// does not. `user_row`: the caller's number of each row; empty: they are the same. Throws InputError as above. In
  /// a context with ranks each has its rows of the diagonal, all call this together, and all throw the same.
  static std::unique_ptr<JacobiOperator> of_operator(const Context<S>& ctx, const LinearOperator<T, S>& a,
                                                     Span<const Index, S> user_row = {});

  Index rows() const override { return inverse_.rows(); }
  Index cols() const override { return rows(); }

  /// Gathers the new diagonal, or asks the operator for it, which takes no values, and inverts it; errors as the
  /// constructor. Waits on the stream for the verdict.
  void refresh(const Context<S>& ctx, Span<const T, S> values) override;
  Slots<T, S> slots(const Context<S>& ctx) override;
  void slots_written(const Context<S>& ctx) override;

  void apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const override;
  void apply_dot(const Context<S>& ctx, Span<const T, S> x, Span<T, S> y, double* xy) const override;
  OperatorTraits<T, S> traits() const override { return {true, false, inverse_.constant(), inverse_.view()}; }
  OperatorInfo info() const override;

 private:
  void find_diagonal(const Context<S>& ctx, const CsrView<T, S>& a);
  template <class Position>
  void take(const Context<S>& ctx, Span<const T, S> values, Span<const Position, S> position);
  JacobiOperator(const Context<S>& ctx, const LinearOperator<T, S>& a, Span<const Index, S> user_row);
  bool take_from_operator(const Context<S>& ctx);

  const LinearOperator<T, S>* operator_ = nullptr;  ///< that the diagonal is asked of; null: a matrix
  detail::InverseDiagonal<T, S> inverse_;
  ValueMap<S> diagonal_source_;  ///< where a_ii stands in the caller's values
  Array<Index, S> user_row_;     ///< the caller's number of each row, empty in the natural order: for messages
  double setup_seconds_ = 0;
};

}  // namespace newel
