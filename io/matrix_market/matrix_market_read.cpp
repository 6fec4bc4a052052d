// SPDX-License-Identifier: Apache-2.0
// Matrix Market text to a CSR matrix or a vector.
#include "io/matrix_market/matrix_market_read.hpp"

#include <algorithm>
#include <cmath>

#include <newel/core/error.hpp>
#include <newel/core/parallel.hpp>
#include "core/text/text_source.hpp"
#include "io/matrix_market/entries_to_csr.hpp"

namespace newel {
namespace detail {
namespace {

using Layout = MatrixMarketHeader::Layout;
using Symmetry = MatrixMarketHeader::Symmetry;

Offset count_of(const std::vector<Piece>& pieces) {
  Offset count = 0;
  for (const Piece& piece : pieces) count += piece.count();
  return count;
}

// Walks down the columns of an array file: which place its value number k belongs to.
class ArrayPlace {
 public:
  ArrayPlace(const MatrixMarketHeader& header, Offset number) : header_(header) {
    row_ = first_row(0);
    if (header.symmetry == Symmetry::general) {
      if (header.rows == 0) return;
      col_ = static_cast<Index>(number / header.rows);
      row_ = static_cast<Index>(number % header.rows);
      return;
    }
    for (Offset length; col_ < header.cols && number >= (length = header.rows - row_); number -= length) {
      row_ = first_row(++col_);
    }
    row_ += static_cast<Index>(number);
  }
  Index row() const { return row_; }
  Index col() const { return col_; }
  void advance() {
    if (++row_ == header_.rows) row_ = first_row(++col_);
  }

 private:
  Index first_row(Index col) const {
    return header_.symmetry == Symmetry::general ? 0 : header_.symmetry == Symmetry::symmetric ? col : col + 1;
  }

  const MatrixMarketHeader& header_;
  Index row_ = 0;
  Index col_ = 0;
};

// A full matrix. A skew-symmetric one has no diagonal, as the file does not store it.
Csr<double, Space::host> array_to_csr(const Context<Space::host>& ctx, const MatrixMarketHeader& header,
                                      const std::vector<Piece>& pieces) {
  const bool skew = header.symmetry == Symmetry::skew_symmetric;
  const Offset row_length = skew ? std::max<Offset>(Offset{header.cols} - 1, 0) : header.cols;
  Csr<double, Space::host> a;
  a.rows = header.rows;
  a.cols = header.cols;
  a.row_ptr = Array<Offset, Space::host>(ctx, Offset{header.rows} + 1);
  a.col = Array<Index, Space::host>(ctx, row_length * header.rows);
  a.val = Array<double, Space::host>(ctx, row_length * header.rows);
  for (Offset i = 0; i <= header.rows; ++i) a.row_ptr[i] = i * row_length;
  const auto store = [&](Index row, Index col, double value) {
    const Offset k = row * row_length + col - (skew && col > row ? 1 : 0);
    a.col[k] = col;
    a.val[k] = value;
  };
  std::vector<Offset> first(pieces.size() + 1, 0);
  for (std::size_t p = 0; p < pieces.size(); ++p) first[p + 1] = first[p] + pieces[p].count();
  parallel_tasks(ctx, pieces.size(), [&](std::size_t p) {
    ArrayPlace place(header, first[p]);
    for (const double value : pieces[p].values) {
      store(place.row(), place.col(), value);
      if (header.symmetry != Symmetry::general && place.row() != place.col()) {
        store(place.col(), place.row(), skew ? -value : value);
      }
      place.advance();
    }
  });
  return a;
}

}  // namespace

Csr<double, Space::host> parse_plain_matrix(const Context<Space::host>& ctx, const NamedText& text,
                                            MatrixMarketHeader* header, const ReadLimits& limits) {
  const Preamble preamble = read_preamble(text);
  std::vector<Piece> pieces = parse_pieces(ctx, text, preamble, limits.piece_bytes);
  const MatrixMarketHeader& said = preamble.header;
  check_proportion(text, preamble, said.rows, "rows", count_of(pieces), limits.empty_rows);
  if (header != nullptr) *header = said;
  if (said.layout == Layout::array) return array_to_csr(ctx, said, pieces);
  return entries_to_csr(ctx, said.rows, said.cols, said.symmetry, std::move(pieces), text.name);
}

Array<double, Space::host> parse_plain_vector(const Context<Space::host>& ctx, const NamedText& text,
                                              const ReadLimits& limits) {
  const Preamble preamble = read_preamble(text);
  const MatrixMarketHeader& said = preamble.header;
  if (said.cols != 1 && said.rows != 1) {
    throw_at(text, preamble.size_line, "a vector, n x 1 or 1 x n",
             std::to_string(said.rows) + " x " + std::to_string(said.cols));
  }
  const bool upright = said.cols == 1;
  const Index length = upright ? said.rows : said.cols;
  const std::vector<Piece> pieces = parse_pieces(ctx, text, preamble, limits.piece_bytes);
  check_proportion(text, preamble, length, upright ? "rows" : "columns", count_of(pieces), limits.empty_values);
  Array<double, Space::host> x(ctx, length);
  std::fill(x.begin(), x.end(), 0.0);
  Offset next = 0;
  for (const Piece& piece : pieces) {
    for (const double value : piece.values) x[next++] = value;
    for (const Entry& entry : piece.entries) {
      double& sum = x[upright ? entry.row : entry.col];
      sum += entry.value;
      if (!std::isfinite(sum)) {
        throw InputError(text.name +
                         ": expected a sum that a double can hold, found overflow in the entries repeated " +
                         "at row " + std::to_string(entry.row + 1) + ", column " + std::to_string(entry.col + 1));
      }
    }
  }
  return x;
}

DenseColumns parse_plain_columns(const Context<Space::host>& ctx, const NamedText& text, const ReadLimits& limits) {
  const Preamble preamble = read_preamble(text);
  const MatrixMarketHeader& said = preamble.header;
  DenseColumns columns;
  if (said.cols == 1 || said.rows == 1) {
    columns.values = parse_plain_vector(ctx, text, limits);
    columns.rows = static_cast<Index>(columns.values.size());
    columns.cols = 1;
    columns.from_row = said.cols != 1;
    return columns;
  }
  if (said.layout != Layout::array || said.symmetry != Symmetry::general) {
    throw_at(text, preamble.size_line, "a vector, n x 1 or 1 x n, or vectors, array real general n x k",
             std::to_string(said.rows) + " x " + std::to_string(said.cols) +
                 (said.layout == Layout::array ? ", array, not general" : ", coordinate"));
  }
  // The file goes column after column too.
  const std::vector<Piece> pieces = parse_pieces(ctx, text, preamble, limits.piece_bytes);
  columns.rows = said.rows;
  columns.cols = said.cols;
  columns.values = Array<double, Space::host>(ctx, Offset{said.rows} * said.cols);
  double* to = columns.values.begin();
  for (const Piece& piece : pieces) to = std::copy(piece.values.begin(), piece.values.end(), to);
  return columns;
}

}  // namespace detail

Csr<double, Space::host> read_matrix(const Context<Space::host>& ctx, const std::string& path,
                                     MatrixMarketHeader* header) {
  const auto source = detail::TextSource::open(ctx.memory()->resource(), path, detail::matrix_market_lines);
  return detail::parse_plain_matrix(ctx, {source.text(), path, source.left_out()}, header);
}

Csr<double, Space::host> parse_matrix(const Context<Space::host>& ctx, std::string_view text, const std::string& name,
                                      MatrixMarketHeader* header) {
  const auto source =
      detail::TextSource::from_memory(ctx.memory()->resource(), text, name, detail::matrix_market_lines);
  return detail::parse_plain_matrix(ctx, {source.text(), name, source.left_out()}, header);
}

Array<double, Space::host> read_vector(const Context<Space::host>& ctx, const std::string& path) {
  const auto source = detail::TextSource::open(ctx.memory()->resource(), path, detail::matrix_market_lines);
  return detail::parse_plain_vector(ctx, {source.text(), path, source.left_out()});
}

Array<double, Space::host> parse_vector(const Context<Space::host>& ctx, std::string_view text,
                                        const std::string& name) {
  const auto source =
      detail::TextSource::from_memory(ctx.memory()->resource(), text, name, detail::matrix_market_lines);
  return detail::parse_plain_vector(ctx, {source.text(), name, source.left_out()});
}

DenseColumns read_columns(const Context<Space::host>& ctx, const std::string& path) {
  const auto source = detail::TextSource::open(ctx.memory()->resource(), path, detail::matrix_market_lines);
  return detail::parse_plain_columns(ctx, {source.text(), path, source.left_out()});
}

DenseColumns parse_columns(const Context<Space::host>& ctx, std::string_view text, const std::string& name) {
  const auto source =
      detail::TextSource::from_memory(ctx.memory()->resource(), text, name, detail::matrix_market_lines);
  return detail::parse_plain_columns(ctx, {source.text(), name, source.left_out()});
}

}  // namespace newel
