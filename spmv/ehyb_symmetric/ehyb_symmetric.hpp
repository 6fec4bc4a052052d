// SPDX-License-Identifier: Apache-2.0
/// EHYB that reads the two blocks of a pair of nodes once where the matrix is symmetric.
#pragma once

#include <newel/spmv/format.hpp>
#include "spmv/ehyb/ehyb_scratch.hpp"
#include "spmv/ehyb_symmetric/ehyb_symmetric_product.hpp"
#include "spmv/plan/slot_values.hpp"

namespace newel {

/// EHYB for square matrices whose pattern, inside its parts, is symmetric for the most part.
///
/// What reads x of its own part lies opposite an entry, or a block of 2 x 2 or 3 x 3 of a node, of the same part.
/// Such pairs are added round by round: those of a round touch different rows, so that both go to y in shared memory
/// (a buffer of the thread on the host) without conflicts, and in the same order on every run. While the values of
/// all pairs are equal, bit for bit, one of each is read: a product reads little more than half of the part's inside.
/// Both are kept, and from the first refresh with numbers that differ, both are read. Everything else is EHYB's
/// "halo" or "block": entries of other parts, the diagonal, entries without an opposite.
///
/// No atomics on y: the same bits on every run. Numbers written into `slots` are compared by `slots_written`.
template <class T, Space S>
class EhybSymmetricOperator final : public MatrixOperator<T, S> {
 public:
  /// Copies the square canonical matrix `a`, in `order`; an order without parts is cut into equal ranges. On a device
  /// kernels make the arrays; where entries are left outside the cache, and where a part or a row is too long for
  /// them, the host does.
  EhybSymmetricOperator(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                        const FormatRequest& request);

  Index rows() const override { return rows_; }
  Index cols() const override { return rows_; }
  void refresh(const Context<S>& ctx, Span<const T, S> values) override;
  Slots<T, S> slots(const Context<S>& ctx) override { return values_.open(ctx); }
  void slots_written(const Context<S>& ctx) override { compare(ctx); }
  void apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const override;
  void apply_dot(const Context<S>& ctx, Span<const T, S> x, Span<T, S> y, double* xy) const override;
  std::optional<detail::ResidualSums> residual(const Context<S>& ctx, Span<const T, S> b, Span<const T, S> x,
                                               const detail::ResidualScale& scale, Span<T, S> r) const override;
  OperatorTraits<T, S> traits() const override { return {true}; }
  OperatorInfo info() const override;

 private:
  void point_at(const Context<S>& ctx, int block_threads);
  void compare(const Context<S>& ctx);

  Index rows_ = 0;
  detail::EhybLayout<S> layout_;  ///< of what is not in pairs; without its sources
  detail::PairRounds<S> rounds_;  ///< without its sources
  Array<std::uint16_t, S> node_;
  detail::SlotValues<T, S> values_;
  detail::EhybScratch<T, S> scratch_;
  Array<T, S> sums_;
  Array<int, S> differs_;
  detail::EhybSymmetricView<T> view_{};
  OperatorInfo info_;  ///< all but the bytes
};

/// The plan of EHYB, with half of its cache: y is next to x.
RowOrder<Space::host> plan_ehyb_symmetric_order(const Context<Space::host>& ctx, const Pattern<Space::host>& a,
                                                const FormatRequest& request);
std::optional<RowOrder<Space::device>> plan_ehyb_symmetric_order(const Context<Space::device>& ctx,
                                                                 const Pattern<Space::device>& a,
                                                                 const FormatRequest& request);

namespace detail {

/// What EHYB is asked to plan for this format: half of the cache, and the variant that it chooses.
FormatRequest request_with_half_cache(const FormatRequest& request);

}  // namespace detail

/// Chosen only on a device, for nodes of three rows with symmetric values, where CG with EHYB would not be resident
/// and the device builds the arrays.
CostEstimate ehyb_symmetric_cost(const PatternFacts& facts, const FormatRequest& request);

/// x and y are numbered alike.
bool ehyb_symmetric_square_only(std::string_view variant);

/// Bytes that the format holds, as EHYB's.
std::uint64_t ehyb_symmetric_bytes(Index rows, Index cols, Offset nonzeros, std::size_t value_bytes);

}  // namespace newel
