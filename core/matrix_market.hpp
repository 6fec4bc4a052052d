// SPDX-License-Identifier: Apache-2.0
/// Matrix Market files: the one place where untrusted input becomes arrays.
/// Format: R. Boisvert, R. Pozo, K. Remington, "The Matrix Market Exchange Formats: Initial Design", NISTIR 5935.
#pragma once

#include <string>
#include <string_view>

#include <purlin/core/csr.hpp>

namespace purlin {

/// What the banner of a file says.
struct MatrixMarketHeader {
  enum class Layout { coordinate, array };
  enum class Field { real, integer, pattern };
  enum class Symmetry { general, symmetric, skew_symmetric };
  Layout layout = Layout::coordinate;
  Field field = Field::real;
  Symmetry symmetry = Symmetry::general;
  Index rows = 0;
  Index cols = 0;
  Offset entries = 0;  ///< lines of data that the size line promises
};

/// Reads a matrix, `coordinate` or `array`, plain or gzipped (told by the content, not by the name). Symmetric and
/// skew-symmetric storage is expanded, repeated entries are summed, columns are sorted; entries of a pattern file
/// are 1. Exact zeros that the file holds are kept. Parses with the context's threads.
/// Throws InputError "FILE:LINE: expected ..., found ..." for everything that is not a well-formed file: wrong
/// banner or counts, index out of range, NaN, infinity or overflow, complex or hermitian values, a directory, a cut
/// gzip stream. Memory is never allocated on the header's word alone. Throws OutOfMemory.
Csr<double, Space::host> read_matrix(const Context<Space::host>& ctx, const std::string& path,
                                     MatrixMarketHeader* header = nullptr);

/// The same from text in memory; `name` stands for the file in messages.
Csr<double, Space::host> parse_matrix(const Context<Space::host>& ctx, std::string_view text,
                                      const std::string& name, MatrixMarketHeader* header = nullptr);

/// Reads an n x 1 or 1 x n matrix, `array` or `coordinate`, as a vector of n values. Errors as `read_matrix`.
Array<double, Space::host> read_vector(const Context<Space::host>& ctx, const std::string& path);
Array<double, Space::host> parse_vector(const Context<Space::host>& ctx, std::string_view text,
                                        const std::string& name);

/// Writes `matrix coordinate real general`, in row order, with the shortest digits that read back to the same
/// bits; gzipped when the name ends in ".gz". Written beside and renamed, so that no half file is left under the
/// name. Throws InputError when the file cannot be written.
template <class T>
void write_matrix(const std::string& path, const CsrView<T, Space::host>& a, std::string_view comment = {});

/// Writes `matrix array real general`, n x 1; otherwise as `write_matrix`.
template <class T>
void write_vector(const std::string& path, Span<const T, Space::host> x, std::string_view comment = {});

}  // namespace purlin
