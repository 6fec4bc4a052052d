// SPDX-License-Identifier: Apache-2.0
/// Matrices and vectors in files of every format that Newel knows: Matrix Market, NumPy and SciPy (.npy, .npz),
/// PETSc's binary files, and tables of text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <newel/io/matrix_market.hpp>

namespace newel {

/// The formats by the suffix of a file's name.
enum class FileFormat {
  matrix_market,  ///< .mtx, .mm
  npy,            ///< .npy
  npz,            ///< .npz
  petsc,          ///< .petsc, .bin
  csv             ///< .csv
};

/// What the suffix of a name stands for, in upper or lower case, followed by .gz or not; nothing for others.
std::optional<FileFormat> format_of_name(const std::string& path);

/// A matrix, and what its file says beyond that.
struct MatrixFile {
  Csr<double, Space::host> a;  ///< canonical
  bool full = false;           ///< an array: of all entries, but for the diagonal of a skew-symmetric one
  std::optional<MatrixMarketHeader> header;  ///< of a Matrix Market file
};

/// Reads a matrix. The format is recognised by the content, gzipped or not:
///
/// * Matrix Market, see `read_matrix`;
/// * what `scipy.sparse.save_npz` writes: csr, csc, coo, bsr and dia, packed or not;
/// * `numpy.save`'s arrays of one and two dimensions, and `numpy.savez`'s archives of a single one;
/// * PETSc's binary matrices, sparse or dense, with indices of 32 or 64 bits:
///   the first of a file; in a file without one, the vector as a column;
/// * tables: text with the suffix .csv or .txt, rows of numbers with commas, semicolons, blanks or tabs between them,
///   # before comments.
///
/// Integers and single precision become double; repeated entries are summed in the order of the file, columns are
/// sorted, and zeros that are stored are kept, but for those of dia, which are its padding.
///
/// Throws InputError that names the file and the place (a line, a byte, an entry) for everything that is not well
/// formed: truncated or lying files, indices out of range, values that are not finite or are complex, more rows than
/// 16 per entry and a million. A file of MATLAB is answered with the line of Python that converts it. Throws
/// OutOfMemory.
MatrixFile read_matrix_file(const Context<Space::host>& ctx, const std::string& path);
/// The same for the bytes of a file in memory; `name` stands for it in messages, and its suffix counts for tables.
MatrixFile parse_matrix_file(const Context<Space::host>& ctx, std::string_view bytes, const std::string& name);

/// Reads vectors of the same length from a file of these formats, as `read_columns` does from Matrix Market: the
/// columns of an array; n x 1 and 1 x n are one vector. Of a PETSc file the vector that is in it, whatever matrices
/// stand before; more than one is refused.
DenseColumns read_columns_file(const Context<Space::host>& ctx, const std::string& path);
/// The same for bytes in memory.
DenseColumns parse_columns_file(const Context<Space::host>& ctx, std::string_view bytes, const std::string& name);

/// Writes a matrix in the format of the name's suffix: Matrix Market, .npz as SciPy's save_npz writes csr, or PETSc's
/// binary format. Values of float stay so in .npz. Otherwise as `write_matrix`: whole or not at all, gzipped with .gz
/// at the end. Throws InputError for other suffixes, and for a matrix that the format cannot hold.
template <class T>
void write_matrix_file(const std::string& path, const CsrView<T, Space::host>& a);

/// Writes `cols` vectors, one after the other in `x`, in the format of the name's suffix: Matrix Market; .npy, of one
/// dimension where there is one vector; .csv, a line for each row; PETSc's binary format, a vector, or a dense matrix
/// of several. Throws InputError as `write_matrix_file`, and where `cols` does not divide the length.
template <class T>
void write_columns_file(const std::string& path, Span<const T, Space::host> x, Index cols);

/// The suffixes that `write_matrix_file` knows, as messages list them.
inline constexpr const char* matrix_suffixes = ".mtx, .npz or .petsc";
/// Those that `write_columns_file` knows.
inline constexpr const char* columns_suffixes = ".mtx, .npy, .csv or .petsc";

}  // namespace newel
