// SPDX-License-Identifier: Apache-2.0
/// Compressed sparse rows as an operator: our own product on host and device. The measure of all formats.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <newel/spmv/format.hpp>
#include "spmv/csr/csr_shares.hpp"
#include "spmv/resident_view.hpp"

namespace newel {

template <class T, Space S>
class CsrOperator;

/// Host: the path through rows and entries is cut into equal shares, one per thread (csr_shares.hpp). The number of
/// threads at construction determines the bits of the result.
template <class T>
class CsrOperator<T, Space::host> final : public MatrixOperator<T, Space::host> {
 public:
  /// Copies the canonical matrix `a`, in any order. There are no variants on the host: any of the table is accepted.
  CsrOperator(const Context<Space::host>& ctx, const CsrView<T, Space::host>& a, const RowOrder<Space::host>& order,
              const FormatRequest& request);

  Index rows() const override { return shares_.rows(); }
  Index cols() const override { return shares_.cols(); }
  void refresh(const Context<Space::host>& ctx, Span<const T, Space::host> values) override;
  Slots<T, Space::host> slots(const Context<Space::host>& ctx) override;
  void apply(const Context<Space::host>& ctx, T alpha, Span<const T, Space::host> x, T beta,
             Span<T, Space::host> y) const override;
  void apply_dot(const Context<Space::host>& ctx, Span<const T, Space::host> x, Span<T, Space::host> y,
                 double* xy) const override;
  void apply_columns(const Context<Space::host>& ctx, int columns, T alpha, Span<const T, Space::host> x, T beta,
                     Span<T, Space::host> y, Span<char, Space::host> work) const override;
  void apply_dot_columns(const Context<Space::host>& ctx, int columns, Span<const T, Space::host> x,
                         Span<T, Space::host> y, double* xy, Span<char, Space::host> work) const override;
  std::uint64_t column_work_bytes(int) const override { return 0; }
  std::optional<detail::ResidualSums> residual(const Context<Space::host>& ctx, Span<const T, Space::host> b,
                                               Span<const T, Space::host> x, const detail::ResidualScale& scale,
                                               Span<T, Space::host> r) const override;
  OperatorTraits<T, Space::host> traits() const override { return {true}; }
  std::optional<CsrView<T, Space::host>> as_csr() const override;
  OperatorInfo info() const override;

 private:
  detail::CsrShares<T> shares_;
  ValueMap<Space::host> value_map_;
  double setup_seconds_ = 0;
};

/// Device: the path through rows and entries is cut into chunks that blocks of threads read into shared memory and
/// sum row by row (csr_rows.hpp). Row pointers are kept in 32 bits where they suffice. The same bits on every run on
/// the same device. Variants "alg1" and "alg2" are cuSPARSE's CUSPARSE_SPMV_CSR_ALG1 and _ALG2, to compare with: the
/// first may differ in the last bits from run to run, and neither takes 2^31 entries. Products with several vectors
/// have a kernel of their own, whatever the variant.
template <class T>
class CsrOperator<T, Space::device> final : public MatrixOperator<T, Space::device> {
 public:
  /// Copies the canonical matrix `a`, in any order.
  CsrOperator(const Context<Space::device>& ctx, const CsrView<T, Space::device>& a,
              const RowOrder<Space::device>& order, const FormatRequest& request);

  Index rows() const override;
  Index cols() const override;
  void refresh(const Context<Space::device>& ctx, Span<const T, Space::device> values) override;
  Slots<T, Space::device> slots(const Context<Space::device>& ctx) override;
  void apply(const Context<Space::device>& ctx, T alpha, Span<const T, Space::device> x, T beta,
             Span<T, Space::device> y) const override;
  void apply_dot(const Context<Space::device>& ctx, Span<const T, Space::device> x, Span<T, Space::device> y,
                 double* xy) const override;
  void apply_columns(const Context<Space::device>& ctx, int columns, T alpha, Span<const T, Space::device> x, T beta,
                     Span<T, Space::device> y, Span<char, Space::device> work) const override;
  void apply_dot_columns(const Context<Space::device>& ctx, int columns, Span<const T, Space::device> x,
                         Span<T, Space::device> y, double* xy, Span<char, Space::device> work) const override;
  std::uint64_t column_work_bytes(int columns) const override;
  std::optional<detail::ResidualSums> residual(const Context<Space::device>& ctx, Span<const T, Space::device> b,
                                               Span<const T, Space::device> x, const detail::ResidualScale& scale,
                                               Span<T, Space::device> r) const override;
  OperatorTraits<T, Space::device> traits() const override { return {true}; }
  std::optional<CsrView<T, Space::device>> as_csr() const override;
  OperatorInfo info() const override;

  /// The matrix, if the product is our own, no row is long enough to be cut and the row pointers have 32 bits.
  detail::ResidentView<T, Space::device> resident_view() const override;

 private:
  struct State;
  std::shared_ptr<State> state_;  // nobody else has it; its type is complete in the source only
};

/// Entries of a row that our own product on a device never cuts.
inline constexpr int csr_uncut_row = 256;

/// The variants' names; without one, the product is our own.
std::vector<std::string> csr_variants();

/// Bytes that a CSR operator holds.
std::uint64_t csr_bytes(Index rows, Index cols, Offset nonzeros, std::size_t value_bytes);

/// Bytes that a product needs at least: the arrays, x and y once each. Its time at the copy bandwidth is the roofline
/// that formats are measured against.
std::uint64_t csr_product_bytes(Index rows, Index cols, Offset nonzeros, std::size_t value_bytes);

/// The cost estimate of the format (see SpmvFormat).
CostEstimate csr_cost(const PatternFacts& facts, const FormatRequest& request);

}  // namespace newel
