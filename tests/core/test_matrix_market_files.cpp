// SPDX-License-Identifier: Apache-2.0
// Files: plain, gzipped, cut, missing, of another kind; and what is written reads back to the same bits.
#include "tests/core/matrix_market_support.hpp"
#include "tests/core/packed_text.hpp"

#include <sys/stat.h>

#include "io/matrix_market/matrix_market_text.hpp"
#include "core/text/text_source.hpp"

namespace {

// 5 x 4 with an empty row, awkward values and a -0.
template <class T>
Csr<T, Space::host> awkward(const HostContext& ctx) {
  using Limits = std::numeric_limits<T>;
  Csr<T, Space::host> a;
  a.rows = 5;
  a.cols = 4;
  a.row_ptr = make_array(ctx, std::vector<Offset>{0, 2, 2, 5, 8, 10});
  a.col = make_array(ctx, std::vector<Index>{0, 3, 0, 1, 2, 1, 2, 3, 0, 3});
  a.val = make_array(ctx, std::vector<T>{T(0.1), T(-0.0), Limits::max(), Limits::lowest(), Limits::min(),
                                         Limits::denorm_min(), T(1) / T(3), T(1e20), T(123456789), T(0)});
  return a;
}

}  // namespace

TEST_IN_FOLDER("gzip is told by its content, in files and in memory", "[matrix_market]") {
  const HostCsr expected = parse(small);
  CHECK(same_bits(plain(read_matrix(HostContext(2), folder.write("a.mtx", small))), expected));
  CHECK(same_bits(plain(read_matrix(HostContext(2), folder.write("b.mtx", pack(small)))), expected));
  CHECK(same_bits(plain(read_matrix(HostContext(2), folder.write("c.mtx.gz", small))), expected));
  const std::string members = pack(small.substr(0, 50)) + pack(small.substr(50));
  CHECK(same_bits(parse(members), expected));
  CHECK(same_bits(parse(members + std::string(512, '\0')), expected));
}

TEST_CASE("a text much longer than its gzip stream is inflated whole", "[matrix_market]") {
  std::string text = "%%MatrixMarket matrix array integer general\n300000 1\n";
  for (int i = 0; i < 300000; ++i) text += std::to_string(i % 3) + "\n";
  const Array<double, Space::host> x = parse_vector(HostContext(2), pack(text), "x.mtx.gz");
  REQUIRE(x.size() == 300000);
  CHECK(x[299999] == 2);
}

TEST_CASE("a cut or damaged gzip stream is refused, wherever it is cut", "[matrix_market]") {
  std::string long_comment = "%%MatrixMarket matrix coordinate real general\n";
  std::mt19937 random(5);
  for (int i = 0; i < 3000; ++i) long_comment += "% " + std::to_string(random()) + "\n";
  const std::string packed = pack(long_comment + "1 1 1\n1 1 1\n");
  for (std::size_t size = 2; size < packed.size(); size += 97) {
    CHECK(contains(parse_error(packed.substr(0, size)), "expected the whole gzip stream, found it cut short after "));
  }
  CHECK(contains(parse_error(packed.substr(0, packed.size() - 1)),
                 "expected the whole gzip stream, found it cut short after "));
  CHECK(contains(parse_error(packed + packed.substr(0, 20)),
                 "expected the whole gzip stream, found it cut short after "));
  std::string damaged = packed;
  damaged[packed.size() - 6] ^= 1;  // in the checksum
  CHECK(contains(parse_error(damaged), "expected an intact gzip stream, found damage after "));
  CHECK(parse_error(packed + "more") == "t.mtx: expected the end of the gzip stream, found 4 more bytes");
}

TEST_CASE("packed bytes that are no matrix are not inflated to their end", "[matrix_market]") {
  std::string zeros = pack(std::string(50000000, '\0'));
  zeros.resize(zeros.size() / 2);  // its cut end would be an error too
  CHECK(contains(parse_error(zeros), "t.mtx:1: expected the banner %%MatrixMarket, found '\\x00\\x00"));
}

TEST_CASE("a text that would not fit in memory is not inflated", "[matrix_market]") {
  const std::string packed = pack(small + std::string(100000000, '\n'));
  const auto anything = [](std::string_view, const std::string&) { return detail::TextLines::all; };
  const FixedMemory little(std::uint64_t{60} << 20);
  CHECK_THROWS_AS(detail::TextSource::from_memory(little, packed, "bomb", anything), OutOfMemory);
  const FixedMemory enough(std::uint64_t{600} << 20);
  CHECK(detail::TextSource::from_memory(enough, packed, "large", anything).text().size() == small.size() + 100000000);
}

TEST_IN_FOLDER("what is no readable file is refused by name", "[matrix_market]") {
  CHECK(read_error(folder.file("none.mtx")) ==
        "cannot open " + folder.file("none.mtx") + ": No such file or directory");
  CHECK(read_error(folder.path().string()) ==
        "cannot read " + folder.path().string() + ": expected a file, found a directory");
  CHECK(contains(read_error("/dev/zero"), "/dev/zero:1: expected the banner %%MatrixMarket, found '\\x00"));
  CHECK(read_error("/dev/null") == "/dev/null:1: expected the banner %%MatrixMarket, found an empty file");
  CHECK(read_error(folder.write("empty.mtx", "")) ==
        folder.file("empty.mtx") + ":1: expected the banner %%MatrixMarket, found an empty file");
  if (::geteuid() != 0) {
    const std::string locked = folder.write("locked.mtx", small);
    REQUIRE(::chmod(locked.c_str(), 0) == 0);
    CHECK(contains(read_error(locked), "Permission denied"));
  }
}

TEST_IN_FOLDER("a file that ends at the end of a page is read to its end", "[matrix_market]") {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  for (const std::string tail : {"2 2 2\n", "2 2 2", "2 2 2.5", "2 2 0.12345678", "2 2 1e5"}) {
    std::string text = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n%";
    text += std::string(page - text.size() - tail.size() - 1, 'c') + "\n" + tail;
    REQUIRE(text.size() == page);
    CHECK(read_matrix(HostContext(2), folder.write("page.mtx", text)).nnz() == 2);
    text.resize(page - tail.size());
    text.insert(50, tail.size(), '%');
    CHECK(contains(read_error(folder.write("page.mtx", text)), "expected"));
  }
}

TEST_IN_FOLDER("a matrix is written and read back to the same bits", "[matrix_market]") {
  const HostContext ctx(2);
  const Csr<double, Space::host> a = awkward<double>(ctx);
  for (const char* name : {"a.mtx", "a.mtx.gz"}) {
    write_matrix<double>(folder.file(name), a, "two lines\nof comment");
    CHECK(same_bits(plain(read_matrix(ctx, folder.file(name))), plain(a)));
  }
  CHECK(contains(
      file_content(folder.file("a.mtx")),
      "%%MatrixMarket matrix coordinate real general\n% two lines\n% of comment\n5 4 10\n1 1 0.1\n1 4 -0\n"));
  CHECK(file_content(folder.file("a.mtx.gz")).substr(0, 2) == "\x1f\x8b");
  const std::vector<std::int32_t> narrow = {0, 2, 2, 5, 8, 10};
  write_matrix<double>(
      folder.file("narrow.mtx"),
      CsrView<double, Space::host>(a.rows, a.cols, Span<const std::int32_t, Space::host>(narrow.data(), 6),
                                   a.col.span(), a.val.span()));
  CHECK(same_bits(plain(read_matrix(ctx, folder.file("narrow.mtx"))), plain(a)));
}

TEST_IN_FOLDER("single precision is written with its own shortest digits", "[matrix_market]") {
  const HostContext ctx(1);
  const Csr<float, Space::host> a = awkward<float>(ctx);
  write_matrix<float>(folder.file("a.mtx"), a);
  CHECK(contains(file_content(folder.file("a.mtx")), "\n1 1 0.1\n"));
  const auto back = read_matrix(ctx, folder.file("a.mtx"));
  REQUIRE(back.nnz() == a.nnz());
  for (Offset k = 0; k < a.nnz(); ++k) {
    CHECK(static_cast<float>(back.val[k]) == a.val[k]);
    CHECK(std::signbit(back.val[k]) == std::signbit(a.val[k]));
  }
}

TEST_IN_FOLDER("a float whose shortest digits round to its neighbour by way of a double survives",
               "[matrix_market]") {
  const std::uint32_t bits = 0x15ae43fd;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  REQUIRE(static_cast<float>(std::strtod("7.038531e-26", nullptr)) != value);  // and std::to_chars gives these digits
  write_vector<float>(folder.file("x.mtx"), {&value, 1});
  CHECK(static_cast<float>(read_vector(HostContext(1), folder.file("x.mtx"))[0]) == value);
}

TEST_IN_FOLDER("random vectors are written and read back to the same bits", "[matrix_market]") {
  const HostContext ctx(2);
  std::mt19937_64 random(9);
  std::vector<double> values;
  while (values.size() < 100000) {
    const std::uint64_t bits = random();
    double value;
    std::memcpy(&value, &bits, sizeof value);
    if (std::isfinite(value)) values.push_back(value);
  }
  const Span<const double, Space::host> x(values.data(), static_cast<std::int64_t>(values.size()));
  for (const char* name : {"x.mtx", "x.mtx.gz"}) {
    write_vector<double>(folder.file(name), x);
    CHECK(same_bits(plain(read_vector(ctx, folder.file(name))), values));
  }
  write_vector<float>(folder.file("empty.mtx"), {});
  CHECK(file_content(folder.file("empty.mtx")) == "%%MatrixMarket matrix array real general\n0 1\n");
  CHECK(read_vector(ctx, folder.file("empty.mtx")).empty());
}

TEST_IN_FOLDER("a file that cannot be written leaves nothing behind", "[matrix_market]") {
  const std::vector<double> values(500000, 0.123456789);
  const Span<const double, Space::host> x(values.data(), static_cast<std::int64_t>(values.size()));
  const auto write_error = [&](const std::string& path) {
    return input_error([&] { write_vector<double>(path, x); });
  };
  CHECK(contains(write_error(folder.file("none/x.mtx")), "cannot write " + folder.file("none/x.mtx") + ": No such"));
  CHECK(contains(write_error(folder.path().string()), "it is a directory"));
  CHECK(contains(write_error("/dev/full"), "No space left"));
  CHECK(write_error("/dev/null") == "");
  struct stat status = {};
  REQUIRE(::stat("/dev/null", &status) == 0);
  CHECK(S_ISCHR(status.st_mode));
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_IN_FOLDER("writing through a link keeps the link", "[matrix_market]") {
  const std::vector<double> values = {1, 2};
  std::filesystem::create_symlink(folder.write("real.mtx", "old"), folder.file("link.mtx"));
  write_vector<double>(folder.file("link.mtx"), {values.data(), 2});
  CHECK(std::filesystem::is_symlink(folder.file("link.mtx")));
  CHECK(read_vector(HostContext(1), folder.file("real.mtx")).size() == 2);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 2);
}

TEST_CASE("Columns of an array file come one after the other, and go back to the same bits") {
  const HostContext ctx(2);
  const std::string text = "%%MatrixMarket matrix array real general\n3 2\n1\n2\n3\n4.5\n-0\n1e-300\n";
  const DenseColumns columns = parse_columns(ctx, text, "B.mtx");
  CHECK(columns.rows == 3);
  CHECK(columns.cols == 2);
  CHECK(plain(columns.values) == std::vector<double>{1, 2, 3, 4.5, -0.0, 1e-300});
  // Vectors of either layout are one column.
  const DenseColumns row = parse_columns(ctx, "%%MatrixMarket matrix coordinate real general\n1 4 1\n1 2 7\n", "v");
  CHECK(row.rows == 4);
  CHECK(row.cols == 1);
  CHECK(plain(row.values) == std::vector<double>{0, 7, 0, 0});
  CHECK(contains(input_error([&] { parse_columns(ctx, small, "A.mtx"); }), "or vectors, array real general n x k"));
  CHECK(contains(
      input_error([&] { parse_columns(ctx, "%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n", "A.mtx"); }),
      "array, not general"));

  const TemporaryFolder folder;
  const std::string file = folder.file("X.mtx.gz");
  write_columns<double>(file, columns.values.cspan(), 2);
  const DenseColumns again = read_columns(ctx, file);
  CHECK(again.rows == 3);
  CHECK(again.cols == 2);
  CHECK(std::memcmp(again.values.data(), columns.values.data(), columns.values.bytes()) == 0);
  CHECK(contains(input_error([&] { write_columns<double>(file, columns.values.cspan(), 4); }),
                 "cannot be divided into 4 columns"));
}
