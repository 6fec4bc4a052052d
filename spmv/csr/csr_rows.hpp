// SPDX-License-Identifier: Apache-2.0
/// CSR's own product on a device: the path through rows and entries, cut into chunks that fit shared memory.
/// Internal.
#pragma once

#include <newel/core/array.hpp>
#include <newel/core/csr.hpp>
#include "spmv/csr/csr.hpp"
#include "spmv/row_pieces.hpp"

namespace newel::detail {

/// How rows and entries are shared out. Measured on an H200 against 64 to 512 threads with 4 to 16 entries each, and
/// against rows that 2 to 16 lanes read straight from memory (up to 10 % faster where rows are short, up to 20 %
/// slower where they are long).
struct CsrRowsTuning {
  static constexpr int threads = 128;          ///< of a block
  static constexpr int uncut = csr_uncut_row;  ///< a row of as many entries is all in one chunk
  static constexpr int least_path = 256;       ///< steps of a chunk of a small matrix
  static constexpr int rows_of_step = 8;
  static constexpr int lane_entries = 32;  ///< of a row; a warp takes the rows that have more for a lane
};

/// What a block holds: `E` entries of a chunk are in flight for each thread, in single precision 12 but for matrices
/// of short rows, else 8.
template <class T, int E>
struct CsrChunkTuning {
  static constexpr int entries = CsrRowsTuning::threads * E;  ///< of a chunk, at most
  static constexpr int blocks = E > 8 ? 7 : 8;                ///< of a multiprocessor at the same time, by registers
  /// Whether y is loaded as long before it is needed as the row pointers are; in double registers are short.
  static constexpr bool loads_y_ahead = sizeof(T) == 4;
};
inline constexpr int few_entries = 8, many_entries = 12;
/// In single precision a chunk has `many_entries` for a thread where rows have as many on average.
inline constexpr double short_rows = 10;

/// Where a chunk begins: at entry `entry`, in row `row` or at its beginning.
struct alignas(16) CsrBorder {
  static constexpr Index between_rows = -1;
  Offset entry;
  Index row;
  Index piece;  ///< the piece of `row` that ends here, or `between_rows`
};

/// The pattern's share-out, the arrays that it refers to, and memory for a product.
template <class T>
struct CsrRowsView {
  const Index* col;
  const T* val;
  const CsrBorder* border;  ///< chunks + 1
  Offset chunks;
  unsigned blocks;
  int thread_entries;   ///< of a chunk
  Index longest;        ///< entries of a row or a piece, at most
  JoinView<T> join;     ///< rows that a border cuts
  double* dot_partial;  ///< blocks, and those of the join
};

/// Chunk k ends where the path through the entries and the rows (row after row: its entries, and one step more behind
/// every eighth row) has made (k + 1) `path` steps; but a row of up to `uncut` entries is left whole, and belongs to
/// the next chunk. `path` and the longest such row are together the entries that a chunk may have. Only rows of more
/// entries than `uncut` are cut, into pieces whose sums a second kernel joins in their order. A product reads the
/// entries of a chunk one after the other, and leaves their products with x in shared memory for the sums of the
/// rows.
template <class T>
class CsrRows {
 public:
  CsrRows() = default;
  /// For a matrix whose arrays stay as long as this object. Reads the row pointers once, then one binary search for
  /// each border; where rows are cut, the borders pass through the host. `longest`: the entries of the longest row,
  /// where they are known; negative: they are looked for, and waited for.
  CsrRows(const Context<Space::device>& ctx, const CsrView<T, Space::device>& a, Index longest = -1);

  bool empty() const { return a_.rows == 0; }
  Offset chunks() const { return view_.chunks; }
  Index cut_rows() const { return view_.join.rows; }
  /// The entries of the longest row.
  Index longest_row() const { return longest_; }
  std::size_t bytes() const {
    return border_.bytes() + joined_row_.bytes() + joined_first_.bytes() + piece_sum_.bytes() + dot_partial_.bytes();
  }

  /// y = alpha A x + beta y, and x.y where args.xy is set. Allocates nothing, does not wait. The order of all sums
  /// depends on the pattern and the number of multiprocessors alone.
  void product(const Context<Space::device>& ctx, const ProductArgs<T>& args) const;

 private:
  void number_pieces(const Context<Space::device>& ctx);

  CsrView<T, Space::device> a_;
  CsrRowsView<T> view_{};
  Index longest_ = 0;
  Array<CsrBorder, Space::device> border_;
  Array<Index, Space::device> joined_row_, joined_first_;
  Array<T, Space::device> piece_sum_;
  Array<double, Space::device> dot_partial_;
};

/// y = alpha A x + beta y by one kernel, and a second one where rows are cut. P: the type of the row pointers.
template <class T, class P>
void csr_rows_product(const Context<Space::device>& ctx, const CsrRowsView<T>& view, const P* row_ptr,
                      const ProductArgs<T>& args);

}  // namespace newel::detail
