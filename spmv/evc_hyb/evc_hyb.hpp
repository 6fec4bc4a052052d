// SPDX-License-Identifier: Apache-2.0
/// EVC-HYB as an operator: rows by ascending length, ELL for the short ones and vectorised CSR for the long ones,
/// with as many threads as they need (D. Guo, W. Gropp and L. Olson, "A hybrid format for better performance of
/// sparse matrix-vector multiplication on a GPU").
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <newel/spmv/format.hpp>
#include "spmv/evc_hyb/evc_hyb_layout.hpp"
#include "spmv/plan/slot_values.hpp"
#include "spmv/residual.hpp"

namespace newel {
namespace detail {

/// What the loops and kernels see of the operator; see EvcHybLayout.
template <class T>
struct EvcHybView {
  Index rows = 0;
  const Index* row_list = nullptr;  ///< null: a place is its row
  Index split = 0;
  Index ell_ranges = 0;
  Index ranges = 0;
  const EvcHybRange* range = nullptr;
  Index csr_rows = 0;
  const Offset* csr_slot = nullptr;
  Index pieces = 0;
  const Offset* piece_slot = nullptr;
  JoinView<T> join;
  const T* val = nullptr;
  const Index* col = nullptr;
  const T* piece_val = nullptr;  ///< piece_slot counts from here
  const Index* piece_col = nullptr;
  unsigned range_blocks = 0;  ///< device: blocks of threads for all ranges
  int shares = 1;             ///< host: equal shares of the work
  double* partial = nullptr;  ///< device: one a block
};

/// y = alpha A x + beta y and, where args.xy is not null, x.y.
template <class T>
void evc_hyb_product(const Context<Space::host>& ctx, const EvcHybView<T>& a, const ProductArgs<T>& args);
template <class T>
void evc_hyb_product(const Context<Space::device>& ctx, const EvcHybView<T>& a, const ProductArgs<T>& args);

/// r = b - A x in twice the precision; see LinearOperator::residual.
template <class T>
ResidualSums evc_hyb_residual(const Context<Space::host>& ctx, const EvcHybView<T>& a, const ResidualArgs<T>& args);
template <class T>
ResidualSums evc_hyb_residual(const Context<Space::device>& ctx, const EvcHybView<T>& a, const ResidualArgs<T>& args);

}  // namespace detail

/// Variant "listed", the default, with the paper's reordering of y: a list says which row of y a lane writes; takes
/// any order and shape. Variant "renumbered", without it: rows and unknowns are renumbered once
/// (`plan_evc_hyb_order`) and y is written as it is summed; takes square matrices. In another order than the planned
/// one it falls back to the list and says so by its name. The bits of a product depend on the matrix and the
/// machine's shape only; those of x.y also on the threads at construction.
template <class T, Space S>
class EvcHybOperator final : public MatrixOperator<T, S> {
 public:
  /// Copies the canonical matrix `a`, in any order. O(n log + nnz).
  EvcHybOperator(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                 const FormatRequest& request);

  Index rows() const override { return rows_; }
  Index cols() const override { return cols_; }
  void refresh(const Context<S>& ctx, Span<const T, S> values) override;
  Slots<T, S> slots(const Context<S>& ctx) override { return val_.open(ctx); }
  void apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const override;
  void apply_dot(const Context<S>& ctx, Span<const T, S> x, Span<T, S> y, double* xy) const override;
  std::optional<detail::ResidualSums> residual(const Context<S>& ctx, Span<const T, S> b, Span<const T, S> x,
                                               const detail::ResidualScale& scale, Span<T, S> r) const override;
  OperatorTraits<T, S> traits() const override { return {true}; }
  OperatorInfo info() const override;

 private:
  void make_view(const Context<S>& ctx, const EvcHybLayout& layout);

  Index rows_ = 0;
  Index cols_ = 0;
  Array<Index, S> row_list_;
  Array<EvcHybRange, S> range_;
  Array<Offset, S> csr_slot_, piece_slot_;
  Array<Index, S> joined_row_, joined_first_;
  Array<T, S> piece_sums_;
  Array<Index, S> col_;
  detail::SlotValues<T, S> val_;
  Array<double, S> partial_;  ///< device
  detail::EvcHybView<T> view_;
  OperatorInfo info_;
};

/// The variants' names, the default first.
std::vector<std::string> evc_hyb_variants();

/// Whether the variant renumbers rows and unknowns alike.
bool evc_hyb_square_only(std::string_view variant);

/// Rows by ascending length, those of equal length by their first column; natural for the variant that keeps a list.
RowOrder<Space::host> plan_evc_hyb_order(const Context<Space::host>& ctx, const Pattern<Space::host>& a,
                                         const FormatRequest& request);

/// Bytes that the format holds at least: without padding.
std::uint64_t evc_hyb_bytes(Index rows, Index cols, Offset nonzeros, std::size_t value_bytes);

/// From the split itself: it uses the row lengths only. Shares of the bandwidth: a host's measured, a device's
/// not yet.
CostEstimate evc_hyb_cost(const PatternFacts& facts, const FormatRequest& request);

}  // namespace newel
