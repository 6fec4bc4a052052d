// SPDX-License-Identifier: Apache-2.0
// Matrices and vectors to Matrix Market text.
#include <algorithm>
#include <charconv>
#include <complex>

#include <newel/core/error.hpp>
#include <newel/core/file_writer.hpp>
#include <newel/io/matrix_market.hpp>
#include "core/text/number_parse.hpp"
#include "core/vectors/instantiate.hpp"

namespace newel {
namespace {

constexpr std::size_t longest_line = 96;  // two indices and the two longest doubles

template <class T>
constexpr const char* field_of = " real general\n";
template <class T>
constexpr const char* field_of<std::complex<T>> = " complex general\n";

void write_banner(FileWriter* file, const char* layout, const char* field, std::string_view comment) {
  file->write("%%MatrixMarket matrix ");
  file->write(layout);
  file->write(field);
  while (!comment.empty()) {
    const std::size_t length = std::min(comment.find('\n'), comment.size());
    file->write("% ");
    file->write(comment.substr(0, length));
    file->write("\n");
    comment.remove_prefix(std::min(length + 1, comment.size()));
  }
}

template <class Number>
char* append(char* p, Number number, char behind) {
  p = std::to_chars(p, p + longest_line, number).ptr;
  *p = behind;
  return p + 1;
}

// Readers take the text for a double and narrow it, which rounds twice: about one float in 10^9 has shortest digits
// that then end in its neighbour, and is written as the double that it is.
char* append(char* p, float number, char behind) {
  char* end = append<float>(p, number, behind);
  const detail::ParsedNumber back = detail::read_number(p, end);
  return static_cast<float>(back.value) == number || number != number
             ? end
             : append<double>(p, static_cast<double>(number), behind);
}

template <class T>
char* append(char* p, std::complex<T> value, char behind) {
  return append(append(p, value.real(), ' '), value.imag(), behind);
}

}  // namespace

template <class T>
void write_matrix(FileWriter& file, const CsrView<T, Space::host>& a, std::string_view comment) {
  write_banner(&file, "coordinate", field_of<T>, comment);
  char* p = file.reserve(2 * longest_line);
  p = append(p, a.rows, ' ');
  p = append(p, a.cols, ' ');
  file.advance(append(p, a.nnz(), '\n'));
  for (Index i = 0; i < a.rows; ++i) {
    const Offset end = a.row_begin(i + 1);
    for (Offset k = a.row_begin(i); k < end; ++k) {
      p = file.reserve(2 * longest_line);
      p = append(p, std::int64_t{i} + 1, ' ');
      p = append(p, std::int64_t{a.col[k]} + 1, ' ');
      file.advance(append(p, a.val[k], '\n'));
    }
  }
  file.commit();
}

template <class T>
void write_columns(FileWriter& file, Span<const T, Space::host> x, Index cols, std::string_view comment) {
  write_banner(&file, "array", field_of<T>, comment);
  char* p = file.reserve(2 * longest_line);
  p = append(p, x.size / cols, ' ');
  file.advance(append(p, cols, '\n'));
  for (const T value : x) file.advance(append(file.reserve(2 * longest_line), value, '\n'));
  file.commit();
}

template <class T>
void write_matrix(const std::string& path, const CsrView<T, Space::host>& a, std::string_view comment) {
  FileWriter file(path);
  write_matrix(file, a, comment);
}

template <class T>
void write_vector(const std::string& path, Span<const T, Space::host> x, std::string_view comment) {
  write_columns<T>(path, x, 1, comment);
}

template <class T>
void write_columns(const std::string& path, Span<const T, Space::host> x, Index cols, std::string_view comment) {
  if (cols < 1 || x.size % cols != 0) {
    throw InputError(path + ": " + std::to_string(x.size) + " values cannot be divided into " + std::to_string(cols) +
                     " columns");
  }
  FileWriter file(path);
  write_columns(file, x, cols, comment);
}

#define NEWEL_INSTANTIATE(T, SPACE)                                                              \
  template void write_matrix<T>(FileWriter&, const CsrView<T, SPACE>&, std::string_view);        \
  template void write_columns<T>(FileWriter&, Span<const T, SPACE>, Index, std::string_view);    \
  template void write_matrix<T>(const std::string&, const CsrView<T, SPACE>&, std::string_view); \
  template void write_vector<T>(const std::string&, Span<const T, SPACE>, std::string_view);     \
  template void write_columns<T>(const std::string&, Span<const T, SPACE>, Index, std::string_view);
NEWEL_FOR_TYPES(NEWEL_INSTANTIATE, ::newel::Space::host)
NEWEL_INSTANTIATE(std::complex<double>, ::newel::Space::host)
NEWEL_INSTANTIATE(std::complex<float>, ::newel::Space::host)
#undef NEWEL_INSTANTIATE

}  // namespace newel
