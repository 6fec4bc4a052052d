// SPDX-License-Identifier: Apache-2.0
/// EHYB: parts whose entries of x are cached, 16-bit columns within them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <newel/spmv/format.hpp>
#include "spmv/ehyb/ehyb_scratch.hpp"
#include "spmv/plan/slot_values.hpp"
#include "spmv/resident_view.hpp"

namespace newel {

/// The explicitly cached hybrid format (C. Chen et al., "EHYB", sections 3 and 4), for square matrices.
///
/// Each part of the order (a range of rows) is one thread block's, or one thread's on the host. The entries of x that
/// belong to it are loaded into shared memory, or a local buffer, once; its matrix entries reach them by 16-bit
/// columns in sliced ELL. Variants:
///
/// - "paper": other entries are extra rows (ER) with 32-bit columns, added by a second pass. As printed, Algorithm 3
/// may
///   lose an ER sum to the part that stores y afterwards; here the second pass is behind the first.
/// - "halo": the x entries that a part reads from outside are gathered behind its own, so all entries have 16-bit
///   columns. Where they do not all fit, the most used ones are cached and the rest are extra rows.
/// - "block": halo, with one column for each 2 x 2, 3 x 3 or 6 x 6 block. Where the pattern has no such blocks it is
///   "halo", and the detail line of `info` says so.
/// - default: the one of these that moves the fewest bytes.
///
/// Rows that would fill their slice with padding are cut into segments of their own. No atomics on y: the same bits
/// on every run.
template <class T, Space S>
class EhybOperator final : public MatrixOperator<T, S> {
 public:
  /// Copies the canonical matrix `a`, in `order`; an order without parts is cut into equal ranges. `a` may have
  /// columns behind the rows, which the table of formats does not offer: entries of x that belong to no part.
  EhybOperator(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order, const FormatRequest& request);

  Index rows() const override { return rows_; }
  Index cols() const override { return cols_; }
  void refresh(const Context<S>& ctx, Span<const T, S> values) override;
  Slots<T, S> slots(const Context<S>& ctx) override { return values_.open(ctx); }
  void apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const override;
  void apply_dot(const Context<S>& ctx, Span<const T, S> x, Span<T, S> y, double* xy) const override;
  void apply_columns(const Context<S>& ctx, int columns, T alpha, Span<const T, S> x, T beta, Span<T, S> y,
                     Span<char, S> work) const override;
  void apply_dot_columns(const Context<S>& ctx, int columns, Span<const T, S> x, Span<T, S> y, double* xy,
                         Span<char, S> work) const override;
  std::uint64_t column_work_bytes(int columns) const override;
  std::optional<detail::ResidualSums> residual(const Context<S>& ctx, Span<const T, S> b, Span<const T, S> x,
                                               const detail::ResidualScale& scale, Span<T, S> r) const override;
  OperatorTraits<T, S> traits() const override { return {true}; }
  OperatorInfo info() const override;

  detail::ResidentView<T, S> resident_view() const override { return {&view_}; }
  /// The arrays, for kernels that do more than a product; valid as long as the operator.
  const detail::EhybView<T>& view() const { return view_; }

 private:
  Index rows_ = 0, cols_ = 0;
  detail::EhybLayout<S> layout_;  ///< without its sources
  detail::SlotValues<T, S> values_;
  detail::EhybScratch<T, S> scratch_;
  detail::EhybView<T> view_{};
  OperatorInfo info_;  ///< all but the bytes
};

/// "paper", "halo", "block": the default is none of them but chooses.
std::vector<std::string> ehyb_variants();

/// Every variant numbers x and y alike.
bool ehyb_square_only(std::string_view variant);

/// Bytes that the format holds with a tenth of padding and a halo of half the rows.
std::uint64_t ehyb_bytes(Index rows, Index cols, Offset nonzeros, std::size_t value_bytes);

}  // namespace newel
