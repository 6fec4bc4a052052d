// SPDX-License-Identifier: Apache-2.0
/// MatrixInput: a view of a caller's matrix in one of several storage forms.
#pragma once

#include <optional>

#include <newel/core/csr.hpp>
#include <newel/core/index_span.hpp>

namespace newel {

/// One half of a square matrix, diagonal included.
enum class Triangle { lower, upper };

/// Order of the values within a block: row by row, or column by column.
enum class BlockOrder { by_rows, by_columns };

namespace detail {

/// The arrays of a MatrixInput without its values, as given: nothing has been checked.
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
  const ValueMap<S>* value_map = nullptr;  ///< of the CsrView that it was made from

  const IndexSpan<S>& pointers() const { return kind == Kind::csc ? col : row; }
  /// Indices of stored entries or blocks: columns, except for CSC.
  const IndexSpan<S>& indices() const { return kind == Kind::csc ? row : col; }
};

}  // namespace detail

/// Borrowed arrays in space `S` that describe a matrix:
///
///     MatrixInput<double, Space::host>::coo(n, n, row, col, val).index_base(1).stored_half(Triangle::lower)
///
/// Indices are integers of 32 or 64 bits (`IndexSpan`); each array may have its own type. Entries may be in any
/// order; entries at the same position are summed in the given order. Constructing a MatrixInput reads and checks
/// nothing. Its users (`AssembledMatrix`, `LinearSystem`) check every index before they use it. They throw
/// InputError, which names the first bad index with the caller's index base. The arrays must stay valid until then.
///
/// New values for the same pattern are given in the order of `val`.
template <class T, Space S>
class MatrixInput {
 public:
  /// Compressed rows. Other forms have named functions below.
  MatrixInput(const CsrView<T, S>& a);

  /// Compressed rows: row i has the entries row_ptr[i] .. row_ptr[i+1]-1. `row_ptr` has length rows + 1.
  static MatrixInput csr(std::int64_t rows, std::int64_t cols, IndexSpan<S> row_ptr, IndexSpan<S> col,
                         Span<const T, S> val) {
    return {Kind::csr, rows, cols, row_ptr, col, val};
  }
  /// Compressed columns: column j has the entries col_ptr[j] .. col_ptr[j+1]-1. `col_ptr` has length cols + 1.
  static MatrixInput csc(std::int64_t rows, std::int64_t cols, IndexSpan<S> col_ptr, IndexSpan<S> row,
                         Span<const T, S> val) {
    return {Kind::csc, rows, cols, row, col_ptr, val};
  }
  /// Triplets: entry k has value val[k] at row row[k], column col[k].
  static MatrixInput coo(std::int64_t rows, std::int64_t cols, IndexSpan<S> row, IndexSpan<S> col,
                         Span<const T, S> val) {
    return {Kind::coo, rows, cols, row, col, val};
  }
  /// Compressed rows of dense square blocks. `row_ptr` has length block_rows + 1, `col` one block column per block,
  /// and `val` block_size * block_size values per block. Zeros in blocks become entries like all others.
  static MatrixInput bsr(std::int64_t block_rows, std::int64_t block_cols, std::int64_t block_size,
                         IndexSpan<S> row_ptr, IndexSpan<S> col, Span<const T, S> val,
                         BlockOrder order = BlockOrder::by_rows) {
    MatrixInput input(Kind::bsr, block_rows, block_cols, row_ptr, col, val);
    input.form_.block_size = block_size;
    input.form_.block_order = order;
    return input;
  }

  /// Sets the index base of all rows, columns and pointers: 0 (the default) or 1.
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
  /// The matrix is symmetric and only this half is stored; entries off the diagonal also belong to the other half.
  /// Entries of the other half are refused. In BSR, diagonal blocks are stored in full.
  MatrixInput stored_half(Triangle half) const {
    MatrixInput input = *this;
    input.form_.half = half;
    return input;
  }

  /// Size of the represented matrix: in single rows and columns, and transposed if requested.
  std::int64_t rows() const { return (form_.transposed ? form_.cols : form_.rows) * form_.block_size; }
  std::int64_t cols() const { return (form_.transposed ? form_.rows : form_.cols) * form_.block_size; }
  /// Upper bound on the number of entries of the matrix.
  Offset most_entries() const { return form_.half ? 2 * val_.size : val_.size; }
  Span<const T, S> values() const { return val_; }

  /// Throws InputError for impossible sizes, lengths that do not fit, and invalid choices. Reads no array.
  void check_lengths() const;

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
};

/// The same arrays as a CsrView if possible: 0-based CSR with 32-bit columns, neither transposed nor a half. The
/// pattern may be non-canonical. Lengths must have been checked.
template <class T, Space S>
std::optional<CsrView<T, S>> as_csr(const MatrixInput<T, S>& input);

}  // namespace newel
