// SPDX-License-Identifier: Apache-2.0
// Which reader the content of a file asks for, and which writer the suffix of a name.
#include <newel/io/matrix_file.hpp>

#include "core/vectors/instantiate.hpp"
#include "io/matrix_market/matrix_market_read.hpp"
#include "core/text/text_source.hpp"
#include "io/file_parsers.hpp"
#include "io/zip.hpp"

namespace newel {
namespace detail {
namespace {

enum class Content { matrix_market, npy, zip, petsc, table };

// The last suffix of a name without .gz, in lower case.
std::string suffix_of(const std::string& path) {
  std::string name = path;
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (name.size() > 3 && name.compare(name.size() - 3, 3, ".gz") == 0) name.resize(name.size() - 3);
  const std::size_t dot = name.find_last_of("./");
  return dot == std::string::npos || name[dot] == '/' ? "" : name.substr(dot);
}

// Throws for what is none of them, in the words of the reader of Matrix Market.
Content content_of(std::string_view head, const std::string& name) {
  if (begins_as_npy(head)) return Content::npy;
  if (begins_as_petsc(head)) return Content::petsc;
  // Archives of other things are named by that reader.
  const bool of_numpy = head.substr(0, 512).find(".npy") != std::string_view::npos || suffix_of(name) == ".npz";
  if (begins_as_zip(head) && of_numpy) return Content::zip;
  const std::string suffix = suffix_of(name);
  const bool may_be_table = suffix == ".csv" || suffix == ".txt";
  if (may_be_table && !begins_as_matrix_market(head)) {
    refuse_matlab(head, name);
    return Content::table;
  }
  if (!begins_as_matrix_market(head)) refuse_matlab(head, name);
  check_banner_start(head, name);
  return Content::matrix_market;
}

TextLines lines_of(std::string_view head, const std::string& name) {
  return content_of(head, name) == Content::matrix_market ? TextLines::without_comments : TextLines::all;
}

MatrixFile parse_content(const Context<Space::host>& ctx, const NamedText& text, Wanted wanted, ValueKinds kinds) {
  switch (content_of(text.text, text.name)) {
    case Content::npy:
      return full_npy(ctx, parse_npy(text.text, text.name), kinds);
    case Content::zip:
      return parse_npz(ctx, text.text, text.name, kinds);
    case Content::petsc:
      return parse_petsc(ctx, text.text, text.name, wanted);
    case Content::table:
      return parse_table(ctx, text.text, text.name);
    default:
      break;
  }
  return parse_plain_file(ctx, text, kinds);
}

DenseColumns parse_content_columns(const Context<Space::host>& ctx, const NamedText& text, ValueKinds kinds) {
  if (content_of(text.text, text.name) == Content::matrix_market) return parse_plain_columns(ctx, text, kinds);
  return columns_of(ctx, parse_content(ctx, text, Wanted::columns, kinds), text.name);
}

TextSource source_of(const Context<Space::host>& ctx, std::string_view bytes, const std::string& name) {
  return TextSource::from_memory(ctx.memory()->resource(), bytes, name, lines_of);
}

TextSource source_of(const Context<Space::host>& ctx, const std::string& path) {
  return TextSource::open(ctx.memory()->resource(), path, lines_of);
}

[[noreturn]] void refuse_suffix(const std::string& path, const char* what, const char* suffixes) {
  throw InputError("cannot write " + path + ": expected a name for " + what + " that ends in " + suffixes +
                   ", or in one of these and .gz");
}

}  // namespace
}  // namespace detail

std::optional<FileFormat> format_of_name(const std::string& path) {
  const std::string suffix = detail::suffix_of(path);
  if (suffix == ".mtx" || suffix == ".mm") return FileFormat::matrix_market;
  if (suffix == ".npy") return FileFormat::npy;
  if (suffix == ".npz") return FileFormat::npz;
  if (suffix == ".petsc" || suffix == ".bin") return FileFormat::petsc;
  if (suffix == ".csv") return FileFormat::csv;
  return std::nullopt;
}

namespace {

using detail::ValueKinds;

MatrixFile matrix_of(const Context<Space::host>& ctx, const detail::TextSource& source, const std::string& name,
                     ValueKinds kinds) {
  return detail::parse_content(ctx, {source.text(), name, source.left_out()}, detail::Wanted::matrix, kinds);
}

DenseColumns columns_of(const Context<Space::host>& ctx, const detail::TextSource& source, const std::string& name,
                        ValueKinds kinds) {
  return detail::parse_content_columns(ctx, {source.text(), name, source.left_out()}, kinds);
}

Array<std::complex<double>, Space::host> joined(const Context<Space::host>& ctx, const Array<double, Space::host>& re,
                                                const Array<double, Space::host>& im) {
  Array<std::complex<double>, Space::host> z(ctx, re.size());
  for (std::int64_t k = 0; k < z.size(); ++k) z[k] = {re[k], im.empty() ? 0.0 : im[k]};
  return z;
}

void require_columns(const std::string& path, std::int64_t values, Index cols) {
  if (cols >= 1 && values % cols == 0) return;
  throw InputError(path + ": " + std::to_string(values) + " values cannot be divided into " + std::to_string(cols) +
                   " columns");
}

}  // namespace

MatrixFile read_matrix_file(const Context<Space::host>& ctx, const std::string& path) {
  return matrix_of(ctx, detail::source_of(ctx, path), path, ValueKinds::real);
}
MatrixFile parse_matrix_file(const Context<Space::host>& ctx, std::string_view bytes, const std::string& name) {
  return matrix_of(ctx, detail::source_of(ctx, bytes, name), name, ValueKinds::real);
}
MatrixFile read_complex_matrix_file(const Context<Space::host>& ctx, const std::string& path) {
  return matrix_of(ctx, detail::source_of(ctx, path), path, ValueKinds::complex_too);
}
MatrixFile parse_complex_matrix_file(const Context<Space::host>& ctx, std::string_view bytes,
                                     const std::string& name) {
  return matrix_of(ctx, detail::source_of(ctx, bytes, name), name, ValueKinds::complex_too);
}

DenseColumns read_columns_file(const Context<Space::host>& ctx, const std::string& path) {
  return columns_of(ctx, detail::source_of(ctx, path), path, ValueKinds::real);
}
DenseColumns parse_columns_file(const Context<Space::host>& ctx, std::string_view bytes, const std::string& name) {
  return columns_of(ctx, detail::source_of(ctx, bytes, name), name, ValueKinds::real);
}
DenseColumns read_complex_columns_file(const Context<Space::host>& ctx, const std::string& path) {
  return columns_of(ctx, detail::source_of(ctx, path), path, ValueKinds::complex_too);
}
DenseColumns parse_complex_columns_file(const Context<Space::host>& ctx, std::string_view bytes,
                                        const std::string& name) {
  return columns_of(ctx, detail::source_of(ctx, bytes, name), name, ValueKinds::complex_too);
}

Csr<std::complex<double>, Space::host> complex_matrix(const Context<Space::host>& ctx, MatrixFile file) {
  Csr<std::complex<double>, Space::host> a;
  a.rows = file.a.rows;
  a.cols = file.a.cols;
  a.val = joined(ctx, file.a.val, file.imaginary);
  a.row_ptr = std::move(file.a.row_ptr);
  a.col = std::move(file.a.col);
  return a;
}

Array<std::complex<double>, Space::host> complex_columns(const Context<Space::host>& ctx,
                                                         const DenseColumns& columns) {
  return joined(ctx, columns.values, columns.imaginary);
}

template <class T>
void write_matrix_file(const std::string& path, const CsrView<T, Space::host>& a) {
  const std::optional<FileFormat> format = format_of_name(path);
  if (!format || *format == FileFormat::npy || *format == FileFormat::csv) {
    detail::refuse_suffix(path, "a matrix", matrix_suffixes);
  }
  FileWriter file(path);
  if (*format == FileFormat::npz) return detail::write_npz(file, a);
  if (*format == FileFormat::petsc) return detail::write_petsc_matrix(file, a, path);
  write_matrix(file, a);
}

template <class T>
void write_columns_file(const std::string& path, Span<const T, Space::host> x, Index cols) {
  const std::optional<FileFormat> format = format_of_name(path);
  if (!format || *format == FileFormat::npz) detail::refuse_suffix(path, "vectors", columns_suffixes);
  if (*format == FileFormat::matrix_market) return write_columns<T>(path, x, cols);
  require_columns(path, x.size, cols);
  FileWriter file(path);
  if (*format == FileFormat::npy) return detail::write_npy<T>(file, x, cols);
  if (*format == FileFormat::csv) return detail::write_csv<T>(file, x, cols);
  detail::write_petsc_columns<T>(file, x, cols);
}

#define X(T, S)                                                                 \
  template void write_matrix_file<T>(const std::string&, const CsrView<T, S>&); \
  template void write_columns_file<T>(const std::string&, Span<const T, S>, Index);
NEWEL_FOR_TYPES(X, ::newel::Space::host)
#undef X

template <class T>
void write_complex_columns_file(const std::string& path, Span<const std::complex<T>, Space::host> x, Index cols) {
  const std::optional<FileFormat> format = format_of_name(path);
  if (format == FileFormat::matrix_market) return write_columns<std::complex<T>>(path, x, cols);
  if (format != FileFormat::npy) detail::refuse_suffix(path, "complex vectors", complex_columns_suffixes);
  require_columns(path, x.size, cols);
  FileWriter file(path);
  detail::write_npy<std::complex<T>>(file, x, cols);
}

#define X(T, S) \
  template void write_complex_columns_file<T>(const std::string&, Span<const std::complex<T>, S>, Index);
NEWEL_FOR_TYPES(X, ::newel::Space::host)
#undef X

}  // namespace newel
