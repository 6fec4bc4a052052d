// SPDX-License-Identifier: Apache-2.0
/// The reader of each format behind `parse_matrix_file`, from bytes that are unpacked and all in memory. Internal.
#pragma once

#include <string>
#include <string_view>

#include <newel/core/file_writer.hpp>
#include <newel/core/matrix_input.hpp>
#include <newel/io/matrix_file.hpp>
#include "io/matrix_market/matrix_market_text.hpp"
#include "io/npy.hpp"

namespace newel::detail {

/// What tests and the fuzz target make smaller.
struct FileLimits {
  Offset empty_rows = 1000000;  ///< rows, or columns, that a matrix may have beyond 16 per entry
};

/// Which of the objects of a PETSc file is wanted first.
enum class Wanted { matrix, columns };

MatrixFile parse_npz(const Context<Space::host>& ctx, std::string_view bytes, const std::string& name,
                     ValueKinds kinds = ValueKinds::real, const FileLimits& limits = {});
bool begins_as_petsc(std::string_view bytes);
MatrixFile parse_petsc(const Context<Space::host>& ctx, std::string_view bytes, const std::string& name,
                       Wanted wanted = Wanted::matrix, const FileLimits& limits = {});
MatrixFile parse_table(const Context<Space::host>& ctx, std::string_view text, const std::string& name);
MatrixFile full_npy(const Context<Space::host>& ctx, const NpyArray& array, ValueKinds kinds = ValueKinds::real);

/// A full matrix of rows x cols from the values of its rows one after the other, or of its columns.
MatrixFile full_matrix(const Context<Space::host>& ctx, std::int64_t rows, std::int64_t cols,
                       Array<double, Space::host> values, bool by_columns);

/// The canonical matrix of arrays in another form. Throws InputError with the name and the entry for the first bad
/// index, for sizes that are out of proportion to the entries, and where a sum of repeated entries overflows.
Csr<double, Space::host> canonical(const Context<Space::host>& ctx, const MatrixInput<double, Space::host>& input,
                                   const std::string& name, const FileLimits& limits);

/// The vectors that a matrix from a file stands for: columns of a full one, else the only column or row.
DenseColumns columns_of(const Context<Space::host>& ctx, MatrixFile file, const std::string& name);

template <class T>
void write_npz(FileWriter& file, const CsrView<T, Space::host>& a);
template <class T>
void write_npy(FileWriter& file, Span<const T, Space::host> x, Index cols);
template <class T>
void write_csv(FileWriter& file, Span<const T, Space::host> x, Index cols);
template <class T>
void write_petsc_matrix(FileWriter& file, const CsrView<T, Space::host>& a, const std::string& name);
template <class T>
void write_petsc_columns(FileWriter& file, Span<const T, Space::host> x, Index cols);

/// Throws InputError for a file of a kind that is not read; of MATLAB's with what converts it. Returns for others.
void refuse_matlab(std::string_view head, const std::string& name);

}  // namespace newel::detail
