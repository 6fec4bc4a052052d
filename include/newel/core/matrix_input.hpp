// SPDX-License-Identifier: Apache-2.0
/// MatrixInput: a matrix in one of the forms that callers have, as a view of their arrays.
#pragma once

#include <optional>

#include <newel/core/csr.hpp>
#include <newel/core/index_span.hpp>

namespace newel {

/// One half of a square matrix, with its diagonal.
enum class Triangle { lower, upper };

/// In which order the values of a block follow each other: row after row, or column after column.
enum class BlockOrder { by_rows, by_columns };

namespace detail {

/// The arrays of a MatrixInput without its values, as they came: nothing has been checked.
template <Space S>
struct InputForm {
  enum class Kind { csr, csc, coo, bsr };
  Kind kind = Kind::csr;
  std::int64_t rows = 0, cols = 0;  ///< as stored, in blocks
  std::int64_t block_size = 1;
  BlockOrder block_order = BlockOrder::by_rows;
  IndexSpan<S> row;  ///< csr, bsr: the pointers
  IndexSpan<S> col;  ///< csc: the pointers
  int base = 0;
  bool transposed = false;
  std::optional<Triangle> half;

  const IndexSpan<S>& pointers() const { return kind == Kind::csc ? col : row; }
  /// Those of stored entries or blocks, columns but for CSC.
  const IndexSpan<S>& indices() const { return kind == Kind::csc ? row : col; }
};

}  // namespace detail

/// Borrowed arrays in space `S` that describe a matrix:
///
///     MatrixInput<double, Space::host>::coo(n, n, row, col, val).index_base(1).stored_half(Triangle::lower)
///
/// Indices are any integers of 32 or 64 bits (`IndexSpan`), of a type of its own for each array. Entries may come in
/// any order, and those of one place are summed in the order in which they stand. Making a MatrixInput reads nothing
/// and checks nothing: what takes one (`AssembledMatrix`, `LinearSystem`) checks every index before it is used, and
/// throws InputError that names the first bad one as the caller counts. The arrays are borrowed until then.
///
/// Values, where new ones follow, come in the order of `val`.
template <class T, Space S>
class MatrixInput {
 public:
  /// Compressed rows. The other forms are named below.
  MatrixInput(const CsrView<T, S>& a);

  /// Compressed rows: entries row_ptr[i] .. row_ptr[i+1]-1 are those of row i. `row_ptr` has rows + 1 numbers.
  static MatrixInput csr(std::int64_t rows, std::int64_t cols, IndexSpan<S> row_ptr, IndexSpan<S> col,
                         Span<const T, S> val) {
    return {Kind::csr, rows, cols, row_ptr, col, val};
  }
  /// Compressed columns: entries col_ptr[j] .. col_ptr[j+1]-1 are those of column j. `col_ptr` has cols + 1 numbers.
  static MatrixInput csc(std::int64_t rows, std::int64_t cols, IndexSpan<S> col_ptr, IndexSpan<S> row,
                         Span<const T, S> val) {
    return {Kind::csc, rows, cols, row, col_ptr, val};
  }
  /// Triplets: entry k is val[k] at row[k], col[k].
  static MatrixInput coo(std::int64_t rows, std::int64_t cols, IndexSpan<S> row, IndexSpan<S> col,
                         Span<const T, S> val) {
    return {Kind::coo, rows, cols, row, col, val};
  }
  /// Compressed rows of dense square blocks: `row_ptr` has block_rows + 1 numbers, `col` one block column a block,
  /// and `val` block_size * block_size values a block, zeros included, which become entries like the others.
  static MatrixInput bsr(std::int64_t block_rows, std::int64_t block_cols, std::int64_t block_size,
                         IndexSpan<S> row_ptr, IndexSpan<S> col, Span<const T, S> val,
                         BlockOrder order = BlockOrder::by_rows) {
    MatrixInput input(Kind::bsr, block_rows, block_cols, row_ptr, col, val);
    input.form_.block_size = block_size;
    input.form_.block_order = order;
    return input;
  }

  /// Whether all numbers of rows, columns and entries, the pointers' too, count from 0, as they do by default, or
  /// from 1.
  MatrixInput index_base(int base) const {
    MatrixInput input = *this;
    input.form_.base = base;
    return input;
  }
  /// The transpose of the matrix.
  MatrixInput transposed() const {
    MatrixInput input = *this;
    input.form_.transposed = !input.form_.transposed;
    return input;
  }
  /// Of a symmetric matrix this half is stored, and what stands off the diagonal belongs to the other half as well.
  /// An entry of the other half is refused. Of BSR the blocks on the diagonal are stored whole.
  MatrixInput stored_half(Triangle half) const {
    MatrixInput input = *this;
    input.form_.half = half;
    return input;
  }

  /// Of the matrix that is meant: in single rows and columns, transposed where it is.
  std::int64_t rows() const { return (form_.transposed ? form_.cols : form_.rows) * form_.block_size; }
  std::int64_t cols() const { return (form_.transposed ? form_.rows : form_.cols) * form_.block_size; }
  /// The most entries that the matrix can have.
  Offset most_entries() const { return form_.half ? 2 * val_.size : val_.size; }
  Span<const T, S> values() const { return val_; }

  /// Throws InputError for sizes that no matrix has, lengths that do not fit, and choices that are none. Reads no
  /// array.
  void check_lengths() const;

  /// The same arrays as a CsrView, where they can be had as one: CSR that counts from 0 with columns of 32 bits, and
  /// neither transposed nor a half. Its pattern need not be canonical. Lengths have been checked.
  std::optional<CsrView<T, S>> as_csr() const;

  const detail::InputForm<S>& form() const { return form_; }  ///< internal

 private:
  using Kind = typename detail::InputForm<S>::Kind;
  MatrixInput(Kind kind, std::int64_t rows, std::int64_t cols, IndexSpan<S> row, IndexSpan<S> col,
              Span<const T, S> val)
      : val_(val) {
    form_.kind = kind;
    form_.rows = rows;
    form_.cols = cols;
    form_.row = row;
    form_.col = col;
  }

  detail::InputForm<S> form_;
  Span<const T, S> val_;
  const ValueMap<S>* value_map_ = nullptr;
};

}  // namespace newel
