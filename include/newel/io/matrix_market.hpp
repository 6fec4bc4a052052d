// SPDX-License-Identifier: Apache-2.0
/// Reads and writes Matrix Market files, and checks this untrusted input. Format: R. Boisvert, R. Pozo, K. Remington,
/// "The Matrix Market Exchange Formats: Initial Design", NISTIR 5935.
#pragma once

#include <string>
#include <string_view>

#include <newel/core/csr.hpp>

namespace newel {

class FileWriter;

/// The banner and size line of a file.
struct MatrixMarketHeader {
  /// Entries with their positions, or all values.
  enum class Layout { coordinate, array };
  /// Type of the values. SciPy's unsigned-integer counts as integer; entries of a pattern have the value 1.
  enum class Field { real, integer, pattern };
  /// Whether only one half is stored.
  enum class Symmetry { general, symmetric, skew_symmetric };
  Layout layout = Layout::coordinate;     ///< from the banner
  Field field = Field::real;              ///< from the banner
  Symmetry symmetry = Symmetry::general;  ///< from the banner
  Index rows = 0;                         ///< from the size line
  Index cols = 0;                         ///< from the size line
  Offset entries = 0;                     ///< number of data lines according to the size line
};

/// Reads a matrix, `coordinate` or `array`, plain or gzipped (detected from the content, not from the name). Repeated
/// entries are summed in file order, and columns are sorted. Entries of a pattern file are 1; integers above 2^53 are
/// rounded to the nearest double. Every entry of the file is kept, zeros included: an array file gives a full matrix,
/// so the pattern never depends on the values.
///
/// Symmetric and skew-symmetric storage is expanded. Entries may be below the diagonal, as the format defines, or
/// above it. An entry stored on both sides is refused, because programs disagree on whether it counts twice. The
/// diagonal of a skew-symmetric file is absent or zero.
///
/// A UTF-8 byte-order mark, blanks and empty lines may precede the banner. Comments and blank lines may appear
/// anywhere after it. Lines may end with LF, CR LF or CR. Numbers may have a leading + or a Fortran exponent
/// (1.5D+03), and may underflow to zero.
///
/// Parses with the context's threads; the result does not depend on their number. In addition to the matrix this uses
/// 16 bytes per data line, plus the text of those lines if it was gzipped or came from a pipe. A pipe, or another
/// file that is not regular, is read to its end.
///
/// Throws InputError "FILE:LINE: expected ..., found ..." for every file that is not well formed: a wrong banner
/// (other known file formats are named) or wrong counts, an index out of range, NaN, infinity or overflow, complex or
/// hermitian values, or text after a value. The line number is missing for a file that cannot be read, a directory,
/// or a truncated gzip stream. The header alone never causes a large allocation: more than 1,000,000 + 16 x entries
/// rows are refused. Throws OutOfMemory, estimated in advance. The file is mapped, so no other program may truncate
/// it meanwhile.
Csr<double, Space::host> read_matrix(const Context<Space::host>& ctx, const std::string& path,
                                     MatrixMarketHeader* header = nullptr);

/// The same from text in memory; `name` replaces the file name in messages.
Csr<double, Space::host> parse_matrix(const Context<Space::host>& ctx, std::string_view text, const std::string& name,
                                      MatrixMarketHeader* header = nullptr);

/// Reads an n x 1 or 1 x n matrix, `array` or `coordinate`, as a vector of n values. Values missing in a coordinate
/// file are 0; n may be at most 50,000,000 + 16 x entries. Errors as for `read_matrix`.
Array<double, Space::host> read_vector(const Context<Space::host>& ctx, const std::string& path);
Array<double, Space::host> parse_vector(const Context<Space::host>& ctx, std::string_view text,
                                        const std::string& name);

/// Vectors of the same length, stored one after another.
struct DenseColumns {
  Index rows = 0;                     ///< length of each vector
  Index cols = 0;                     ///< number of vectors
  bool from_row = false;              ///< one vector, from a matrix of 1 x n: n vectors of length 1, if that is meant
  Array<double, Space::host> values;  ///< rows x cols, column after column
};

/// Reads an n x k `array` as k vectors of length n. An n x 1 or 1 x n matrix of either layout is one vector, read
/// like `read_vector`. Errors as for `read_matrix`; a symmetric array of several columns is refused.
DenseColumns read_columns(const Context<Space::host>& ctx, const std::string& path);
DenseColumns parse_columns(const Context<Space::host>& ctx, std::string_view text, const std::string& name);

/// Writes `matrix coordinate real general` in row order, with the fewest digits that read back to the same bits;
/// gzipped if the name ends in ".gz". Each line of `comment` becomes a comment line. Writes to a temporary file and
/// renames it, so that no incomplete file remains; a file that is not regular, such as a pipe, is written directly.
/// Values that are not finite are written as nan and inf, which `read_matrix` refuses. Throws InputError if the file
/// cannot be written.
template <class T>
void write_matrix(const std::string& path, const CsrView<T, Space::host>& a, std::string_view comment = {});
/// The same with an open writer (newel/core/file_writer.hpp), for example for standard output; commits it.
template <class T>
void write_matrix(FileWriter& file, const CsrView<T, Space::host>& a, std::string_view comment = {});

/// Writes `matrix array real general`, n x 1; otherwise like `write_matrix`.
template <class T>
void write_vector(const std::string& path, Span<const T, Space::host> x, std::string_view comment = {});

/// Writes `matrix array real general`, rows x `cols`, from columns stored one after another; otherwise like
/// `write_matrix`. Throws InputError if `cols` does not divide the length.
template <class T>
void write_columns(const std::string& path, Span<const T, Space::host> x, Index cols, std::string_view comment = {});
/// The same with an open writer; commits it. Does not check whether `cols` divides the length.
template <class T>
void write_columns(FileWriter& file, Span<const T, Space::host> x, Index cols, std::string_view comment = {});

}  // namespace newel
