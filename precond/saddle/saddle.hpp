// SPDX-License-Identifier: Apache-2.0
/// M for saddle points A = [A11 A12; A21 C], from approximate inverses of A11 and of the Schur complement (M. Benzi,
/// G. Golub and J. Liesen, "Numerical solution of saddle point problems", Acta Numerica 14, 2005, section 10).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <newel/precond/preconditioner.hpp>
#include "precond/saddle/schur_inverse.hpp"

namespace newel {
namespace detail {

/// A block in precision T and space S.
template <class T, Space S>
struct SaddleMatrix {
  Array<Offset, S> row_ptr;
  Array<Index, S> col;
  Array<T, S> val;
  ValueMap<S> source;         ///< from the caller's values
  OperatorPtr<T, S> product;  ///< null: not needed, or no entries
};

}  // namespace detail

/// Its line of the table of preconditioners.
PrecondMethod saddle_method();

/// z = M r. Block-diagonal: M = diag(P, c Q) with P an inverse of A11 and Q one of N, minus the Schur complement; it
/// is symmetric positive definite if P and Q are. Block-triangular: M = [A11 A12; 0 -N / c]^-1, with P and Q for the
/// inverses, as for multiplication from the right. c follows from a few products. Q is SchurInverse's.
///
/// Rows and columns of the blocks are in the caller's order, so that M does not depend on the order of A. Patterns
/// and the values of N are found on the host; M works in S, with the preconditioners of the table for P and Q.
template <class T, Space S>
class SaddleOperator final : public MatrixOperator<T, S> {
 public:
  /// SaddleOptions apply, and those of the preconditioners that P and Q are. Near-null vectors have a value for each row
  /// of A, and coordinates a point; those of the other rows than constraints are for P: see `nodes_of_rows`. Throws InputError where `a` does not
  /// look like a saddle point, or not with the constraints of the options. Waits on the stream.
  SaddleOperator(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                 const PrecondOptions& options, const SpmvOptions& spmv_options);

  Index rows() const override { return rows_; }
  Index cols() const override { return rows_; }

  /// Blocks, patterns and what was chosen by the first values stay. Waits on the stream.
  void refresh(const Context<S>& ctx, Span<const T, S> values) override;
  /// Only the places of rows in vectors change.
  OperatorPtr<T, S> renumbered(const Context<S>& ctx, const RowOrder<S>& order, const SpmvOptions& options) override;
  void apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const override;
  OperatorTraits<T, S> traits() const override;
  OperatorInfo info() const override;

  /// c above.
  double scale() const { return scale_; }
  const detail::SaddleRows& blocks() const { return users_; }

 private:
  SaddleOperator(SaddleOperator&&) = default;
  void make_parts(const Context<S>& ctx, const PrecondOptions& options,
                  std::shared_ptr<const NodeCoordinates> coordinates);
  void place(const Context<S>& ctx, const std::vector<Index>& new_of_old);
  detail::SaddleValues values_on_host(const Context<S>& ctx) const;
  void find_scale(const Context<S>& ctx);
  detail::SaddleProducts<T, S> products() const;

  Index rows_ = 0;
  bool natural_ = true;  ///< vectors are in the caller's order
  bool triangular_ = false;
  detail::SaddleRows users_;
  std::unique_ptr<detail::SaddlePatterns> patterns_;
  detail::SaddleMatrix<T, S> primal_, coupling_, transposed_, constraint_;
  std::string primal_name_;
  OperatorPtr<T, S> primal_inverse_;
  detail::SchurInverse<T, S> schur_;
  double scale_ = 1;
  Array<Index, S> row_;    ///< of vectors, for each row of the blocks
  Array<Index, S> place_;  ///< the inverse
  mutable Array<T, S> in_, out_, between_, spare_;
  std::vector<std::pair<std::string, double>> seconds_;
};

}  // namespace newel
