// SPDX-License-Identifier: Apache-2.0
/// Matrices and vectors in files of all formats that Newel supports: Matrix Market, NumPy and SciPy (.npy, .npz),
/// PETSc's binary files, and text tables.
#pragma once

#include <complex>
#include <optional>
#include <string>
#include <string_view>

#include <newel/io/matrix_market.hpp>

namespace newel {

/// File formats, named by the suffix of the file name.
enum class FileFormat {
  matrix_market,  ///< .mtx, .mm
  npy,            ///< .npy
  npz,            ///< .npz
  petsc,          ///< .petsc, .bin
  csv             ///< .csv
};

/// The format for a file name's suffix, in upper or lower case, optionally followed by .gz; nullopt for other
/// suffixes.
std::optional<FileFormat> format_of_name(const std::string& path);

/// A matrix, and additional information from its file.
struct MatrixFile {
  Csr<double, Space::host> a;  ///< canonical
  bool full = false;           ///< from an array: all entries are stored, except the diagonal of a skew-symmetric one
  std::optional<MatrixMarketHeader> header;  ///< for Matrix Market files
  /// Imaginary parts of `a.val`, from a file with complex values (see `read_complex_matrix_file`); else empty.
  Array<double, Space::host> imaginary;
};

/// Reads a matrix. The format is detected from the content, gzipped or not:
///
/// * Matrix Market, see `read_matrix`;
/// * files of `scipy.sparse.save_npz`: csr, csc, coo, bsr and dia, compressed or not;
/// * one- and two-dimensional arrays of `numpy.save`, and archives of `numpy.savez` with a single array;
/// * PETSc's binary matrices, sparse or dense, with 32- or 64-bit indices:
///   the first matrix of the file, or the vector as a column if there is no matrix;
/// * tables: text with the suffix .csv or .txt, rows of numbers separated by commas, semicolons, blanks or tabs.
///   The character # starts a comment.
///
/// Integers and single precision are converted to double. Repeated entries are summed in file order, and columns are
/// sorted. Stored zeros are kept, except those of dia, which are padding.
///
/// Throws InputError, which names the file and the position (line, byte or entry), for every file that is not well
/// formed: truncated or inconsistent files, indices out of range, values that are complex or not finite, more than
/// 1,000,000 + 16 x entries rows or columns. For a MATLAB file the message gives a line of Python that converts it.
/// Throws OutOfMemory.
MatrixFile read_matrix_file(const Context<Space::host>& ctx, const std::string& path);
/// The same for the bytes of a file in memory; `name` replaces the file name in messages, and its suffix identifies
/// tables.
MatrixFile parse_matrix_file(const Context<Space::host>& ctx, std::string_view bytes, const std::string& name);

/// The same, and also complex values of Matrix Market files (general, symmetric, skew-symmetric or Hermitian) and of
/// NumPy's and SciPy's. `a` then has the real parts. The diagonal of a Hermitian file is real, that of a
/// skew-symmetric one absent or zero.
MatrixFile read_complex_matrix_file(const Context<Space::host>& ctx, const std::string& path);
MatrixFile parse_complex_matrix_file(const Context<Space::host>& ctx, std::string_view bytes,
                                     const std::string& name);

/// The matrix of a file with complex values; imaginary parts that the file does not have are zero.
Csr<std::complex<double>, Space::host> complex_matrix(const Context<Space::host>& ctx, MatrixFile file);

/// Reads vectors of the same length from these formats, like `read_columns` does for Matrix Market: the columns of an
/// array; n x 1 and 1 x n are one vector. From a PETSc file it reads the vector, even if matrices precede it; more
/// than one vector is refused.
DenseColumns read_columns_file(const Context<Space::host>& ctx, const std::string& path);
/// The same for bytes in memory.
DenseColumns parse_columns_file(const Context<Space::host>& ctx, std::string_view bytes, const std::string& name);

/// The same, and also complex values of Matrix Market and NumPy. `values` then has the real parts.
DenseColumns read_complex_columns_file(const Context<Space::host>& ctx, const std::string& path);
DenseColumns parse_complex_columns_file(const Context<Space::host>& ctx, std::string_view bytes,
                                        const std::string& name);
/// The columns of a file with complex values, one after another.
Array<std::complex<double>, Space::host> complex_columns(const Context<Space::host>& ctx,
                                                         const DenseColumns& columns);

/// Writes a matrix in the format of the name's suffix: Matrix Market, .npz like SciPy's save_npz for csr, or PETSc's
/// binary format. Values of type float stay in single precision in .npz. Otherwise like `write_matrix`: a complete
/// file or none, gzipped if the name ends in .gz. Throws InputError for other suffixes, and if the format cannot
/// store the matrix.
template <class T>
void write_matrix_file(const std::string& path, const CsrView<T, Space::host>& a);

/// Writes `cols` vectors, stored one after another in `x`, in the format of the name's suffix. Matrix Market; .npy,
/// one-dimensional for one vector; .csv, one line per row; PETSc's binary format, a vector, or a dense matrix for
/// several vectors. Throws InputError like `write_matrix_file`, and if `cols` does not divide the length.
template <class T>
void write_columns_file(const std::string& path, Span<const T, Space::host> x, Index cols);

/// The same for complex vectors: Matrix Market and .npy.
template <class T>
void write_complex_columns_file(const std::string& path, Span<const std::complex<T>, Space::host> x, Index cols);

/// The suffixes that `write_matrix_file` supports, as listed in messages.
inline constexpr const char* matrix_suffixes = ".mtx, .npz or .petsc";
/// The suffixes that `write_columns_file` supports.
inline constexpr const char* columns_suffixes = ".mtx, .npy, .csv or .petsc";
/// The suffixes that `write_complex_columns_file` supports.
inline constexpr const char* complex_columns_suffixes = ".mtx or .npy";

}  // namespace newel
