// SPDX-License-Identifier: Apache-2.0
/// BlockCsr: a sparse matrix of dense blocks of one size, in double: what a multigrid hierarchy is built from,
/// whatever the precision that it is applied in. Internal.
#pragma once

#include <type_traits>
#include <vector>

#include <newel/core/csr.hpp>

namespace newel::detail {

using HostContext = Context<Space::host>;
using DeviceContext = Context<Space::device>;

/// What a stage of the setup hands to the next: a vector on the host, an array on the device.
template <class T, Space S>
using StageArray = std::conditional_t<S == Space::host, std::vector<T>, Array<T, S>>;

/// Rows and columns are counted in blocks; columns ascend in a row.
template <Space S>
struct BlockPattern {
  Index rows = 0;
  Index cols = 0;
  Array<Offset, S> row_ptr;  ///< rows + 1
  Array<Index, S> col;

  Offset blocks() const { return col.size(); }
  std::uint64_t bytes() const { return row_ptr.bytes() + col.bytes(); }
};

template <Space S>
struct BlockCsr {
  BlockPattern<S> pattern;
  int row_block = 1;     ///< rows of a block
  int col_block = 1;     ///< its columns
  Array<double, S> val;  ///< block after block, each row by row

  int block_size() const { return row_block * col_block; }
  Index scalar_rows() const { return pattern.rows * row_block; }
  Index scalar_cols() const { return pattern.cols * col_block; }
  const double* block(Offset k) const { return val.data() + k * block_size(); }
  double* block(Offset k) { return val.data() + k * block_size(); }
  std::uint64_t bytes() const { return pattern.bytes() + val.bytes(); }
};

using HostBlockPattern = BlockPattern<Space::host>;
using HostBlockCsr = BlockCsr<Space::host>;

/// The square matrix `a`, whose row i is row old_of_new[i] of the result (empty: row i), in blocks of `block` rows
/// and columns, which divides its size. An entry of a block that `a` lacks is 0. `source` receives, for each value of
/// the result, where it stands in `a`, -1 for what is not there; nothing where all values stand as in `a`.
template <class T>
HostBlockCsr make_block_csr(const HostContext& ctx, const CsrView<T, Space::host>& a,
                            const std::vector<Index>& old_of_new, int block, Array<Offset, Space::host>& source);

/// The transposed pattern, with the place of each of its blocks in `a`.
template <Space S>
struct TransposedPattern {
  BlockPattern<S> pattern;
  Array<Offset, S> source;
};
TransposedPattern<Space::host> transpose(const HostContext& ctx, const HostBlockPattern& a);
TransposedPattern<Space::device> transpose(const DeviceContext& ctx, const BlockPattern<Space::device>& a);

/// The blocks that stand in either of two patterns of one size.
HostBlockPattern united(const HostContext& ctx, const HostBlockPattern& a, const HostBlockPattern& b);
BlockPattern<Space::device> united(const DeviceContext& ctx, const BlockPattern<Space::device>& a,
                                   const BlockPattern<Space::device>& b);

/// Single entries instead of blocks, transposed or not: a pattern, and where its values stand among those of the
/// HostBlockCsr. Row i of the result is row old_of_new[i] of `a` (empty: row i).
template <Space S>
struct ScalarPattern {
  Index rows = 0;
  Index cols = 0;
  Array<Offset, S> row_ptr;
  Array<Index, S> col;
  Array<Offset, S> source;
};
ScalarPattern<Space::host> scalar_rows(const HostContext& ctx, const HostBlockCsr& a,
                                       const std::vector<Index>& old_of_new = {});
ScalarPattern<Space::device> scalar_rows(const DeviceContext& ctx, const BlockCsr<Space::device>& a);
/// Column j of `a` becomes row j; its entries are column new_of_old[i] for row i of `a` (empty: i).
ScalarPattern<Space::host> scalar_columns(const HostContext& ctx, const HostBlockCsr& a,
                                          const std::vector<Index>& new_of_old = {});

/// Where row i of a square pattern has its diagonal block; -1 where it has none.
Offset diagonal_at(const HostBlockPattern& a, Index i);

/// The square of a block's Frobenius norm.
inline double squared_norm(const HostBlockCsr& a, Offset k) {
  if (a.block_size() == 1) return a.val[k] * a.val[k];
  double sum = 0;
  for (int e = 0; e < a.block_size(); ++e) sum += a.block(k)[e] * a.block(k)[e];
  return sum;
}

}  // namespace newel::detail
