// SPDX-License-Identifier: Apache-2.0
// PETSc's binary files: objects one behind the other, big-endian, with indices of 32 or 64 bits, which the file does
// not name. Format: PETSc, MatLoad and VecLoad.
#include <limits>
#include <optional>

#include "core/vectors/instantiate.hpp"
#include "io/byte_reader.hpp"
#include "io/file_parsers.hpp"

namespace newel::detail {
namespace {

constexpr auto big = ByteOrder::big;
constexpr std::int32_t matrix_mark = 1211216, vector_mark = 1211214;
constexpr std::int64_t dense = -1;  // instead of the number of entries

bool is_mark(std::int64_t number) { return number == matrix_mark || number == vector_mark; }

// Bytes of an index in a file that begins so; 0 for other files. The first number has as many as all others.
int index_bytes_of(std::string_view bytes) {
  if (bytes.size() >= 4 && is_mark(load<std::int32_t>(bytes.data(), big))) return 4;
  if (bytes.size() >= 8 && is_mark(load<std::int64_t>(bytes.data(), big))) return 8;
  return 0;
}

// An object of the file, measured.
struct Object {
  bool matrix = false, is_dense = false;
  std::int64_t rows = 0, cols = 1, entries = 0;
  std::string_view lengths, columns, values;
};

class PetscReader {
 public:
  PetscReader(const Context<Space::host>& ctx, std::string_view bytes, const std::string& name,
              const FileLimits& limits)
      : ctx_(ctx), bytes_(bytes), limits_(limits), reader_(bytes, name), index_bytes_(index_bytes_of(bytes)) {}

  std::vector<Object> objects() {
    std::vector<Object> all;
    while (reader_.left() > 0) all.push_back(next());
    return all;
  }

  MatrixFile read(const Object& object) const {
    Array<double, Space::host> values = read_values(object);
    if (!object.matrix) return full_matrix(ctx_, object.rows, 1, std::move(values), false);
    if (object.is_dense) return full_matrix(ctx_, object.rows, object.cols, std::move(values), false);
    Array<std::int64_t, Space::host> pointers(ctx_, object.rows + 1);
    pointers[0] = 0;
    for (std::int64_t i = 0; i < object.rows; ++i) pointers[i + 1] = pointers[i] + index(object.lengths, i);
    Array<Index, Space::host> columns(ctx_, object.entries);
    for (std::int64_t k = 0; k < object.entries; ++k) {
      const std::int64_t column = index(object.columns, k);
      columns[k] = column < 0 || column > std::numeric_limits<Index>::max() ? -1 : static_cast<Index>(column);
    }
    MatrixFile file;
    file.a =
        canonical(ctx_, MatrixInput<double, Space::host>::csr(object.rows, object.cols, pointers, columns, values),
                  reader_.name(), limits_);
    return file;
  }

 private:
  std::int64_t index(std::string_view from, std::int64_t i) const {
    const char* at = from.data() + i * index_bytes_;
    return index_bytes_ == 4 ? load<std::int32_t>(at, big) : load<std::int64_t>(at, big);
  }
  std::int64_t number(const char* what) {
    return index_bytes_ == 4 ? reader_.number<std::int32_t>(big, what) : reader_.number<std::int64_t>(big, what);
  }
  std::int64_t size(const char* what) {
    const std::int64_t value = number(what);
    if (value < 0 || value > std::numeric_limits<Index>::max()) {
      reader_.fail(std::string(what) + " from 0 to " + std::to_string(std::numeric_limits<Index>::max()),
                   std::to_string(value));
    }
    return value;
  }

  Object next() {
    Object object;
    const std::int64_t mark = number("an object");
    if (!is_mark(mark))
      reader_.fail("a matrix (1211216), a vector (1211214) or the end of the file", std::to_string(mark));
    object.matrix = mark == matrix_mark;
    object.rows = size(object.matrix ? "a number of rows" : "a length");
    if (!object.matrix) {
      object.entries = object.rows;
    } else {
      object.cols = size("a number of columns");
      object.entries = number("a number of entries");
      object.is_dense = object.entries == dense;
      if (object.is_dense) {
        object.entries = object.rows * object.cols;
      } else {
        take_pattern(object);
      }
    }
    take_values(object);
    return object;
  }

  void take_pattern(Object& object) {
    const auto room = static_cast<std::int64_t>(reader_.left()) / index_bytes_;
    if (object.entries < 0 || object.entries > room) {
      reader_.fail("a number of entries that the file can hold", std::to_string(object.entries));
    }
    object.lengths = reader_.take(static_cast<std::uint64_t>(object.rows) * index_bytes_, "lengths of rows");
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < object.rows; ++i) {
      const std::int64_t length = index(object.lengths, i);
      if (length < 0 || length > object.entries - sum) {
        reader_.fail("row lengths that sum to " + std::to_string(object.entries),
                     std::to_string(length) + " in row " + std::to_string(i + 1));
      }
      sum += length;
    }
    if (sum != object.entries) {
      reader_.fail("row lengths that sum to " + std::to_string(object.entries), std::to_string(sum));
    }
    object.columns = reader_.take(static_cast<std::uint64_t>(object.entries) * index_bytes_, "columns");
  }

  // Behind the values the file ends, or another object follows; what they are of otherwise shows by their bytes.
  void take_values(Object& object) {
    const auto fits = [&](int bytes) {
      const auto count = static_cast<std::uint64_t>(object.entries), each = static_cast<std::uint64_t>(bytes);
      if (count > reader_.left() / each) return false;
      const std::string_view rest = bytes_.substr(reader_.at() + static_cast<std::size_t>(count * each));
      return rest.empty() || index_bytes_of(rest) == index_bytes_;
    };
    const auto count = static_cast<std::uint64_t>(object.entries);
    if (object.is_dense && count > reader_.left() / 4) {
      reader_.fail("a dense matrix that the file can hold",
                   std::to_string(object.rows) + " x " + std::to_string(object.cols));
    }
    if (fits(8)) {
      object.values = reader_.take(8 * count, "values");
    } else if (fits(4)) {
      // A file of double precision that was cut in the middle of its values looks the same.
      reader_.fail("values of double precision", "a file size that fits single precision");
    } else if (fits(16)) {
      reader_.fail("real values", "complex ones, which are not supported");
    } else {
      reader_.take(8 * count, "values");
      reader_.fail("the end of the file or another object", "other bytes");
    }
  }

  Array<double, Space::host> read_values(const Object& object) const {
    NpyArray array;
    array.name = reader_.name();
    array.order = big;
    array.shape = {object.entries};
    array.data = object.values;
    return npy_doubles(ctx_, array);
  }

  const Context<Space::host>& ctx_;
  std::string_view bytes_;
  const FileLimits& limits_;
  ByteReader reader_;
  int index_bytes_;
};

void write_index(FileWriter& file, std::int64_t value) {
  std::string bytes;
  append_bytes(bytes, static_cast<std::int32_t>(value), big);
  file.write(bytes);
}

void write_value(FileWriter& file, double value) {
  std::string bytes;
  append_bytes(bytes, value, big);
  file.write(bytes);
}

}  // namespace

bool begins_as_petsc(std::string_view bytes) { return index_bytes_of(bytes) != 0; }

MatrixFile parse_petsc(const Context<Space::host>& ctx, std::string_view bytes, const std::string& name,
                       Wanted wanted, const FileLimits& limits) {
  PetscReader reader(ctx, bytes, name, limits);
  const std::vector<Object> objects = reader.objects();
  const Object* matrix = nullptr;
  const Object* vector = nullptr;
  int vectors = 0;
  for (const Object& object : objects) {
    if (object.matrix && matrix == nullptr) matrix = &object;
    if (!object.matrix && vector == nullptr) vector = &object;
    vectors += object.matrix ? 0 : 1;
  }
  const bool takes_vector = vector != nullptr && (wanted == Wanted::columns || matrix == nullptr);
  if (takes_vector && vectors > 1) {
    throw InputError(name + ": expected one vector, found " + std::to_string(vectors) +
                     " (store several right-hand sides as one dense matrix)");
  }
  return reader.read(takes_vector ? *vector : *matrix);
}

template <class T>
void write_petsc_matrix(FileWriter& file, const CsrView<T, Space::host>& a, const std::string& name) {
  if (a.nnz() > std::numeric_limits<std::int32_t>::max()) {
    throw InputError("cannot write " + name + ": PETSc's 32-bit indices cannot number " + std::to_string(a.nnz()) +
                     " entries");
  }
  for (const std::int64_t number : {std::int64_t{matrix_mark}, std::int64_t{a.rows}, std::int64_t{a.cols}, a.nnz()}) {
    write_index(file, number);
  }
  for (Index i = 0; i < a.rows; ++i) write_index(file, a.row_begin(i + 1) - a.row_begin(i));
  for (const Index column : a.col) write_index(file, column);
  for (const T value : a.val) write_value(file, static_cast<double>(value));
  file.commit();
}

template <class T>
void write_petsc_columns(FileWriter& file, Span<const T, Space::host> x, Index cols) {
  const std::int64_t rows = x.size / cols;
  write_index(file, cols == 1 ? vector_mark : matrix_mark);
  write_index(file, rows);
  if (cols > 1) {
    write_index(file, cols);
    write_index(file, dense);
  }
  for (std::int64_t i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) write_value(file, static_cast<double>(x[j * rows + i]));
  }
  file.commit();
}

#define X(T, S)                                                                               \
  template void write_petsc_matrix<T>(FileWriter&, const CsrView<T, S>&, const std::string&); \
  template void write_petsc_columns<T>(FileWriter&, Span<const T, S>, Index);
NEWEL_FOR_TYPES(X, ::newel::Space::host)
#undef X

}  // namespace newel::detail
