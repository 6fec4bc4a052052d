// SPDX-License-Identifier: Apache-2.0
/// Matrix Market files: the one place where untrusted input becomes arrays.
/// Format: R. Boisvert, R. Pozo, K. Remington, "The Matrix Market Exchange Formats: Initial Design", NISTIR 5935.
#pragma once

#include <string>
#include <string_view>

#include <newel/core/csr.hpp>

namespace newel {

class FileWriter;

/// What the banner of a file says.
struct MatrixMarketHeader {
  /// Entries with their places, or all values.
  enum class Layout { coordinate, array };
  /// Of the values; SciPy's unsigned-integer counts as integer, and the entries of a pattern are 1.
  enum class Field { real, integer, pattern };
  /// Whether one half stands for both.
  enum class Symmetry { general, symmetric, skew_symmetric };
  Layout layout = Layout::coordinate;     ///< as the banner says
  Field field = Field::real;              ///< as the banner says
  Symmetry symmetry = Symmetry::general;  ///< as the banner says
  Index rows = 0;                         ///< as the size line says
  Index cols = 0;                         ///< as the size line says
  Offset entries = 0;                     ///< lines of data that the size line promises
};

/// Reads a matrix, `coordinate` or `array`, plain or gzipped (recognised by the content, not by the name). Repeated
/// entries are summed in the order of the file, columns are sorted; entries of a pattern file are 1, integers beyond
/// 2^53 are rounded to the nearest double. Every entry of the file is kept, zeros too: an array file gives a full
/// matrix, so that the pattern never depends on the values.
///
/// Symmetric and skew-symmetric storage is expanded. Entries may stand below the diagonal, as the format has it, or
/// above; an entry that stands on both sides is refused, since programs differ on whether it counts twice. The
/// diagonal of a skew-symmetric file is absent or zero.
///
/// A byte-order mark of UTF-8, blanks and empty lines may stand before the banner, comments and blank lines anywhere
/// behind it. Lines may end with a carriage return, too, or with that alone. Numbers may have a leading +, a Fortran
/// exponent (1.5D+03), and may underflow to zero.
///
/// Parses with the context's threads; the result is the same for any number of them. In addition to the matrix this
/// takes 16 bytes per line of data, and the text of those lines where it was gzipped or came from a pipe. A pipe, or
/// another file that is no regular one, is read to its end.
///
/// Throws InputError "FILE:LINE: expected ..., found ..." for everything that is not a well-formed file: wrong
/// banner (files of a known other kind are named) or counts, index out of range, NaN, infinity or overflow, complex
/// or hermitian values, text behind a value; without a line for a file that cannot be read, a directory, a cut gzip
/// stream. Memory is never allocated on the header's word: more rows than 16 per entry and a million are refused.
/// Throws OutOfMemory, estimated beforehand. The file must not be shortened by somebody else meanwhile: it is mapped.
Csr<double, Space::host> read_matrix(const Context<Space::host>& ctx, const std::string& path,
                                     MatrixMarketHeader* header = nullptr);

/// The same from text in memory; `name` stands for the file in messages.
Csr<double, Space::host> parse_matrix(const Context<Space::host>& ctx, std::string_view text, const std::string& name,
                                      MatrixMarketHeader* header = nullptr);

/// Reads an n x 1 or 1 x n matrix, `array` or `coordinate`, as a vector of n values; what a coordinate file leaves
/// out is 0, where no more than 50 million and 16 per entry are asked for. Errors as `read_matrix`.
Array<double, Space::host> read_vector(const Context<Space::host>& ctx, const std::string& path);
Array<double, Space::host> parse_vector(const Context<Space::host>& ctx, std::string_view text,
                                        const std::string& name);

/// Vectors of the same length, one after the other.
struct DenseColumns {
  Index rows = 0;                     ///< values of a vector
  Index cols = 0;                     ///< vectors
  Array<double, Space::host> values;  ///< rows x cols, column after column
};

/// Reads an `array` of n x k as k vectors of length n; an n x 1 or 1 x n matrix of either layout is one vector, read
/// as by `read_vector`. Errors as `read_matrix`; a symmetric array of several columns is refused.
DenseColumns read_columns(const Context<Space::host>& ctx, const std::string& path);
DenseColumns parse_columns(const Context<Space::host>& ctx, std::string_view text, const std::string& name);

/// Writes `matrix coordinate real general`, in row order, with the shortest digits that read back to the same
/// bits; gzipped when the name ends in ".gz". Each line of `comment` becomes a comment line. Written to a temporary
/// file and renamed, so that no half file is left under the name; what is no regular file, such as a pipe, is written
/// directly. Values that are not finite are written as nan and inf, which no reader accepts. Throws InputError when
/// the file cannot be written.
template <class T>
void write_matrix(const std::string& path, const CsrView<T, Space::host>& a, std::string_view comment = {});
/// The same into a writer that is open (newel/core/file_writer.hpp), such as one of the standard output; commits.
template <class T>
void write_matrix(FileWriter& file, const CsrView<T, Space::host>& a, std::string_view comment = {});

/// Writes `matrix array real general`, n x 1; otherwise as `write_matrix`.
template <class T>
void write_vector(const std::string& path, Span<const T, Space::host> x, std::string_view comment = {});

/// Writes `matrix array real general`, rows x `cols`, from columns one after the other; otherwise as `write_matrix`.
/// Throws InputError where `cols` does not divide the length.
template <class T>
void write_columns(const std::string& path, Span<const T, Space::host> x, Index cols, std::string_view comment = {});
/// The same into a writer that is open; commits. Whether `cols` divides the length is not checked.
template <class T>
void write_columns(FileWriter& file, Span<const T, Space::host> x, Index cols, std::string_view comment = {});

}  // namespace newel
