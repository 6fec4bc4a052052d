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

using Field = MatrixMarketHeader::Field;
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
    return header_.symmetry == Symmetry::general ? 0 : header_.symmetry == Symmetry::skew_symmetric ? col + 1 : col;
  }

  const MatrixMarketHeader& header_;
  Index row_ = 0;
  Index col_ = 0;
};

// The symmetry of the real or of the imaginary parts of a matrix.
Symmetry symmetry_of_part(Symmetry symmetry, bool imaginary) {
  if (symmetry != Symmetry::hermitian) return symmetry;
  return imaginary ? Symmetry::skew_symmetric : Symmetry::symmetric;
}

// A full matrix, from the real or from the imaginary parts. A skew-symmetric one has no diagonal, as the file does
// not store it.
Csr<double, Space::host> array_to_csr(const Context<Space::host>& ctx, const MatrixMarketHeader& header,
                                      const std::vector<Piece>& pieces, bool imaginary) {
  const bool skew = header.symmetry == Symmetry::skew_symmetric;
  const bool negated = symmetry_of_part(header.symmetry, imaginary) == Symmetry::skew_symmetric;
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
    for (const double value : imaginary ? pieces[p].imaginary : pieces[p].values) {
      store(place.row(), place.col(), value);
      if (header.symmetry != Symmetry::general && place.row() != place.col()) {
        store(place.col(), place.row(), negated ? -value : value);
      }
      place.advance();
    }
  });
  return a;
}

// The diagonal of a Hermitian array, which the pieces' parser does not know.
void check_diagonal(const MatrixMarketHeader& header, const Csr<double, Space::host>& imaginary,
                    const std::string& name) {
  if (header.symmetry != Symmetry::hermitian) return;
  for (Index i = 0; i < imaginary.rows; ++i) {
    const double value = imaginary.val[imaginary.row_ptr[i] + i];
    if (value == 0) continue;
    throw InputError(name +
                     ": expected only real values on the diagonal of a Hermitian matrix, found the imaginary " +
                     "part " + std::to_string(value) + " in row " + std::to_string(i + 1));
  }
}

// The same entries with their imaginary parts.
std::vector<Piece> imaginary_entries(const std::vector<Piece>& pieces) {
  std::vector<Piece> result(pieces.size());
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    result[p].entries = pieces[p].entries;
    for (std::size_t k = 0; k < result[p].entries.size(); ++k) result[p].entries[k].value = pieces[p].imaginary[k];
  }
  return result;
}

}  // namespace

MatrixFile parse_plain_file(const Context<Space::host>& ctx, const NamedText& text, ValueKinds kinds,
                            const ReadLimits& limits) {
  const Preamble preamble = read_preamble(text, kinds);
  std::vector<Piece> pieces = parse_pieces(ctx, text, preamble, limits.piece_bytes);
  const MatrixMarketHeader& said = preamble.header;
  check_proportion(text, preamble, said.rows, "rows", count_of(pieces), limits.empty_rows);
  MatrixFile file;
  file.header = said;
  file.full = said.layout == Layout::array;
  if (file.full) {
    file.a = array_to_csr(ctx, said, pieces, false);
    if (said.field != Field::complex) return file;
    Csr<double, Space::host> imaginary = array_to_csr(ctx, said, pieces, true);
    check_diagonal(said, imaginary, text.name);
    file.imaginary = std::move(imaginary.val);
    return file;
  }
  const auto matrix_of = [&](std::vector<Piece> part, bool imaginary) {
    return entries_to_csr(ctx, said.rows, said.cols, symmetry_of_part(said.symmetry, imaginary), std::move(part),
                          text.name);
  };
  if (said.field == Field::complex) file.imaginary = matrix_of(imaginary_entries(pieces), true).val;
  file.a = matrix_of(std::move(pieces), false);
  return file;
}

Csr<double, Space::host> parse_plain_matrix(const Context<Space::host>& ctx, const NamedText& text,
                                            MatrixMarketHeader* header, const ReadLimits& limits) {
  MatrixFile file = parse_plain_file(ctx, text, ValueKinds::real, limits);
  if (header != nullptr) *header = *file.header;
  return std::move(file.a);
}

namespace {

// One vector, from the real or from the imaginary parts.
Array<double, Space::host> vector_of(const Context<Space::host>& ctx, const NamedText& text,
                                     const std::vector<Piece>& pieces, Index length, bool upright, bool imaginary) {
  Array<double, Space::host> x(ctx, length);
  std::fill(x.begin(), x.end(), 0.0);
  Offset next = 0;
  for (const Piece& piece : pieces) {
    if (piece.entries.empty()) {
      for (const double value : imaginary ? piece.imaginary : piece.values) x[next++] = value;
    }
    for (std::size_t k = 0; k < piece.entries.size(); ++k) {
      const Entry& entry = piece.entries[k];
      double& sum = x[upright ? entry.row : entry.col];
      sum += imaginary ? piece.imaginary[k] : entry.value;
      if (!std::isfinite(sum)) {
        throw InputError(text.name +
                         ": expected a sum that a double can hold, found overflow in the entries repeated " +
                         "at row " + std::to_string(entry.row + 1) + ", column " + std::to_string(entry.col + 1));
      }
    }
  }
  return x;
}

DenseColumns one_vector(const Context<Space::host>& ctx, const NamedText& text, const Preamble& preamble,
                        const ReadLimits& limits) {
  const MatrixMarketHeader& said = preamble.header;
  if (said.cols != 1 && said.rows != 1) {
    throw_at(text, preamble.size_line, "a vector, n x 1 or 1 x n",
             std::to_string(said.rows) + " x " + std::to_string(said.cols));
  }
  const bool upright = said.cols == 1;
  const Index length = upright ? said.rows : said.cols;
  const std::vector<Piece> pieces = parse_pieces(ctx, text, preamble, limits.piece_bytes);
  check_proportion(text, preamble, length, upright ? "rows" : "columns", count_of(pieces), limits.empty_values);
  DenseColumns columns;
  columns.rows = length;
  columns.cols = 1;
  columns.from_row = !upright;
  columns.values = vector_of(ctx, text, pieces, length, upright, false);
  if (said.field == Field::complex) columns.imaginary = vector_of(ctx, text, pieces, length, upright, true);
  return columns;
}

}  // namespace

Array<double, Space::host> parse_plain_vector(const Context<Space::host>& ctx, const NamedText& text,
                                              const ReadLimits& limits) {
  return one_vector(ctx, text, read_preamble(text), limits).values;
}

DenseColumns parse_plain_columns(const Context<Space::host>& ctx, const NamedText& text, ValueKinds kinds,
                                 const ReadLimits& limits) {
  const Preamble preamble = read_preamble(text, kinds);
  const MatrixMarketHeader& said = preamble.header;
  if (said.cols == 1 || said.rows == 1) return one_vector(ctx, text, preamble, limits);
  DenseColumns columns;
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
  if (said.field != Field::complex) return columns;
  columns.imaginary = Array<double, Space::host>(ctx, columns.values.size());
  to = columns.imaginary.begin();
  for (const Piece& piece : pieces) to = std::copy(piece.imaginary.begin(), piece.imaginary.end(), to);
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
