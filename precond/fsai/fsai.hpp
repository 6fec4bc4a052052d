// SPDX-License-Identifier: Apache-2.0
/// FSAI: M = G^T G, G a sparse lower triangle with diag(G A G^T) = 1 (L. Yu. Kolotilina and A. Yu. Yeremin,
/// "Factorized sparse approximate inverse preconditionings I", SIAM J. Matrix Anal. Appl. 14, 1993).
#pragma once

#include <string>
#include <vector>

#include <newel/precond/fsai/fsai_options.hpp>
#include "spmv/resident_view.hpp"

namespace newel {
namespace detail {

/// See EstimatePrecond.
std::uint64_t estimate_fsai_bytes(const PrecondOptions& options, const SpmvFormat& format, Index rows,
                                  Offset nonzeros, std::size_t value_bytes);

template <Space S>
struct FsaiSymbolic;
struct FsaiClass;
struct FsaiPiece;

/// What the numeric phase found: the first row, in the caller's numbering, whose local problem is not positive
/// definite or overflows, and how many there are.
struct FsaiVerdict {
  unsigned long long first;
  unsigned long long count;
};

/// What the loops and kernels see of the operator.
template <class T>
struct FsaiView {
  Index rows = 0;
  const Offset* a_row_ptr = nullptr;  ///< A's lower triangle, the diagonal last in every row
  const Index* a_col = nullptr;
  const T* a_val = nullptr;
  const Offset* g_row_ptr = nullptr;
  const Index* g_col = nullptr;
  T* g_val = nullptr;
  const Index* user_row = nullptr;    ///< null: rows are in the caller's order
  const FsaiPiece* pieces = nullptr;  ///< of the rows, by class
  Index piece_count = 0;
  double* scratch = nullptr;  ///< scratch_groups times scratch_length
  std::int64_t scratch_length = 0;
  std::int64_t scratch_groups = 0;
  FsaiVerdict* verdict = nullptr;
};

/// For every row i, with J the columns of G in it, i last: the last row of the inverse of the Cholesky factor of
/// A(J, J). In double whatever T is: the local problems of a matrix rounded to float are as badly conditioned as A.
template <class T>
void fsai_numeric(const Context<Space::host>& ctx, const FsaiView<T>& view, const std::vector<FsaiClass>& classes);
template <class T>
void fsai_numeric(const Context<Space::device>& ctx, const FsaiView<T>& view, const std::vector<FsaiClass>& classes);

}  // namespace detail

/// Its line of the table of preconditioners.
PrecondMethod fsai_method();

/// z = G^T (G r): two products of a format of the table. Symmetric and positive definite by construction, and so fit
/// for CG. For symmetric positive definite A; only its lower triangle (in solver order) is read.
template <class T, Space S>
class FsaiOperator final : public MatrixOperator<T, S> {
 public:
  /// FsaiOptions, PatternOptions and PrecondOptions::format apply. Throws NotSymmetric, NotPositiveDefinite, and
  /// InputError for a row of G that has more than 4,096 entries. Patterns are found on the host;
  /// on a device where they are A's own, or the lower triangle of `whole`, which then takes the place of what the
  /// options say of patterns: a symmetric pattern in the order of `a`, columns ascending. G and G^T are multiplied as
  /// CSR then, unless the options name a format: rows of such a pattern differ too much in length for formats that
  /// pad (3.7 million rows with groups of tied nodes: 1.6 GB against 2.6 in EHYB). Waits on the stream.
  FsaiOperator(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order, const PrecondOptions& options,
               const SpmvOptions& spmv_options, const Pattern<S>* whole = nullptr);
  ~FsaiOperator() override;

  Index rows() const override { return rows_; }
  Index cols() const override { return rows_; }

  /// The values of G on the pattern of the constructor, thresholds included. Symmetry is not checked again. Throws
  /// NotPositiveDefinite, and then G keeps its old values. Waits on the stream for the verdict.
  void refresh(const Context<S>& ctx, Span<const T, S> values) override;
  /// Of A's lower triangle in solver order.
  Slots<T, S> slots(const Context<S>& ctx) override;
  void slots_written(const Context<S>& ctx) override;

  void apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const override;
  /// x.y as |G x|^2: never negative, whatever the rounding.
  void apply_dot(const Context<S>& ctx, Span<const T, S> x, Span<T, S> y, double* xy) const override;
  void apply_columns(const Context<S>& ctx, int columns, T alpha, Span<const T, S> x, T beta, Span<T, S> y,
                     Span<char, S> work) const override;
  void apply_dot_columns(const Context<S>& ctx, int columns, Span<const T, S> x, Span<T, S> y, double* xy,
                         Span<char, S> work) const override;
  std::uint64_t column_work_bytes(int columns) const override;
  OperatorTraits<T, S> traits() const override { return {g_->capturable() && gt_->capturable()}; }
  OperatorInfo info() const override;

  /// G is kept: that of a renumbered matrix would be another triangle, and M another matrix. Where G and G^T are
  /// multiplied as CSR.
  OperatorPtr<T, S> renumbered(const Context<S>& ctx, const RowOrder<S>& order, const SpmvOptions& options) override;

  /// G in the order of the matrix that it was made from, its rows ending with their diagonal entries; valid as long
  /// as the operator.
  CsrView<T, S> factor() const {
    return CsrView<T, S>(rows_, rows_, Span<const Offset, S>(view_.g_row_ptr, Offset{rows_} + 1),
                         Span<const Index, S>(view_.g_col, g_val_.size()), g_val_.cspan());
  }

  detail::ResidentView<T, S> resident_view() const override { return {nullptr, nullptr, g_.get(), gt_.get()}; }

 private:
  FsaiOperator(FsaiOperator&&) = default;
  void place(const Context<S>& ctx, detail::FsaiSymbolic<S>& symbolic, const RowOrder<S>& order);
  void make_products(const Context<S>& ctx, const detail::FsaiSymbolic<S>& symbolic, const RowOrder<S>& order,
                     const SpmvOptions& options);
  SpmvOptions product_options(SpmvOptions options) const;
  void compute(const Context<S>& ctx);
  std::uint64_t between_bytes(int columns) const;

  Index rows_ = 0;
  Offset a_nonzeros_ = 0;
  bool uneven_ = false;                     ///< a pattern of the caller's, whose products take CSR
  Array<Offset, S> a_row_ptr_, g_row_ptr_;  ///< of G where its pattern is not A's lower triangle
  Array<Index, S> a_col_, g_col_;
  Array<T, S> a_val_, g_val_;
  ValueMap<S> a_source_;
  Array<Index, S> user_row_;
  Array<detail::FsaiPiece, S> pieces_;
  std::vector<detail::FsaiClass> classes_;
  Array<double, S> scratch_;
  Array<detail::FsaiVerdict, S> verdict_;
  detail::FsaiView<T> view_;
  OperatorPtr<T, S> g_, gt_;
  mutable Array<T, S> between_;  ///< G x
  OperatorInfo info_;
};

}  // namespace newel
