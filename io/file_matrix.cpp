// SPDX-License-Identifier: Apache-2.0
// From the arrays of a file to a canonical matrix, a full one, or vectors.
#include <algorithm>
#include <cmath>
#include <limits>

#include <newel/core/assembled_matrix.hpp>
#include <newel/core/parallel.hpp>
#include "io/file_parsers.hpp"

namespace newel::detail {
namespace {

void check_proportion(const std::string& name, std::int64_t length, const char* what, std::int64_t entries,
                      Offset empty) {
  constexpr Offset per_entry = 16;
  if ((length - empty) / per_entry <= entries) return;
  throw InputError(name + ": expected fewer " + what + " for so few entries, found " + std::to_string(length) + " " +
                   what + ", entries: " + std::to_string(entries));
}

template <class T>
Array<T, Space::host> copied(const Context<Space::host>& ctx, Span<const T, Space::host> from) {
  Array<T, Space::host> to(ctx, from.size);
  std::copy(from.begin(), from.end(), to.begin());
  return to;
}

}  // namespace

Csr<double, Space::host> canonical(const Context<Space::host>& ctx, const MatrixInput<double, Space::host>& input,
                                   const std::string& name, const FileLimits& limits) {
  check_proportion(name, input.rows(), "rows", input.values().size, limits.empty_rows);
  check_proportion(name, input.cols(), "columns", input.values().size, limits.empty_rows);
  Csr<double, Space::host> a;
  try {
    const AssembledMatrix<double, Space::host> assembled(ctx, input);
    const CsrView<double, Space::host> view = assembled.view();
    a.rows = view.rows;
    a.cols = view.cols;
    a.row_ptr = Array<Offset, Space::host>(ctx, Offset{view.rows} + 1);
    for (Index i = 0; i <= view.rows; ++i) a.row_ptr[i] = view.row_begin(i);
    a.col = copied(ctx, view.col);
    a.val = copied(ctx, view.val);
  } catch (const InputError& error) {
    throw InputError(LocatedText(name + ": ").append(error.message()));
  }
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      if (std::isfinite(a.val[k])) continue;
      throw InputError(LocatedText(name + ": expected a sum that a double can hold, found overflow in the entries "
                                          "repeated at row ")
                           .at(i)
                           .add(", column ")
                           .at(a.col[k])
                           .counted());
    }
  }
  return a;
}

MatrixFile full_matrix(const Context<Space::host>& ctx, std::int64_t rows, std::int64_t cols,
                       Array<double, Space::host> values, bool by_columns) {
  MatrixFile file;
  file.full = true;
  Csr<double, Space::host>& a = file.a;
  a.rows = static_cast<Index>(rows);
  a.cols = static_cast<Index>(cols);
  a.row_ptr = Array<Offset, Space::host>(ctx, rows + 1);
  for (std::int64_t i = 0; i <= rows; ++i) a.row_ptr[i] = i * cols;
  a.col = Array<Index, Space::host>(ctx, values.size());
  for (std::int64_t k = 0; k < values.size(); ++k) a.col[k] = static_cast<Index>(k % cols);
  if (!by_columns || cols == 1) {
    a.val = std::move(values);
    return file;
  }
  a.val = Array<double, Space::host>(ctx, values.size());
  for (std::int64_t j = 0; j < cols; ++j) {
    for (std::int64_t i = 0; i < rows; ++i) a.val[i * cols + j] = values[j * rows + i];
  }
  return file;
}

DenseColumns columns_of(const Context<Space::host>& ctx, MatrixFile file, const std::string& name) {
  const Csr<double, Space::host>& a = file.a;
  const bool upright = a.cols == 1;
  if (!file.full && !upright && a.rows != 1) {
    throw InputError(name + ": expected a vector, n x 1 or 1 x n, or an array, found a sparse matrix of " +
                     std::to_string(a.rows) + " x " + std::to_string(a.cols));
  }
  DenseColumns columns;
  columns.rows = upright || a.rows != 1 ? a.rows : a.cols;
  columns.cols = upright || a.rows == 1 ? 1 : a.cols;
  columns.from_row = !upright && a.rows == 1;
  const auto in_columns = [&](const Array<double, Space::host>& of_entries) {
    Array<double, Space::host> values(ctx, Offset{columns.rows} * columns.cols);
    std::fill(values.begin(), values.end(), 0.0);
    for (Index i = 0; i < a.rows; ++i) {
      for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
        values[columns.cols == 1 ? std::max(i, a.col[k]) : Offset{a.col[k]} * a.rows + i] = of_entries[k];
      }
    }
    return values;
  };
  columns.values = in_columns(a.val);
  if (!file.imaginary.empty()) columns.imaginary = in_columns(file.imaginary);
  return columns;
}

}  // namespace newel::detail
