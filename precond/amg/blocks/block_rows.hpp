// SPDX-License-Identifier: Apache-2.0
/// BlockRows: a blocked matrix on the device as a cycle multiplies with it. Internal.
#pragma once

#include "precond/amg/blocks/block_csr.hpp"

namespace newel::detail {

struct BlockRowsTuning {
  /// Of a row that a lane has under way: as many as fit into its registers with the column of each.
  template <class T, int together>
  static constexpr int entries = 32 / static_cast<int>(sizeof(T)) / (together > 1 ? 2 : 1);
};

/// Row r of a block row has its values next to each other, block after block: with `m` rows and `n` columns to a
/// block, row r of block row i begins at m n row_ptr[i] + r n (row_ptr[i + 1] - row_ptr[i]). One column is stored for
/// a block.
template <class T>
struct BlockRowsView {
  Index rows = 0;  ///< of blocks
  int m = 1, n = 1;
  int lanes = 1;                            ///< that share rows: a power of two up to 32, not less than `together`
  int together = 1;                         ///< rows that are added together: 3 where that divides m, else 1
  unsigned magic = 0;                       ///< k / n is the upper half of k magic for n > 1 and k up to 2^32 / n
  const Offset* row_ptr = nullptr;          ///< where 32 bits are too few for it
  const std::int32_t* row_ptr32 = nullptr;  ///< else
  const Index* col = nullptr;
  const T* val = nullptr;
};

template <class T>
class BlockRows {
 public:
  BlockRows() = default;
  /// Of `a`, or of its transpose where that is given. Row i of `a`, which is column i of the transpose, becomes row
  /// place[i] where that is given, for blocks of one row only. Keeps pointers to the pattern's arrays and to `place`.
  BlockRows(const DeviceContext& ctx, const BlockCsr<Space::device>& a,
            const TransposedPattern<Space::device>* transposed = nullptr, const Index* place = nullptr);

  /// The values of `a`, which has the pattern that it was made from. Queued on the stream.
  void refresh(const DeviceContext& ctx, const BlockCsr<Space::device>& a,
               const TransposedPattern<Space::device>* transposed = nullptr);

  const BlockRowsView<T>& view() const { return view_; }
  Index rows() const { return view_.rows * view_.m; }
  Offset entries() const { return val_.size(); }
  /// Of values and row pointers; the columns are the hierarchy's where rows stay in their places.
  std::uint64_t bytes() const { return val_.bytes() + row_ptr32_.bytes() + row_ptr64_.bytes() + col_.bytes(); }
  /// That a product reads: values, columns and row pointers.
  std::uint64_t bytes_read() const;

 private:
  void place_rows(const DeviceContext& ctx, const BlockPattern<Space::device>& pattern, bool transposed);

  BlockRowsView<T> view_;
  Offset blocks_ = 0;
  const Index* place_ = nullptr;
  Array<std::int32_t, Space::device> row_ptr32_;
  Array<Offset, Space::device> row_ptr64_;  // of placed rows, where they do not fit into the other
  Array<Index, Space::device> col_;         // of placed rows or columns
  Array<T, Space::device> val_;
};

/// Of several vectors: entry i of column c is number i `entry` + c `column`.
struct ColumnLayout {
  std::int64_t entry, column;
};
inline ColumnLayout interleaved(int columns) { return {columns, 1}; }

/// y = B x; where given, entry i of y goes to y_place[i], and entry j of x comes from x_place[j].
template <class T>
void multiply(const DeviceContext& ctx, const BlockRows<T>& b, const T* x, const Index* x_place, T* y,
              const Index* y_place);
/// y = alpha B x + beta y, of a rank: the first `own` entries of x, and those of y, are at place[i] (null: at i), and
/// entry j beyond them is beyond[j - own]. y is not read for beta = 0.
template <class T>
void multiply_add(const DeviceContext& ctx, const BlockRows<T>& b, T alpha, const T* x, const Index* place, Index own,
                  const T* beyond, T beta, T* y);
/// The same as `multiply` for several columns, whose entries are read and written where the layouts of x and y say.
template <class T>
void multiply_columns(const DeviceContext& ctx, const BlockRows<T>& b, int columns, const T* x, ColumnLayout of_x,
                      const Index* x_place, T* y, ColumnLayout of_y, const Index* y_place);

}  // namespace newel::detail
