// SPDX-License-Identifier: Apache-2.0
// PETSc's binary files, written here byte by byte as MatView and VecView describe them.
#include "tests/io/io_support.hpp"

namespace {

constexpr std::int32_t matrix_mark = 1211216, vector_mark = 1211214;
const std::vector<PlainEntry> expected{{0, 0, 1}, {0, 2, 2}, {1, 1, 3.5}, {2, 0, -4}};

template <class I, class V>
std::string matrix() {
  return BigEndian()
      .template put_all<I>({matrix_mark, 3, 3, 4})
      .template put_all<I>({2, 1, 1})
      .template put_all<I>({2, 0, 1, 0})  // not sorted
      .template put_all<V>({2, 1, 3.5, -4})
      .bytes();
}

template <class I, class V>
std::string vector_of(const std::vector<V>& values) {
  return BigEndian()
      .template put_all<I>({vector_mark, static_cast<I>(values.size())})
      .template put_all<V>(values)
      .bytes();
}

std::vector<PlainEntry> entries(const std::string& bytes) {
  return entries_of(parse_matrix_file(HostContext(1), bytes, "m.petsc").a);
}

std::vector<double> columns(const std::string& bytes) {
  return values_of(parse_columns_file(HostContext(1), bytes, "m.petsc").values);
}

std::string complaint(const std::string& bytes) {
  return message_of<InputError>([&] { parse_matrix_file(HostContext(1), bytes, "m.petsc"); });
}

}  // namespace

TEST_CASE("PETSc's matrices are read with both widths of indices", "[io][petsc]") {
  CHECK(entries(matrix<std::int32_t, double>()) == expected);
  CHECK(entries(matrix<std::int64_t, double>()) == expected);
}

TEST_CASE("PETSc's vectors and dense matrices are read", "[io][petsc]") {
  CHECK(columns(vector_of<std::int32_t, double>({1, -2.5, 3})) == std::vector<double>{1, -2.5, 3});
  CHECK(columns(vector_of<std::int64_t, double>({1, -2.5, 3})) == std::vector<double>{1, -2.5, 3});
  CHECK(columns(vector_of<std::int32_t, double>({})).empty());
  const std::string dense =
      BigEndian().put_all<std::int32_t>({matrix_mark, 2, 3, -1}).put_all<double>({1, 2, 3, 4, 5, 6}).bytes();
  CHECK(columns(dense) == std::vector<double>{1, 4, 2, 5, 3, 6});
  CHECK(entries(dense)[1] == PlainEntry{0, 1, 2});
}

TEST_CASE("a file of a matrix and a right-hand side gives each to who asks for it", "[io][petsc]") {
  const std::string both = matrix<std::int32_t, double>() + vector_of<std::int32_t, double>({7, 8, 9});
  CHECK(entries(both) == expected);
  CHECK(columns(both) == std::vector<double>{7, 8, 9});
  const std::string three = both + vector_of<std::int32_t, double>({1, 2, 3});
  CHECK(message_of<InputError>([&] { columns(three); }) ==
        "m.petsc: expected one vector, found 2 (store several right-hand sides as one dense matrix)");
}

TEST_CASE("a lying PETSc file is refused with its place", "[io][petsc]") {
  const std::string good = matrix<std::int32_t, double>();
  for (std::size_t length = 0; length < good.size(); ++length) {
    INFO(length);
    CHECK(!complaint(good.substr(0, length)).empty());
  }
  CHECK(complaint(good + "1234").find("m.petsc: byte 76: expected the end of the file or another object") == 0);
  const auto with = [&](std::size_t place, std::int32_t value) {
    std::string bad = good;
    return bad.replace(place, 4, BigEndian().put(value).bytes());
  };
  CHECK(contains(complaint(with(4, -1)), "byte 8: expected a number of rows from 0 to 2147483647, found -1"));
  CHECK(contains(complaint(with(12, 2000000000)), "a number of entries that the file can hold"));
  CHECK(contains(complaint(with(16, 3)), "row lengths that sum to 4"));
  CHECK(contains(complaint(with(20, -1)), "found -1 in row 2"));
  CHECK(complaint(with(28, 3)).find("m.petsc: entry 0") == 0);
  CHECK(contains(complaint(with(8, 2000000000)), "for so few entries"));
  const std::string dense = BigEndian().put_all<std::int32_t>({matrix_mark, 2000000000, 2000000000, -1}).bytes();
  CHECK(contains(complaint(dense), "a dense matrix that the file can hold"));
  CHECK(contains(complaint(matrix<std::int32_t, float>()), "expected values of double precision"));
  const std::string complex =
      BigEndian().put_all<std::int32_t>({vector_mark, 2}).put_all<double>({1, 0, 2, 0}).bytes();
  CHECK(contains(complaint(complex), "complex ones, which are not supported"));
}
