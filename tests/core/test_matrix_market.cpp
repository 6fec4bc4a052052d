// SPDX-License-Identifier: Apache-2.0
// What the Matrix Market reader makes of well-formed text, on matrices that one can check by hand.
#include "tests/core/matrix_market_support.hpp"

TEST_CASE("a coordinate file becomes CSR with sorted columns", "[matrix_market]") {
  const HostCsr a = parse(
      "%%MatrixMarket matrix coordinate real general\n"
      "3 4 5\n"
      "3 4 34\n"
      "1 2 12\n"
      "3 1 31\n"
      "1 1 11\n"
      "3 2 32\n");
  REQUIRE(a.rows == 3);
  REQUIRE(a.cols == 4);
  REQUIRE(a.row_ptr == std::vector<Offset>{0, 2, 2, 5});
  REQUIRE(a.col == std::vector<Index>{0, 1, 0, 1, 3});
  REQUIRE(a.val == std::vector<double>{11, 12, 31, 32, 34});
}

TEST_CASE("symmetric storage is expanded from either triangle", "[matrix_market]") {
  const std::vector<Offset> row_ptr = {0, 2, 4, 6};
  const std::vector<Index> col = {0, 2, 1, 2, 0, 1};
  const std::vector<double> val = {1, 31, 2, 32, 31, 32};
  const std::string banner = "%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 1\n2 2 2\n";
  for (const char* entries : {"3 1 31\n3 2 32\n", "1 3 31\n2 3 32\n", "1 3 31\n3 2 32\n"}) {
    const HostCsr a = parse(banner + entries);
    CHECK(a.row_ptr == row_ptr);
    CHECK(a.col == col);
    CHECK(a.val == val);
  }
}

TEST_CASE("a skew-symmetric file is expanded with the sign turned", "[matrix_market]") {
  const HostCsr a = parse(
      "%%MatrixMarket matrix coordinate real skew-symmetric\n"
      "3 3 3\n2 1 21\n1 3 13\n2 2 0\n");
  REQUIRE(a.row_ptr == std::vector<Offset>{0, 2, 4, 5});
  REQUIRE(a.col == std::vector<Index>{1, 2, 0, 1, 0});
  REQUIRE(a.val == std::vector<double>{-21, 13, 21, 0, -13});
}

TEST_CASE("integer and pattern files give numbers", "[matrix_market]") {
  const HostCsr integers =
      parse("%%MatrixMarket matrix coordinate integer general\n1 3 3\n1 1 -7\n1 2 +12\n1 3 9007199254740993\n");
  REQUIRE(integers.val == std::vector<double>{-7, 12, 9007199254740992.0});
  const HostCsr pattern = parse("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n");
  REQUIRE(pattern.col == std::vector<Index>{0, 1, 0});
  REQUIRE(pattern.val == std::vector<double>{1, 1, 1});
}

TEST_CASE("an array file is read column by column and keeps its zeros", "[matrix_market]") {
  const HostCsr general = parse("%%MatrixMarket matrix array real general\n2 3\n11\n0\n12\n22\n13\n23\n");
  REQUIRE(general.row_ptr == std::vector<Offset>{0, 3, 6});
  REQUIRE(general.col == std::vector<Index>{0, 1, 2, 0, 1, 2});
  REQUIRE(general.val == std::vector<double>{11, 12, 13, 0, 22, 23});
  const HostCsr symmetric = parse("%%MatrixMarket matrix array integer symmetric\n3 3\n11\n21\n31\n22\n32\n33\n");
  REQUIRE(symmetric.val == std::vector<double>{11, 21, 31, 21, 22, 32, 31, 32, 33});
  const HostCsr skew = parse("%%MatrixMarket matrix array real skew-symmetric\n3 3\n21\n31\n32\n");
  REQUIRE(skew.row_ptr == std::vector<Offset>{0, 2, 4, 6});
  REQUIRE(skew.col == std::vector<Index>{1, 2, 0, 2, 0, 1});
  REQUIRE(skew.val == std::vector<double>{-21, -31, 21, -32, 31, 32});
}

TEST_CASE("comments, blank lines, CRLF, tabs and any case in the banner are accepted", "[matrix_market]") {
  const HostCsr expected = parse("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 2\n");
  for (const std::string text : {
           "%%MATRIXMARKET MATRIX Coordinate REAL General\r\n% one\r\n\r\n%\r\n2 2 2\r\n1 1 1\r\n2 2 2\r\n",
           "%%matrixmarket\tmatrix  coordinate real general  \n%\n  \n%%\n\n 2\t2 2 \n\n% x\n\t1 1\t1 \n \n2 2 "
           "2\n\n\n",
           "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 2",
           "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 2\n% the end",
       }) {
    CHECK(same_bits(parse(text), expected));
  }
}

TEST_CASE("repeated entries are summed in the order of the file and zeros are kept", "[matrix_market]") {
  const HostCsr a = parse(
      "%%MatrixMarket matrix coordinate real general\n"
      "2 2 6\n2 1 1e16\n1 1 0\n2 1 1\n2 1 -1e16\n2 2 5\n1 1 0\n");
  REQUIRE(a.row_ptr == std::vector<Offset>{0, 1, 3});
  REQUIRE(a.val == std::vector<double>{0, (1e16 + 1) - 1e16, 5});
  const HostCsr symmetric = parse("%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n2 1 1\n2 1 2\n1 1 4\n");
  REQUIRE(symmetric.val == std::vector<double>{4, 3, 3});
}

TEST_CASE("empty matrices are read", "[matrix_market]") {
  const HostCsr none = parse("%%MatrixMarket matrix coordinate real general\n0 0 0\n");
  REQUIRE(none.row_ptr == std::vector<Offset>{0});
  const HostCsr zero = parse("%%MatrixMarket matrix coordinate real general\n3 2 0");
  REQUIRE(zero.row_ptr == std::vector<Offset>{0, 0, 0, 0});
  REQUIRE(parse("%%MatrixMarket matrix array real general\n0 5\n").cols == 5);
  REQUIRE(parse("%%MatrixMarket matrix array real general\n4 0\n").row_ptr.size() == 5);
  REQUIRE(parse("%%MatrixMarket matrix array real skew-symmetric\n1 1\n").col.empty());
  REQUIRE(parse("%%MatrixMarket matrix array real skew-symmetric\n0 0\n").col.empty());
}

TEST_CASE("a row longer than a block of the sort is sorted and summed", "[matrix_market]") {
  constexpr Index n = 70000;
  std::string text = "%%MatrixMarket matrix coordinate integer general\n3 70000 140001\n1 5 1\n";
  std::vector<double> expected(n, 0);
  for (std::int64_t k = 0; k < 2 * n; ++k) {
    const std::int64_t col = k * 7919 % n;  // 7919 and n have no common divisor
    text += "2 " + std::to_string(col + 1) + " " + std::to_string(k) + "\n";
    expected[col] += static_cast<double>(k);
  }
  const HostCsr a = parse(text);
  REQUIRE(a.row_ptr == std::vector<Offset>{0, 1, n + 1, n + 1});
  REQUIRE(std::vector<double>(a.val.begin() + 1, a.val.end()) == expected);
  REQUIRE(a.col[n] == n - 1);
}

TEST_CASE("the header is handed out", "[matrix_market]") {
  MatrixMarketHeader header;
  parse_matrix(HostContext(1), "%%MatrixMarket matrix coordinate pattern symmetric\n4 4 1\n3 1\n", "t", &header);
  REQUIRE(header.layout == MatrixMarketHeader::Layout::coordinate);
  REQUIRE(header.field == MatrixMarketHeader::Field::pattern);
  REQUIRE(header.symmetry == MatrixMarketHeader::Symmetry::symmetric);
  REQUIRE(header.rows == 4);
  REQUIRE(header.entries == 1);
}

TEST_CASE("a vector is read from an array, a coordinate file, a column or a row", "[matrix_market]") {
  const std::vector<double> expected = {1, 0, -3};
  for (const char* text : {
           "%%MatrixMarket matrix array real general\n3 1\n1\n0\n-3\n",
           "%%MatrixMarket matrix array integer general\n1 3\n1\n0\n-3\n",
           "%%MatrixMarket matrix coordinate real general\n3 1 3\n3 1 -4\n1 1 1\n3 1 1\n",
           "%%MatrixMarket matrix coordinate real general\n1 3 2\n1 1 1\n1 3 -3\n",
       }) {
    CHECK(plain(parse_vector(HostContext(2), text, "v")) == expected);
  }
}
