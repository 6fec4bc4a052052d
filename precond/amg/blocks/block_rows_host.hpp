// SPDX-License-Identifier: Apache-2.0
/// HostBlockRows: a blocked matrix on the host as a cycle multiplies with it. Internal.
#pragma once

#include <vector>

#include <newel/spmv/operator.hpp>
#include "precond/amg/blocks/block_csr.hpp"

namespace newel::detail {

/// Blocks of m x n stored column by column, so that a row of blocks sums its m rows side by side, and one column
/// index for each block: half the bytes of CSR for blocks of 6 x 6 in single precision. Rows and columns have the
/// numbering of the hierarchy, whose patterns it points to.
template <class T>
class HostBlockRows final : public MatrixOperator<T, Space::host> {
 public:
  /// The matrix `a`, or its transpose where that is given. Keeps pointers to the pattern's arrays.
  HostBlockRows(const HostContext& ctx, const HostBlockCsr& a,
                const TransposedPattern<Space::host>* transposed = nullptr);

  Index rows() const override { return rows_ * m_; }
  Index cols() const override { return cols_ * n_; }
  void apply(const HostContext& ctx, T alpha, Span<const T, Space::host> x, T beta,
             Span<T, Space::host> y) const override;
  /// Reads an entry once for all columns.
  void apply_columns(const HostContext& ctx, int columns, T alpha, Span<const T, Space::host> x, T beta,
                     Span<T, Space::host> y, Span<char, Space::host> work) const override;
  std::uint64_t column_work_bytes(int) const override { return 0; }
  /// `values` are those of the matrix that it was made from, block after block.
  void refresh(const HostContext& ctx, Span<const T, Space::host> values) override;
  /// The same in double.
  void replace(const HostContext& ctx, Span<const double, Space::host> values);
  OperatorInfo info() const override;

 private:
  template <class From>
  void place(const HostContext& ctx, const From* values);
  template <int m, int n>
  void multiply(const HostContext& ctx, T alpha, const T* x, T beta, T* y) const;
  template <int k>
  void multiply_columns(const HostContext& ctx, T alpha, const T* x, T beta, T* y) const;
  template <int m, int k>
  void multiply_column_share(Index begin, Index end, T alpha, const T* x, T beta, T* y) const;

  Index rows_, cols_;  // of blocks
  int m_, n_;
  Offset blocks_;
  const Offset* row_ptr_;
  const Index* col_;
  const Offset* source_ = nullptr;  // of a transposed matrix: where a block stands in the other
  Array<T, Space::host> val_;
  std::vector<Index> cuts_;  // rows that begin equal shares of the work
};

}  // namespace newel::detail
