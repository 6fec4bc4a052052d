// SPDX-License-Identifier: Apache-2.0
// Sparse matrices as scipy.sparse.save_npz writes them, and archives of a single array.
#include <algorithm>
#include <complex>
#include <limits>
#include <type_traits>
#include <utility>

#include "core/vectors/instantiate.hpp"
#include "io/file_parsers.hpp"
#include "io/zip.hpp"

namespace newel::detail {
namespace {

using Input = MatrixInput<double, Space::host>;
using Doubles = Array<double, Space::host>;
using Integers = Array<std::int64_t, Space::host>;

class SparseArchive {
 public:
  SparseArchive(const Context<Space::host>& ctx, ZipArchive& archive, const std::string& name,
                const FileLimits& limits, ValueKinds kinds)
      : ctx_(ctx), archive_(archive), name_(name), limits_(limits), kinds_(kinds) {}

  bool is_complex() const { return kinds_ == ValueKinds::complex_too && array("data").is_complex(); }

  /// `part`: of complex values.
  Csr<double, Space::host> read(NumberPart part) {
    part_ = part;
    format_ = npy_text(array("format"));
    const Integers shape = npy_integers(ctx_, array("shape"));
    constexpr std::int64_t most = std::numeric_limits<Index>::max();
    if (shape.size() != 2) fail("a matrix, of 2 dimensions", std::to_string(shape.size()) + " dimensions");
    rows_ = shape[0];
    cols_ = shape[1];
    if (rows_ < 0 || cols_ < 0 || rows_ > most || cols_ > most) {
      fail("sizes up to " + std::to_string(most), std::to_string(rows_) + " x " + std::to_string(cols_));
    }
    if (format_ == "csr" || format_ == "csc") return compressed();
    if (format_ == "coo") return triplets();
    if (format_ == "bsr") return blocks();
    if (format_ == "dia") return diagonals();
    fail("the format csr, csc, coo, bsr or dia", "'" + format_ + "'");
  }

 private:
  NpyArray array(const std::string& member) const {
    return parse_npy(archive_.member(ctx_, member + ".npy"), name_ + ": " + member);
  }
  Integers integers(const std::string& member) const {
    const NpyArray found = array(member);
    if (found.shape.size() != 1) fail("'" + member + "' of 1 dimension", std::to_string(found.shape.size()));
    return npy_integers(ctx_, found);
  }
  // What 32 bits cannot hold is no row or column either, and is refused as -1 is.
  Array<Index, Space::host> narrowed(const Integers& wide) const {
    Array<Index, Space::host> narrow(ctx_, wide.size());
    for (std::int64_t i = 0; i < wide.size(); ++i) {
      narrow[i] = wide[i] < 0 || wide[i] > std::numeric_limits<Index>::max() ? -1 : static_cast<Index>(wide[i]);
    }
    return narrow;
  }
  NpyArray data(std::size_t dimensions) const {
    NpyArray found = array("data");
    if (found.shape.size() != dimensions) {
      fail("'data' of " + std::to_string(dimensions) + " dimensions", std::to_string(found.shape.size()));
    }
    if (found.by_columns && dimensions > 1) fail("'data' in C order", "Fortran order");
    return found;
  }
  Doubles values_of(const NpyArray& found) const {
    const bool complex = kinds_ == ValueKinds::complex_too && found.is_complex();
    return complex ? npy_part(ctx_, found, part_) : npy_doubles(ctx_, found);
  }
  // The other parts; empty: there are none.
  Doubles others_of(const NpyArray& found) const {
    if (!found.is_complex()) return {};
    return npy_part(ctx_, found, part_ == NumberPart::real ? NumberPart::imaginary : NumberPart::real);
  }
  [[noreturn]] void fail(const std::string& expected, const std::string& found) const {
    throw InputError(name_ + ": expected " + expected + ", found " + found);
  }

  Csr<double, Space::host> compressed() const {
    const Integers pointers = integers("indptr");
    const Array<Index, Space::host> indices = narrowed(integers("indices"));
    const Doubles values = values_of(data(1));
    return canonical(ctx_,
                     format_ == "csr" ? Input::csr(rows_, cols_, pointers, indices, values)
                                      : Input::csc(rows_, cols_, pointers, indices, values),
                     name_, limits_);
  }

  Csr<double, Space::host> triplets() const {
    const std::vector<std::string> members = archive_.names();
    const bool together = std::find(members.begin(), members.end(), "coords.npy") != members.end();
    const Doubles values = values_of(data(1));
    if (!together)
      return canonical(ctx_, Input::coo(rows_, cols_, integers("row"), integers("col"), values), name_, limits_);
    const NpyArray coords = array("coords");
    const std::int64_t count = values.size();
    if (coords.shape != std::vector<std::int64_t>{2, count} || coords.by_columns) {
      fail("'coords' of 2 x " + std::to_string(count), "another shape");
    }
    const Integers places = npy_integers(ctx_, coords);
    return canonical(ctx_,
                     Input::coo(rows_, cols_, IndexSpan<Space::host>(places.data(), count),
                                IndexSpan<Space::host>(places.data() + count, count), values),
                     name_, limits_);
  }

  // Blocks of r x c, which need not be square.
  Csr<double, Space::host> blocks() const {
    const Integers pointers = integers("indptr"), indices = integers("indices");
    const NpyArray found = data(3);
    const std::int64_t r = found.shape[1], c = found.shape[2], count = found.shape[0];
    if (r < 1 || c < 1 || rows_ % r != 0 || cols_ % c != 0) {
      fail("blocks that divide " + std::to_string(rows_) + " x " + std::to_string(cols_),
           std::to_string(r) + " x " + std::to_string(c));
    }
    if (pointers.size() != rows_ / r + 1)
      fail(std::to_string(rows_ / r + 1) + " numbers in 'indptr'", std::to_string(pointers.size()));
    if (indices.size() != count)
      fail(std::to_string(count) + " numbers in 'indices'", std::to_string(indices.size()));
    const Doubles values = values_of(found);
    Integers row(ctx_, values.size()), col(ctx_, values.size());
    std::int64_t block = 0, k = 0;
    for (std::int64_t i = 0; i < rows_ / r; ++i) {
      const std::int64_t end = pointers[i + 1];
      if (pointers[i] != block || end < block || end > count)
        fail("pointers that never decrease and stay within the blocks", "others in 'indptr'");
      for (; block < end; ++block) {
        const std::int64_t j = indices[block];
        if (j < 0 || j >= cols_ / c) fail("block columns below " + std::to_string(cols_ / c), std::to_string(j));
        for (std::int64_t inner = 0; inner < r * c; ++inner, ++k) {
          row[k] = i * r + inner / c;
          col[k] = j * c + inner % c;
        }
      }
    }
    if (block != count)
      fail("a last pointer at the end of the blocks", std::to_string(count - block) + " blocks after it");
    return canonical(ctx_, Input::coo(rows_, cols_, row, col, values), name_, limits_);
  }

  // Value j of diagonal d stands in column j. Zeros are what fills short diagonals up, and are left out as SciPy
  // does.
  Csr<double, Space::host> diagonals() const {
    const Integers offsets = integers("offsets");
    const NpyArray found = data(2);
    const std::int64_t length = found.shape[1];
    if (found.shape[0] != offsets.size()) {
      fail(std::to_string(offsets.size()) + " rows in 'data'", std::to_string(found.shape[0]));
    }
    const Doubles values = values_of(found), others = others_of(found);
    std::vector<Index> row, col;
    std::vector<double> kept;
    for (std::int64_t d = 0; d < offsets.size(); ++d) {
      if (offsets[d] < -rows_ || offsets[d] > cols_) continue;
      const std::int64_t begin = std::max<std::int64_t>(0, offsets[d]);
      const std::int64_t end = std::min({length, cols_, rows_ + offsets[d]});
      for (std::int64_t j = begin; j < end; ++j) {
        const double value = values[d * length + j];
        if (value == 0 && (others.empty() || others[d * length + j] == 0)) continue;
        row.push_back(static_cast<Index>(j - offsets[d]));
        col.push_back(static_cast<Index>(j));
        kept.push_back(value);
      }
    }
    const Span<const double, Space::host> span(kept.data(), static_cast<std::int64_t>(kept.size()));
    return canonical(ctx_, Input::coo(rows_, cols_, row, col, span), name_, limits_);
  }

  const Context<Space::host>& ctx_;
  ZipArchive& archive_;
  const std::string& name_;
  const FileLimits& limits_;
  ValueKinds kinds_;
  NumberPart part_ = NumberPart::real;
  std::string format_;
  std::int64_t rows_ = 0, cols_ = 0;
};

template <class Number>
std::string_view bytes_of(const std::vector<Number>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)};
}

template <class Number>
inline constexpr bool is_complex_type = !std::is_arithmetic_v<Number>;

template <class Number>
std::string descr_of() {
  const char kind = is_complex_type<Number> ? 'c' : std::is_floating_point_v<Number> ? 'f' : 'i';
  return std::string(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "<" : ">") + kind + std::to_string(sizeof(Number));
}

template <class Number>
void add_array(ZipWriter& zip, const char* name, const Number* data, std::int64_t size) {
  zip.add(name, npy_header(descr_of<Number>(), false, {size}),
          {reinterpret_cast<const char*>(data), static_cast<std::size_t>(size) * sizeof(Number)});
}

}  // namespace

MatrixFile parse_npz(const Context<Space::host>& ctx, std::string_view bytes, const std::string& name,
                     ValueKinds kinds, const FileLimits& limits) {
  ZipArchive archive(bytes, name);
  const std::vector<std::string> members = archive.names();
  const auto has = [&](const char* member) {
    return std::find(members.begin(), members.end(), member) != members.end();
  };
  if (has("format.npy")) {
    MatrixFile file;
    SparseArchive sparse(ctx, archive, name, limits, kinds);
    file.a = sparse.read(NumberPart::real);
    if (sparse.is_complex()) file.imaginary = std::move(sparse.read(NumberPart::imaginary).val);
    return file;
  }
  if (members.size() == 1 && members[0].size() > 4 && members[0].compare(members[0].size() - 4, 4, ".npy") == 0) {
    return full_npy(ctx, parse_npy(archive.member(ctx, members[0]), name), kinds);
  }
  std::string list;
  for (std::size_t i = 0; i < std::min<std::size_t>(members.size(), 5); ++i) list += (i > 0 ? ", " : "") + members[i];
  throw InputError(name +
                   ": expected a file written by scipy.sparse.save_npz, or a single array, found an archive of " +
                   (members.empty() ? "nothing" : list + (members.size() > 5 ? ", ..." : "")));
}

MatrixFile full_npy(const Context<Space::host>& ctx, const NpyArray& array, ValueKinds kinds) {
  if (array.shape.empty() || array.shape.size() > 2) {
    throw InputError(array.name + ": expected an array of 1 or 2 dimensions, found " +
                     std::to_string(array.shape.size()));
  }
  const std::int64_t cols = array.shape.size() == 2 ? array.shape[1] : 1;
  const auto full = [&](Doubles values) {
    return full_matrix(ctx, array.shape[0], cols, std::move(values), array.by_columns);
  };
  if (kinds == ValueKinds::real || !array.is_complex()) return full(npy_doubles(ctx, array));
  MatrixFile file = full(npy_part(ctx, array, NumberPart::real));
  file.imaginary = std::move(full(npy_part(ctx, array, NumberPart::imaginary)).a.val);
  return file;
}

template <class T>
void write_npz(FileWriter& file, const CsrView<T, Space::host>& a) {
  ZipWriter zip(file);
  add_array(zip, "indices.npy", a.col.data, a.col.size);
  // SciPy wants pointers and columns of one type; those of the columns suffice for most matrices.
  if (a.nnz() <= std::numeric_limits<Index>::max()) {
    std::vector<Index> pointers(static_cast<std::size_t>(a.rows) + 1);
    for (Index i = 0; i <= a.rows; ++i) pointers[static_cast<std::size_t>(i)] = static_cast<Index>(a.row_begin(i));
    add_array(zip, "indptr.npy", pointers.data(), static_cast<std::int64_t>(pointers.size()));
  } else {
    std::vector<Offset> pointers(static_cast<std::size_t>(a.rows) + 1);
    for (Index i = 0; i <= a.rows; ++i) pointers[static_cast<std::size_t>(i)] = a.row_begin(i);
    add_array(zip, "indptr.npy", pointers.data(), static_cast<std::int64_t>(pointers.size()));
  }
  zip.add("format.npy", npy_header("|S3", false, {}), "csr");
  const std::vector<std::int64_t> shape = {a.rows, a.cols};
  zip.add("shape.npy", npy_header(descr_of<std::int64_t>(), false, {2}), bytes_of(shape));
  add_array(zip, "data.npy", a.val.data, a.val.size);
  zip.add("_is_array.npy", npy_header("|b1", false, {}), std::string_view("\x01", 1));
  zip.finish();
  file.commit();
}

template <class T>
void write_npy(FileWriter& file, Span<const T, Space::host> x, Index cols) {
  const std::int64_t rows = x.size / cols;
  const std::vector<std::int64_t> shape =
      cols == 1 ? std::vector<std::int64_t>{rows} : std::vector<std::int64_t>{rows, cols};
  file.write(npy_header(descr_of<T>(), cols > 1, shape));
  file.write({reinterpret_cast<const char*>(x.data), static_cast<std::size_t>(x.size) * sizeof(T)});
  file.commit();
}

#define X(T, S)                                                  \
  template void write_npz<T>(FileWriter&, const CsrView<T, S>&); \
  template void write_npy<T>(FileWriter&, Span<const T, S>, Index);
NEWEL_FOR_TYPES(X, ::newel::Space::host)
#undef X
#define X(T, S) template void write_npy<std::complex<T>>(FileWriter&, Span<const std::complex<T>, S>, Index);
NEWEL_FOR_TYPES(X, ::newel::Space::host)
#undef X

}  // namespace newel::detail
