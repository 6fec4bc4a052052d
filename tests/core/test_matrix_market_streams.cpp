// SPDX-License-Identifier: Apache-2.0
// Matrices that come by pipe, with other ends of lines, behind a mark or among gigabytes of comments; and files of
// other kinds, which are named.
#include "tests/core/matrix_market_support.hpp"
#include "tests/core/packed_text.hpp"

#include <sys/stat.h>

#include <csignal>
#include <future>

#include "io/matrix_market/matrix_market_text.hpp"
#include "core/text/text_source.hpp"

TEST_IN_FOLDER("a pipe is read to its end, gzipped or not, and lines keep their numbers", "[matrix_market]") {
  std::signal(SIGPIPE, SIG_IGN);
  const std::string pipe = folder.file("pipe");
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const auto through_pipe = [&](const std::string& bytes, auto&& read) {
    // Waited for also where reading throws, which ends the pipe before all is written.
    const auto writer = std::async(std::launch::async, [&] { std::ofstream(pipe, std::ios::binary) << bytes; });
    return read();
  };
  std::string text = "%%MatrixMarket matrix coordinate real general\n% of\n\n  % several\n50000 1 50000\n";
  for (int i = 1; i <= 50000; ++i) text += std::to_string(i) + " 1 " + std::to_string(i) + ".5\n%\n";
  const HostCsr expected = plain(parse_matrix(HostContext(1), text, "t.mtx"));
  for (const std::string& bytes : {text, pack(text)}) {
    CHECK(same_bits(through_pipe(bytes, [&] { return plain(read_matrix(HostContext(2), pipe)); }), expected));
  }
  const std::string bad = text + "3 1 x\n";
  for (const std::string& bytes : {bad, pack(bad)}) {
    CHECK(contains(through_pipe(bytes, [&] { return read_error(pipe); }),
                   ":100006: expected the end of the file after 50000 entries, found '3'"));
  }
}

TEST_CASE("gigabytes of comments and blank lines do not come into memory", "[matrix_market]") {
  // 100 MB of them, where 40 MB are to be had; half of that is left for the matrix.
  const std::string half = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n";
  const std::string rest = "2 2 2\n";
  const FixedMemory little(std::uint64_t{40} << 20);
  for (const std::string filling : {"% comment\n", "\n", "  \t %\n", "%", " "}) {
    std::string comments;
    while (comments.size() < 50000000) comments += filling;
    const std::string packed = pack(half + comments + "\n" + comments + "\n" + rest);
    const detail::TextSource source =
        detail::TextSource::from_memory(little, packed, "comments", detail::matrix_market_lines);
    CHECK(source.text() == half + rest);
    REQUIRE(source.left_out() != nullptr);
    CHECK(source.left_out()->size() == 1);
    const auto lines = std::count(comments.begin(), comments.end(), '\n');
    // Comments without a line feed run up to the one behind them; blanks in front of a word belong to its line.
    CHECK(source.left_out()->front().lines == 2 * (lines + 1));
    CHECK(source.left_out()->front().offset == half.size());
  }
}

TEST_CASE("a long comment is dropped wherever the pieces of a text end", "[matrix_market]") {
  const std::string text = "%%M\n%a\n 1 2\n\n  %b\n3 4 % no comment\n";
  for (std::size_t piece = 1; piece <= text.size(); ++piece) {
    detail::TextFilter filter;
    std::string kept;
    for (std::size_t at = 0; at < text.size(); at += piece) {
      std::string part = text.substr(at, piece);
      part.resize(filter.keep(part.data(), part.size()));
      kept += part;
    }
    CHECK(kept == "%%M\n1 2\n3 4 % no comment\n");
    REQUIRE(filter.left_out().size() == 2);
    CHECK(filter.left_out()[0].offset == 4);
    CHECK(filter.left_out()[0].lines == 1);
    CHECK(filter.left_out()[1].offset == 8);
    CHECK(filter.left_out()[1].lines == 2);
  }
}

TEST_IN_FOLDER("files whose lines end with carriage returns alone are read, and lines keep their numbers",
               "[matrix_market]") {
  const std::string text = "%%MatrixMarket matrix coordinate real general\r% of a Mac\r\r2 2 2\r1 1 1\r2 2 2\r";
  const HostCsr expected = plain(parse_matrix(HostContext(1), small, "t.mtx"));
  for (const std::string& bytes : {text, pack(text)}) {
    CHECK(same_bits(plain(read_matrix(HostContext(2), folder.write("cr.mtx", bytes))), expected));
  }
  CHECK(same_bits(parse(text.substr(0, text.size() - 1)), expected));  // without the last end
  std::string bad = text;
  bad.replace(bad.find("2 2 2\r", 60), 5, "2 9 2");
  CHECK(parse_error(bad) == "t.mtx:6: expected a column number from 1 to 2, found '9'");
  CHECK(parse_error(pack(bad)) == "t.mtx:6: expected a column number from 1 to 2, found '9'");
}

TEST_CASE("a byte-order mark, blanks and empty lines may stand before the banner", "[matrix_market]") {
  const HostCsr expected = parse(small);
  for (const std::string front : {"\xef\xbb\xbf", " ", "\t \n", "\n\n", "\xef\xbb\xbf \r\n"}) {
    CHECK(same_bits(parse(front + small), expected));
    CHECK(same_bits(plain(parse_matrix(HostContext(1), pack(front + small), "t")), expected));
  }
  CHECK(parse_error("\n\n" + small + "3 3 3\n").find("t.mtx:7: expected the end of the file") == 0);
  CHECK(parse_error(pack("\n\n" + small + "3 3 3\n")).find("t.mtx:7: expected the end of the file") == 0);
}

TEST_CASE("files of other kinds are named as what they are", "[matrix_market]") {
  using namespace std::string_literals;
  std::string tar(1024, '\0');
  tar.replace(0, 5, "A.mtx");
  tar.replace(257, 5, "ustar");
  std::string wide = "\xff\xfe", wide_big = "\xfe\xff", no_mark;
  for (const char c : small) {
    wide += {c, '\0'};
    wide_big += {'\0', c};
    no_mark += {c, '\0'};
  }
  const std::pair<std::string, const char*> kinds[] = {
      {"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x05\0\0\0A.mtx"s, "a zip archive"},
      {"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x0b\0\0\0indices.npy"s, "a NumPy archive (.npz"},
      {tar, "a tar archive"},
      {pack(tar), "a tar archive"},
      {wide, "text in UTF-16"},
      {wide_big, "text in UTF-16"},
      {no_mark, "text in UTF-16"},
      {"\x93NUMPY\x01\0v\0"s, "a NumPy array (.npy)"},
      {"BZh91AY"s, "a bzip2 file (decompress it"},
      {"\xfd"
       "7zXZ\0\0"s,
       "an xz file (decompress it"},
      {"\x28\xb5\x2f\xfd\x04"s, "a zstd file (decompress it"},
      {"\x89HDF\r\n"s, "an HDF5 file"},
      {"MATLAB 5.0 MAT-file, Platform"s, "a MATLAB file (.mat)"},
  };
  for (const auto& [bytes, kind] : kinds) {
    INFO(kind);
    CHECK(parse_error(bytes).find("t.mtx:1: expected the banner %%MatrixMarket, found "s + kind) == 0);
  }
}

TEST_CASE("SciPy's unsigned integers are read", "[matrix_market]") {
  const HostCsr a = parse("%%MatrixMarket matrix coordinate unsigned-integer general\n2 2 2\n1 1 3\n2 1 7\n");
  CHECK(a.val == std::vector<double>{3, 7});
  CHECK(parse_error("%%MatrixMarket matrix coordinate unsigned-integer general\n2 2 1\n1 1 0.5\n") ==
        "t.mtx:3: expected an integer, found '0.5'");
}
