// SPDX-License-Identifier: Apache-2.0
/// Block Jacobi: M is the inverse of the diagonal blocks of A, which are small and dense.
#pragma once

#include <newel/precond/block_jacobi/block_jacobi_options.hpp>
#include <newel/precond/preconditioner.hpp>

namespace newel {

/// Its line of the table of preconditioners.
PrecondMethod block_jacobi_method();

/// z_B = A_BB^-1 r_B for every block B of consecutive rows (Saad, Iterative Methods for Sparse Linear Systems, second
/// edition, section 4.1.1). Blocks have at most 32 rows. By default they are runs of rows with the same columns, as
/// the rows of a node have. All blocks are inverted in one pass, in double, with pivots. A symmetric block has a
/// symmetric inverse; M is positive definite if A is. Of a singular block the diagonal is inverted, with 1 for an
/// entry that has no inverse; `info` has their number.
template <class T, Space S>
class BlockJacobiOperator final : public MatrixOperator<T, S> {
 public:
  /// For the canonical square matrix `a`, whose pattern is read on the host. Throws InputError if it is not square.
  /// Waits on the stream.
  BlockJacobiOperator(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                      const PrecondOptions& options, const SpmvOptions&);

  Index rows() const override { return static_cast<Index>(block_of_.size()); }
  Index cols() const override { return rows(); }
  /// Inverts the blocks of the new values. Allocates nothing; waits on the stream for the number of singular blocks.
  void refresh(const Context<S>& ctx, Span<const T, S> values) override;
  Slots<T, S> slots(const Context<S>& ctx) override;
  void slots_written(const Context<S>& ctx) override;

  void apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const override;
  void apply_dot(const Context<S>& ctx, Span<const T, S> x, Span<T, S> y, double* xy) const override;
  OperatorTraits<T, S> traits() const override { return {true, false, false, {}}; }
  OperatorInfo info() const override;

 private:
  template <class Position>
  void invert(const Context<S>& ctx, Span<const T, S> values, const Position* position);

  Array<Index, S> first_, block_of_;  ///< see BlockLayout
  Array<Offset, S> offset_;
  ValueMap<S> source_;  ///< where the entries of the blocks stand in the caller's values
  Array<T, S> inverse_, slots_;
  Array<int, S> singular_;
  int singular_blocks_ = 0, largest_ = 0;
  double setup_seconds_ = 0;
};

}  // namespace newel
