// SPDX-License-Identifier: Apache-2.0
// Files that SciPy and NumPy wrote (make_files.py), against the values in words of this test.
#include "tests/io/io_support.hpp"

#include <zlib.h>

namespace {

std::string file(const std::string& name) { return std::string(NEWEL_IO_FILES) + "/" + name; }

MatrixFile read(const std::string& name) { return read_matrix_file(HostContext(2), file(name)); }

std::vector<PlainEntry> expected(double sign_of_last = -1) {
  return {{0, 0, 1}, {0, 2, 4}, {1, 1, 3}, {2, 4, 4}, {3, 0, 5}, {3, 5, 7 * sign_of_last}};
}

std::vector<PlainEntry> without_zeros(const std::vector<PlainEntry>& entries) {
  std::vector<PlainEntry> kept;
  for (const PlainEntry& e : entries) {
    if (e.value != 0) kept.push_back(e);
  }
  return kept;
}

}  // namespace

TEST_CASE("every format of save_npz is the same matrix", "[io][npz]") {
  for (const char* name :
       {"csr.npz", "csr_packed.npz", "csc.npz", "csc_packed.npz", "coo.npz", "coo_packed.npz", "dia.npz",
        "dia_packed.npz", "csr_int8.npz", "csr_int64.npz", "csr_float32.npz", "csr_wide.npz", "csr_unsorted.npz"}) {
    INFO(name);
    const MatrixFile found = read(name);
    CHECK(found.a.rows == 4);
    CHECK(found.a.cols == 6);
    CHECK(entries_of(found.a) == expected());
    CHECK_FALSE(found.full);
  }
  CHECK(entries_of(read("csr_uint16.npz").a) == expected(1));
}

TEST_CASE("blocks of bsr are read whole, square or not", "[io][npz]") {
  for (const auto& [name, stored] : std::vector<std::pair<std::string, std::size_t>>{
           {"bsr_2x2.npz", 16}, {"bsr_2x3.npz", 18}, {"bsr_4x1.npz", 20}}) {
    INFO(name);
    const MatrixFile found = read(name);
    CHECK(entries_of(found.a).size() == stored);
    CHECK(without_zeros(entries_of(found.a)) == expected());
  }
}

TEST_CASE("arrays of NumPy are read in both orders and every type", "[io][npy]") {
  const HostContext ctx(1);
  for (const char* name : {"vector.npy", "column.npy", "row.npy", "single_array.npz"}) {
    INFO(name);
    const DenseColumns found = read_columns_file(ctx, file(name));
    CHECK(found.rows == 3);
    CHECK(found.cols == 1);
    CHECK(values_of(found.values) == std::vector<double>{1.5, -2.5, 3.5});
  }
  for (const char* name : {"by_rows.npy", "by_columns.npy", "big_endian.npy"}) {
    INFO(name);
    const DenseColumns found = read_columns_file(ctx, file(name));
    CHECK(found.rows == 3);
    CHECK(found.cols == 2);
    CHECK(values_of(found.values) == std::vector<double>{-1.5, 0.5, 2.5, -0.5, 1.5, 3.5});
    const MatrixFile matrix = read(name);
    CHECK(matrix.full);
    CHECK(values_of(matrix.a.val) == std::vector<double>{-1.5, -0.5, 0.5, 1.5, 2.5, 3.5});
  }
  CHECK(values_of(read_columns_file(ctx, file("half.npy")).values) ==
        std::vector<double>{1.5, -0.25, 5.9604644775390625e-08, 65504});
  CHECK(values_of(read_columns_file(ctx, file("truth.npy")).values) == std::vector<double>{1, 0, 1});
  CHECK(values_of(read_columns_file(ctx, file("unsigned.npy")).values) ==
        std::vector<double>{0, 18446744073709551616.0});
}

TEST_CASE("what no matrix of real numbers is, is refused in words", "[io]") {
  const auto words_of = [](const char* name) { return message_of<InputError>([&] { read(name); }); };
  CHECK(contains(words_of("csr_complex.npz"), "complex values are not supported"));
  CHECK(contains(words_of("complex.npy"), "complex values are not supported"));
  CHECK(contains(words_of("three_dimensions.npy"), "expected an array of 1 or 2 dimensions, found 3"));
  CHECK(contains(words_of("records.npy"), "(structured arrays are not supported)"));
  CHECK(contains(words_of("objects.npy"), "Python objects"));
  CHECK(words_of("nan.npy") == file("nan.npy") + ": value 2: expected a finite number, found nan");
  CHECK(contains(words_of("two_arrays.npz"), "a.npy, b.npy"));
  const HostContext ctx(1);
  CHECK(contains(message_of<InputError>([&] { read_columns_file(ctx, file("csr.npz")); }),
                 "found a sparse matrix of 4 x 6"));
}

TEST_CASE("Matrix Market, packed files and pipes are recognised by their content", "[io]") {
  const HostContext ctx(1);
  const TemporaryFolder folder;
  const std::string text =
      "%%MatrixMarket matrix coordinate real symmetric\n% words\n\n2 2 2\n1 1 4\n% more\n2 1 -1\n";
  const MatrixFile found = read_matrix_file(ctx, folder.write("a.npz", text));  // whatever its name
  CHECK(entries_of(found.a) == std::vector<PlainEntry>{{0, 0, 4}, {0, 1, -1}, {1, 0, -1}});
  REQUIRE(found.header);
  CHECK(found.header->symmetry == MatrixMarketHeader::Symmetry::symmetric);
  for (const std::string& content : {text, file_content(file("csr_packed.npz")), file_content(file("by_rows.npy"))}) {
    const std::string packed = folder.file("packed.gz");
    const gzFile out = gzopen(packed.c_str(), "wb");
    gzwrite(out, content.data(), static_cast<unsigned>(content.size()));
    gzclose(out);
    const auto wanted = entries_of(parse_matrix_file(ctx, content, "plain").a);
    CHECK(entries_of(read_matrix_file(ctx, packed).a) == wanted);
    CHECK(entries_of(parse_matrix_file(ctx, file_content(packed), "packed").a) == wanted);
  }
}

TEST_CASE("tables of text are read by their suffix, with commas, blanks and comments", "[io][table]") {
  const HostContext ctx(1);
  for (const char* text :
       {"1,2.5\n-3,4e1\n5,6\n", "# x y\n1 2.5\r\n-3\t40 # end\n\n  5   6", "1;2.5\n-3; 0.4D+02\n+5 , 6\n"}) {
    INFO(text);
    const DenseColumns found = parse_columns_file(ctx, text, "table.csv");
    CHECK(found.rows == 3);
    CHECK(values_of(found.values) == std::vector<double>{1, -3, 5, 2.5, 40, 6});
    CHECK(values_of(parse_columns_file(ctx, text, "table.TXT").values) == values_of(found.values));
  }
  CHECK(values_of(parse_columns_file(ctx, "1\n2\n3", "b.txt").values) == std::vector<double>{1, 2, 3});
  CHECK(message_of<InputError>([&] { parse_matrix_file(ctx, "1,2\n3\n", "t.csv"); }) ==
        "t.csv:2: expected 2 numbers, as in the lines before, found 1");
  CHECK(message_of<InputError>([&] { parse_matrix_file(ctx, "x,y\n1,2\n", "t.csv"); }) ==
        "t.csv:1: expected a finite number, found 'x,y'");
  CHECK(message_of<InputError>([&] { parse_matrix_file(ctx, "1,2\n3,nan\n", "t.csv"); }) ==
        "t.csv:2: expected a finite number, found 'nan'");
  CHECK(message_of<InputError>([&] { parse_matrix_file(ctx, "1,,2\n", "t.csv"); }).find("t.csv:1: expected a") == 0);
  CHECK(message_of<InputError>([&] {
          parse_matrix_file(ctx, "1,2,\n", "t.csv");
        }).find("t.csv:1: expected a number after the comma") == 0);
  CHECK(contains(message_of<InputError>([&] { parse_matrix_file(ctx, "# nothing\n", "t.csv"); }), "found none"));
  CHECK(contains(message_of<InputError>([&] { parse_matrix_file(ctx, "1 2\n", "b.dat"); }),
                 "expected the banner %%MatrixMarket"));
}
