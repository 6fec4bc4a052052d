// SPDX-License-Identifier: Apache-2.0
/// SPAI: a sparse M that minimises |A M - I|_F or |M A - I|_F over a pattern, column by column or row by row, and its
/// diagonal relative. One product with M per application, in any format of the table.
#pragma once

#include <newel/precond/spai/spai_options.hpp>
#include "precond/spai/spai_problems.hpp"
#include "spmv/resident_view.hpp"

namespace newel {
namespace detail {

/// See EstimatePrecond.
std::uint64_t estimate_spai_bytes(const PrecondOptions& options, const SpmvFormat& format, Index rows,
                                  Offset nonzeros, std::size_t value_bytes);
std::uint64_t estimate_spai0_bytes(const PrecondOptions& options, const SpmvFormat& format, Index rows,
                                   Offset nonzeros, std::size_t value_bytes);

/// M as it is multiplied, from the solutions of the local problems: from the left as they are, from the right
/// transposed, and if M has to be symmetric half the sum of both.
template <class T, Space S>
class SpaiMatrix {
 public:
  SpaiMatrix() = default;
  /// Takes the pattern of `problems`.
  SpaiMatrix(const Context<S>& ctx, SpaiProblems<T, S>& problems, const PrecondOptions& options,
             const RowOrder<S>& order, const SpmvOptions& spmv_options);

  /// Other solutions.
  void take(const Context<S>& ctx, Span<const T, S> solutions);
  void replace(OperatorPtr<T, S> op) { op_ = std::move(op); }
  MatrixOperator<T, S>& op() { return *op_; }
  const MatrixOperator<T, S>& op() const { return *op_; }
  std::size_t symmetric_bytes() const {
    return own_.bytes() + mirrored_.bytes() + half_sum_.bytes() + mirror_.bytes();
  }

 private:
  void add_halves(const Context<S>& ctx, Span<const T, S> solutions);

  bool symmetric_ = false;
  ValueMap<S> own_, mirrored_;  ///< symmetric: the entries of M and of M^T that an entry is half the sum of
  Array<T, S> half_sum_, mirror_;
  OperatorPtr<T, S> op_;
};

}  // namespace detail

/// Their lines of the table of preconditioners.
PrecondMethod spai_method();
PrecondMethod spai0_method();

/// M over the pattern of A, of a power of it, of its large entries, or one that grows (M. J. Grote and T. Huckle,
/// SIAM J. Sci. Comput. 18, 1997); see SpaiOptions and PatternOptions. Every matrix is admitted: problems without
/// full rank fall back to a diagonal entry and are counted in `info()`.
template <class T, Space S>
class SpaiOperator final : public MatrixOperator<T, S> {
 public:
  /// For the canonical square matrix `a` in `order`. The pattern is found on the host, the numbers in S. About
  /// 2 r c^2 operations a column for r rows and c columns of its local problem. Throws InputError, OutOfMemory.
  SpaiOperator(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order, const PrecondOptions& options,
               const SpmvOptions& spmv_options);

  Index rows() const override { return problems_.rows(); }
  Index cols() const override { return problems_.rows(); }

  /// New values on the same pattern, also on one that grew. Waits on the stream for the count of fallbacks.
  void refresh(const Context<S>& ctx, Span<const T, S> values) override;
  Slots<T, S> slots(const Context<S>& ctx) override { return problems_.slots(ctx); }
  void slots_written(const Context<S>& ctx) override;

  void apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const override;
  void apply_dot(const Context<S>& ctx, Span<const T, S> x, Span<T, S> y, double* xy) const override;
  void apply_columns(const Context<S>& ctx, int columns, T alpha, Span<const T, S> x, T beta, Span<T, S> y,
                     Span<char, S> work) const override;
  void apply_dot_columns(const Context<S>& ctx, int columns, Span<const T, S> x, Span<T, S> y, double* xy,
                         Span<char, S> work) const override;
  std::uint64_t column_work_bytes(int columns) const override;
  OperatorTraits<T, S> traits() const override { return {matrix_.op().capturable()}; }

  /// Where M is multiplied as CSR; its local problems stay as they are.
  OperatorPtr<T, S> renumbered(const Context<S>& ctx, const RowOrder<S>& order, const SpmvOptions& options) override;

  /// "residual norm" is |A M - I|_F, exact, of M before it was made symmetric.
  OperatorInfo info() const override;

  detail::ResidentView<T, S> resident_view() const override { return {nullptr, nullptr, &matrix_.op()}; }

 private:
  SpaiOperator(SpaiOperator&&) = default;

  PrecondOptions options_;
  bool pattern_given_ = false;
  detail::PhaseClock clock_;
  detail::SpaiProblems<T, S> problems_;
  detail::SpaiMatrix<T, S> matrix_;
};

/// M = diag(a_jj / |A e_j|^2) from the right, with rows instead of columns from the left: the diagonal matrix that
/// minimises the same norm (M. Benzi and others call it diagonal SPAI, amgcl spai0). Where a_jj is 0, 1 / |A e_j|.
template <class T, Space S>
class Spai0Operator final : public MatrixOperator<T, S> {
 public:
  Spai0Operator(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                const PrecondOptions& options, const SpmvOptions& spmv_options);

  Index rows() const override { return problems_.rows(); }
  Index cols() const override { return problems_.rows(); }
  void refresh(const Context<S>& ctx, Span<const T, S> values) override { problems_.refresh(ctx, values); }
  Slots<T, S> slots(const Context<S>& ctx) override { return problems_.slots(ctx); }
  void slots_written(const Context<S>& ctx) override { problems_.solve(ctx); }
  void apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const override;
  void apply_dot(const Context<S>& ctx, Span<const T, S> x, Span<T, S> y, double* xy) const override;
  OperatorTraits<T, S> traits() const override { return {true, false, false, problems_.values().cspan()}; }
  OperatorInfo info() const override;

 private:
  PrecondSide side_;
  detail::PhaseClock clock_;
  detail::SpaiProblems<T, S> problems_;
};

}  // namespace newel
