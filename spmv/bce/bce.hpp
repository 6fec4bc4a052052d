// SPDX-License-Identifier: Apache-2.0
/// BCE as an operator: rows of similar width in ELL blocks, the widths grouped by an optimal partition (W. Yang, K.
/// Li and K. Li, "A parallel computing method using blocked format with optimal partitioning for SpMV on GPU").
#pragma once

#include <string>
#include <vector>

#include <newel/spmv/format.hpp>
#include "spmv/bce/bce_layout.hpp"
#include "spmv/plan/slot_values.hpp"
#include "spmv/residual.hpp"

namespace newel {
namespace detail {

/// What the loops and kernels see of the operator; see BceLayout.
template <class T>
struct BceView {
  Index rows = 0;
  Index blocks = 0;
  const Index* row_no = nullptr;
  const Index* block_row = nullptr;
  const Index* block_width = nullptr;
  const Offset* block_slot = nullptr;
  Index pieces = 0;
  const Offset* piece_slot = nullptr;
  const Index* piece_row = nullptr;
  const T* piece_val = nullptr;  ///< piece_slot counts from here
  const Index* piece_col = nullptr;
  JoinView<T> join;
  Index whole_pieces = 0;  ///< which are all of their row: the first ones
  const T* val = nullptr;
  const Index* col = nullptr;
  BceGrid grid;               ///< device
  int batch = 4;              ///< device: see BceShape
  int shares = 1;             ///< host: equal shares of the work
  double* partial = nullptr;  ///< device: one a block
};

/// y = alpha A x + beta y and, where args.xy is not null, x.y.
template <class T>
void bce_product(const Context<Space::host>& ctx, const BceView<T>& a, const ProductArgs<T>& args);
template <class T>
void bce_product(const Context<Space::device>& ctx, const BceView<T>& a, const ProductArgs<T>& args);

/// r = b - A x in twice the precision; see LinearOperator::residual.
template <class T>
ResidualSums bce_residual(const Context<Space::host>& ctx, const BceView<T>& a, const ResidualArgs<T>& args);
template <class T>
ResidualSums bce_residual(const Context<Space::device>& ctx, const BceView<T>& a, const ResidualArgs<T>& args);

}  // namespace detail

/// Takes any order and any shape; rows are not renumbered, y is written at the caller's numbers. The bits of a
/// product depend on the matrix and the machine's shape only; those of x.y also on the threads at construction.
template <class T, Space S>
class BceOperator final : public MatrixOperator<T, S> {
 public:
  /// Copies the canonical matrix `a`, in any order. O(n log k + nnz + M'^2), M' being the widths that occur.
  BceOperator(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order, const FormatRequest& request);

  Index rows() const override { return rows_; }
  Index cols() const override { return cols_; }
  void refresh(const Context<S>& ctx, Span<const T, S> values) override;
  Slots<T, S> slots(const Context<S>& ctx) override { return val_.open(ctx); }
  void apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const override;
  void apply_dot(const Context<S>& ctx, Span<const T, S> x, Span<T, S> y, double* xy) const override;
  /// On a host all vectors at once.
  void apply_columns(const Context<S>& ctx, int columns, T alpha, Span<const T, S> x, T beta, Span<T, S> y,
                     Span<char, S> work) const override;
  void apply_dot_columns(const Context<S>& ctx, int columns, Span<const T, S> x, Span<T, S> y, double* xy,
                         Span<char, S> work) const override;
  std::uint64_t column_work_bytes(int columns) const override;
  std::optional<detail::ResidualSums> residual(const Context<S>& ctx, Span<const T, S> b, Span<const T, S> x,
                                               const detail::ResidualScale& scale, Span<T, S> r) const override;
  OperatorTraits<T, S> traits() const override { return {true}; }
  OperatorInfo info() const override;

 private:
  void make_view(const Context<S>& ctx, const BceLayout& layout, const BceShape& shape, const Machine& machine);

  Index rows_ = 0;
  Index cols_ = 0;
  Array<Index, S> row_no_, block_row_, block_width_;
  Array<Offset, S> block_slot_;
  Array<Offset, S> piece_slot_;
  Array<Index, S> piece_row_, joined_row_, joined_first_;
  Array<T, S> piece_sums_;
  Array<Index, S> col_;
  detail::SlotValues<T, S> val_;
  Array<double, S> partial_;  ///< device
  detail::BceView<T> view_;
  OperatorInfo info_;
};

/// Bytes that the format holds at least: without padding and without what its blocks need.
std::uint64_t bce_bytes(Index rows, Index cols, Offset nonzeros, std::size_t value_bytes);

/// From the partition itself: it uses the row lengths only. Shares of the bandwidth: a host's measured, a
/// device's not yet.
CostEstimate bce_cost(const PatternFacts& facts, const FormatRequest& request);

}  // namespace newel
