// SPDX-License-Identifier: Apache-2.0
/// The data lines of a Matrix Market file, parsed in parallel into pieces that keep the order of the file.
#pragma once

#include <algorithm>
#include <vector>

#include "io/matrix_market/matrix_market_text.hpp"

namespace newel::detail {

/// One line of a coordinate file, 0-based.
struct Entry {
  Index row;
  Index col;
  double value;
};

/// The data of consecutive lines: entries of a coordinate file, or values of an array file.
struct Piece {
  std::vector<Entry> entries;
  std::vector<double> values;
  std::vector<double> imaginary;  ///< of a complex file: one for each entry or value
  bool below = false;  ///< an entry below the diagonal was met (filled for symmetric and skew-symmetric files)
  bool above = false;  ///< an entry above the diagonal was met

  Offset count() const { return static_cast<Offset>(entries.size() + values.size()); }
};

/// What tests make smaller.
struct ReadLimits {
  std::size_t piece_bytes = std::size_t{1} << 20;  ///< of text in one piece, at least; independent of the threads
  Offset empty_rows = 1000000;                     ///< rows that a matrix may have beyond 16 per entry
  Offset empty_values = 50000000;                  ///< the same for a vector: a load may act on few of many rows
};

/// Parses all data lines with the context's threads. Throws InputError for the first line that is wrong, for more or
/// fewer lines than the size line promises, and for an entry that a symmetric file gives in both triangles; throws
/// OutOfMemory where the entries, which take about twice the room of the matrix, would not fit.
std::vector<Piece> parse_pieces(const Context<Space::host>& ctx, const NamedText& text, const Preamble& preamble,
                                std::size_t piece_bytes);

}  // namespace newel::detail
