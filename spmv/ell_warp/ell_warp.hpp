// SPDX-License-Identifier: Apache-2.0
/// ELL-WARP as an operator: rows sorted by length, padded warp by warp, with as many threads a row as it needs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <newel/spmv/format.hpp>
#include "spmv/plan/slot_values.hpp"

namespace newel {

namespace detail {
template <class T>
struct EllWarpView;
}

/// J. Wong, E. Kuhl and E. Darve, "A new sparse matrix vector multiplication graphics processing unit algorithm
/// designed for finite element problems", Int. J. Numer. Meth. Engng 102 (2015), sections 5.1 to 5.5. The variants:
///
///     k1     rows sorted by length, one thread a row, padded to the longest row of a warp
///     k1r    and x, y and the columns renumbered with the rows; the entries of a row stay as they were
///     k1rs   and sorted by their new columns
///     k2, k2r, k2rs   the same with 2^k threads for the rows that exceed the threshold
///
/// The default is k2rs where the matrix comes in the planned order, else k2: it takes any matrix.
template <class T, Space S>
class EllWarpOperator final : public MatrixOperator<T, S> {
 public:
  /// `a` is canonical, in `order`: the planned one, or any other, with which the variants that renumber take the rows
  /// as they come and pad more. Device: the pattern is read on the host, for which the stream is waited for.
  EllWarpOperator(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                  const FormatRequest& request);

  Index rows() const override { return rows_; }
  Index cols() const override { return cols_; }
  void refresh(const Context<S>& ctx, Span<const T, S> values) override;
  Slots<T, S> slots(const Context<S>& ctx) override { return values_.open(ctx); }
  void apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const override;
  void apply_dot(const Context<S>& ctx, Span<const T, S> x, Span<T, S> y, double* xy) const override;
  std::optional<detail::ResidualSums> residual(const Context<S>& ctx, Span<const T, S> b, Span<const T, S> x,
                                               const detail::ResidualScale& scale, Span<T, S> r) const override;
  OperatorTraits<T, S> traits() const override { return {true}; }
  OperatorInfo info() const override;

 private:
  detail::EllWarpView<T> view() const;

  Index rows_ = 0;
  Index cols_ = 0;
  Index first_ = 0;
  Index count_ = 0;
  Offset shared_warps_ = 0;
  Offset warps_ = 0;
  Array<Index, S> shared_row_;
  Array<Offset, S> shared_begin_;
  Array<Offset, S> slot_begin_;
  Array<Index, S> row_begin_;
  Array<std::uint8_t, S> reductions_;
  Array<Index, S> row_list_;
  Array<Index, S> col_;  ///< slots, and a few zeros behind where `prefetch_` looks ahead
  detail::SlotValues<T, S> values_;
  Array<T, S> shared_sum_;
  Array<double, S> dot_partial_;  ///< device
  std::vector<Offset> cuts_;      ///< host
  bool prefetch_ = false;         ///< host: x is too large for the caches
  int block_threads_ = 0;
  OperatorInfo info_;  ///< without bytes
};

/// The variants' names, the default first.
std::vector<std::string> ell_warp_variants();

/// Whether the variant, canonical, renumbers and was requested by name. The default finds another way.
bool ell_warp_square_only(std::string_view variant);

/// Bytes that the operator holds at least: for a matrix without padding and with warps of 32.
std::uint64_t ell_warp_bytes(Index rows, Index cols, Offset nonzeros, std::size_t value_bytes);

/// The cost estimate of the format (see SpmvFormat).
CostEstimate ell_warp_cost(const PatternFacts& facts, const FormatRequest& request);

/// The rows in the sequence that the variants which renumber take them; natural for the others, and where they come
/// so.
RowOrder<Space::host> plan_ell_warp_order(const Context<Space::host>& ctx, const Pattern<Space::host>& pattern,
                                          const FormatRequest& request);

}  // namespace newel
