// SPDX-License-Identifier: Apache-2.0
// What can be said of a caller's matrix without reading its arrays.
#include <newel/core/matrix_input.hpp>

#include <complex>
#include <limits>
#include <string>

#include <newel/core/error.hpp>
#include "core/vectors/instantiate.hpp"

namespace newel {
namespace {

constexpr std::int64_t most_rows = std::numeric_limits<Index>::max();

template <Space S>
void check_shape(const detail::InputForm<S>& form) {
  using Kind = typename detail::InputForm<S>::Kind;
  if (form.base != 0 && form.base != 1) {
    throw InputError("indices must count from 0 or from 1, not from " + std::to_string(form.base));
  }
  if (form.block_size < 1 || form.block_size > most_rows) {
    throw InputError("a block must have at least 1 row, not " + std::to_string(form.block_size));
  }
  const std::string blocks = form.kind == Kind::bsr ? " blocks" : "";
  const std::string shape = std::to_string(form.rows) + " x " + std::to_string(form.cols) + blocks;
  if (form.rows < 0 || form.cols < 0) throw InputError("a matrix cannot be " + shape);
  if (form.rows > most_rows / form.block_size || form.cols > most_rows / form.block_size) {
    throw InputError("a matrix of " + shape + " is too large: it may have up to " + std::to_string(most_rows) +
                     " rows and columns");
  }
  if (form.half && form.rows != form.cols) {
    throw InputError("only half of a symmetric matrix may be stored, but a matrix of " + shape +
                     " is not square: pass all entries");
  }
}

}  // namespace

template <class T, Space S>
MatrixInput<T, S>::MatrixInput(const CsrView<T, S>& a)
    : MatrixInput(Kind::csr, a.rows, a.cols, a.wide() ? IndexSpan<S>(a.row_ptr64) : IndexSpan<S>(a.row_ptr32), a.col,
                  a.val) {
  form_.value_map = a.value_map;
}

template <class T, Space S>
void MatrixInput<T, S>::check_lengths() const {
  check_shape(form_);
  const std::int64_t indices = form_.indices().size, per_block = form_.block_size * form_.block_size;
  if (form_.kind == Kind::coo) {
    if (form_.row.size == indices && indices == val_.size) return;
    throw InputError("there are " + std::to_string(form_.row.size) + " row indices, " + std::to_string(indices) +
                     " column indices and " + std::to_string(val_.size) + " values");
  }
  const bool by_columns = form_.kind == Kind::csc;
  const std::int64_t expected = (by_columns ? form_.cols : form_.rows) + 1;
  if (form_.pointers().size != expected) {
    throw InputError(std::string(by_columns ? "col_ptr" : "row_ptr") + " has " +
                     std::to_string(form_.pointers().size) + " entries, expected " +
                     (form_.kind == Kind::bsr ? "block " : "") + (by_columns ? "columns" : "rows") +
                     " + 1 = " + std::to_string(expected));
  }
  if (val_.size % per_block == 0 && val_.size / per_block == indices) return;
  const std::string size = std::to_string(form_.block_size);
  throw InputError("there are " + std::to_string(indices) + (by_columns ? " row" : " column") + " indices" +
                   (form_.kind == Kind::bsr ? " of " + size + " x " + size + " blocks" : "") + " and " +
                   std::to_string(val_.size) + " values");
}

template <class T, Space S>
std::optional<CsrView<T, S>> as_csr(const MatrixInput<T, S>& input) {
  using Kind = typename detail::InputForm<S>::Kind;
  const detail::InputForm<S>& form = input.form();
  const bool wide_columns = form.col.kind == IndexKind::int64 || form.col.kind == IndexKind::uint64;
  if (form.kind != Kind::csr || form.base != 0 || form.transposed || form.half || wide_columns) return {};
  const bool wide = form.row.kind == IndexKind::int64 || form.row.kind == IndexKind::uint64;
  // An unsigned number is read as a signed one of the same bits: what is too large for that is found negative, but
  // 32-bit pointers may point that far.
  if (form.row.kind == IndexKind::uint32 && input.values().size > most_rows) return {};
  CsrView<T, S> view;
  view.rows = static_cast<Index>(form.rows);
  view.cols = static_cast<Index>(form.cols);
  if (wide) {
    view.row_ptr64 = {static_cast<const Offset*>(form.row.data), form.row.size};
  } else {
    view.row_ptr32 = {static_cast<const std::int32_t*>(form.row.data), form.row.size};
  }
  view.col = {static_cast<const Index*>(form.col.data), form.col.size};
  view.val = input.values();
  view.value_map = form.value_map;
  return view;
}

#define X(T, S)                                                           \
  template class MatrixInput<T, S>;                                       \
  template class MatrixInput<std::complex<T>, S>;                         \
  template std::optional<CsrView<T, S>> as_csr(const MatrixInput<T, S>&); \
  template std::optional<CsrView<std::complex<T>, S>> as_csr(const MatrixInput<std::complex<T>, S>&);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel
