// SPDX-License-Identifier: Apache-2.0
/// BlockCsr: a sparse matrix of dense blocks of one size on the host, in double: what a multigrid hierarchy is built
/// from, whatever the precision and the space that it is applied in. Internal.
#pragma once

#include <vector>

#include <purlin/core/csr.hpp>

namespace purlin::detail {

using HostContext = Context<Space::host>;

/// Rows and columns are counted in blocks; columns ascend in a row.
struct BlockPattern {
  Index rows = 0;
  Index cols = 0;
  Array<Offset, Space::host> row_ptr;  ///< rows + 1
  Array<Index, Space::host> col;

  Offset blocks() const { return col.size(); }
  std::uint64_t bytes() const { return row_ptr.bytes() + col.bytes(); }
};

struct BlockCsr {
  BlockPattern pattern;
  int row_block = 1;               ///< rows of a block
  int col_block = 1;               ///< its columns
  Array<double, Space::host> val;  ///< block after block, each row by row

  int block_size() const { return row_block * col_block; }
  Index scalar_rows() const { return pattern.rows * row_block; }
  Index scalar_cols() const { return pattern.cols * col_block; }
  const double* block(Offset k) const { return val.data() + k * block_size(); }
  double* block(Offset k) { return val.data() + k * block_size(); }
  std::uint64_t bytes() const { return pattern.bytes() + val.bytes(); }
};

/// The square matrix `a`, whose row i is row old_of_new[i] of the result (empty: row i), in blocks of `block` rows
/// and columns, which divides its size. An entry of a block that `a` lacks is 0. `source` receives, for each value of
/// the result, where it stands in `a`, -1 for what is not there.
template <class T>
BlockCsr make_block_csr(const HostContext& ctx, const CsrView<T, Space::host>& a,
                        const std::vector<Index>& old_of_new, int block, Array<Offset, Space::host>& source);

/// The transposed pattern, with the place of each of its blocks in `a`.
struct TransposedPattern {
  BlockPattern pattern;
  Array<Offset, Space::host> source;
};
TransposedPattern transpose(const HostContext& ctx, const BlockPattern& a);

/// Single entries instead of blocks, transposed or not: a pattern, and where its values stand among those of the
/// BlockCsr. Row i of the result is row old_of_new[i] of `a` (empty: row i).
struct ScalarPattern {
  Index rows = 0;
  Index cols = 0;
  Array<Offset, Space::host> row_ptr;
  Array<Index, Space::host> col;
  Array<Offset, Space::host> source;
};
ScalarPattern scalar_rows(const HostContext& ctx, const BlockCsr& a, const std::vector<Index>& old_of_new = {});
/// Column j of `a` becomes row j; its entries are column new_of_old[i] for row i of `a` (empty: i).
ScalarPattern scalar_columns(const HostContext& ctx, const BlockCsr& a, const std::vector<Index>& new_of_old = {});

/// y = A x, row by row: the same bits for any number of threads.
void multiply(const HostContext& ctx, const BlockCsr& a, const std::vector<double>& x, std::vector<double>& y);

/// Where row i of a square pattern has its diagonal block; -1 where it has none.
Offset diagonal_at(const BlockPattern& a, Index i);

/// c += a b for row-major blocks: a is m x n, b is n x k.
void add_product(int m, int n, int k, const double* a, const double* b, double* c);
/// c += a^T b: a is n x m, b is n x k.
void add_transposed_product(int m, int n, int k, const double* a, const double* b, double* c);

}  // namespace purlin::detail
