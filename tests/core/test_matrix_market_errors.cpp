// SPDX-License-Identifier: Apache-2.0
// What the Matrix Market reader says to text that is not well formed: line, what was expected and what came.
#include "tests/core/matrix_market_support.hpp"

#include "io/matrix_market/matrix_market_read.hpp"

namespace {

#define REAL_BANNER "%%MatrixMarket matrix coordinate real general\n"
const std::string real = REAL_BANNER;

// Views, as lists of strings take the sanitizers' compiler minutes.
struct Case {
  std::string_view text;
  std::string_view message;
};

}  // namespace

TEST_CASE("a wrong banner or size line is refused with its line and its word", "[matrix_market]") {
  const Case cases[] = {
      {"", "t.mtx:1: expected the banner %%MatrixMarket, found an empty file"},
      {"\n" REAL_BANNER, "t.mtx:3: expected a number of rows, found the end of the file"},
      {"\n \n", "t.mtx:3: expected the banner %%MatrixMarket, found the end of the file"},
      {"\n\n2 2 1\n", "t.mtx:3: expected the banner %%MatrixMarket, found '2'"},
      {"%%MatrixMarkets matrix", "t.mtx:1: expected %%MatrixMarket, found '%%MatrixMarkets'"},
      {"\x7f"
       "ELF\x01\x02",
       "t.mtx:1: expected the banner %%MatrixMarket, found '\\x7fELF\\x01\\x02'"},
      {"%%MatrixMarket", "t.mtx:1: expected the object 'matrix', found the end of the file"},
      {"%%MatrixMarket vector array real general\n", "t.mtx:1: expected the object 'matrix', found 'vector'"},
      {"%%MatrixMarket matrix sparse real general\n",
       "t.mtx:1: expected the layout 'coordinate' or 'array', found 'sparse'"},
      {"%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n",
       "t.mtx:1: expected real values, found 'complex' (only real values can be read here)"},
      {"%%MatrixMarket matrix coordinate real Hermitian\n1 1 1\n1 1 1\n",
       "t.mtx:1: expected complex values in a Hermitian matrix, found others"},
      {"%%MatrixMarket matrix coordinate real\n1 1 1\n1 1 1\n",
       "t.mtx:1: expected the symmetry 'general', 'symmetric', 'skew-symmetric' or 'hermitian', found the end of the "
       "line"},
      {"%%MatrixMarket matrix coordinate real general extra\n",
       "t.mtx:1: expected the end of the line after the symmetry, found 'extra'"},
      {"%%MatrixMarket matrix array pattern general\n1 1\n",
       "t.mtx:1: expected real or integer values in an array, found 'pattern'"},
      {"%%MatrixMarket matrix coordinate pattern skew-symmetric\n",
       "t.mtx:1: expected a general or symmetric pattern, found 'skew-symmetric'"},
      {REAL_BANNER, "t.mtx:2: expected a number of rows, found the end of the file"},
      {REAL_BANNER "% only\n%comments", "t.mtx:3: expected a number of rows, found the end of the file"},
      {REAL_BANNER "%\n3\n", "t.mtx:3: expected a number of columns, found the end of the line"},
      {REAL_BANNER "3 3\n", "t.mtx:2: expected a number of entries, found the end of the line"},
      {REAL_BANNER "3 3 3 3\n", "t.mtx:2: expected the end of the line after rows, columns and entries, found '3'"},
      {REAL_BANNER "3 -3 3\n", "t.mtx:2: expected a number of columns, found '-3'"},
      {REAL_BANNER "3 3 2.5\n", "t.mtx:2: expected a number of entries, found '2.5'"},
      {REAL_BANNER "2147483648 3 3\n",
       "t.mtx:2: expected a number of rows of at most 2147483647, found '2147483648'"},
      {REAL_BANNER "3 99999999999999999999999 3\n",
       "t.mtx:2: expected a number of columns of at most 2147483647, found '99999999999999999999999'"},
      {"%%MatrixMarket matrix coordinate real symmetric\n3 4 0\n",
       "t.mtx:2: expected a square matrix, since the banner declares it symmetric, found 3 x 4"},
      {"%%MatrixMarket matrix array real general\n3 4 12\n",
       "t.mtx:2: expected the end of the line after rows and columns, found '12'"},
  };
  for (const Case& c : cases) CHECK(parse_error(std::string(c.text)) == c.message);
}

TEST_CASE("a wrong data line is refused with its line and its word", "[matrix_market]") {
  const std::string head = REAL_BANNER "%\n3 3 2\n\n1 1 1\n";  // the next line is number 6
#define ROW "t.mtx:6: expected a row number from 1 to 3, found "
#define COLUMN "t.mtx:6: expected a column number from 1 to 3, found "
  const Case cases[] = {
      {"0 1 1\n", ROW "'0'"},
      {"4 1 1\n", ROW "'4'"},
      {"-1 1 1\n", ROW "'-1'"},
      {"1.0 1 1\n", ROW "'1.0'"},
      {"18446744073709551617 1 1\n", ROW "'18446744073709551617'"},
      {"x 1 1\n", ROW "'x'"},
      {"1,2,3\n", ROW "'1,2,3'"},
      {"1 0 1\n", COLUMN "'0'"},
      {"1 4 1\n", COLUMN "'4'"},
      {"1\n", COLUMN "the end of the line"},
      {"1", COLUMN "the end of the file"},
      {"1 1\n", "t.mtx:6: expected a number, found the end of the line"},
      {"1 1", "t.mtx:6: expected a number, found the end of the file"},
      {"1 1 x\n", "t.mtx:6: expected a number, found 'x'"},
      {"1 1 1.5abc\n", "t.mtx:6: expected a number, found '1.5abc'"},
      {"1 1 1e\n", "t.mtx:6: expected a number, found '1e'"},
      {"1 1 .\n", "t.mtx:6: expected a number, found '.'"},
      {"1 1 +-1\n", "t.mtx:6: expected a number, found '+-1'"},
      {"1 1 0x10\n", "t.mtx:6: expected a number, found '0x10'"},
      {"1 1 NaN\n", "t.mtx:6: expected a number, found 'NaN'"},
      {"1 1 -inf\n", "t.mtx:6: expected a number, found '-inf'"},
      {"1 1 Infinity\n", "t.mtx:6: expected a number, found 'Infinity'"},
      {"1 1 1e309\n", "t.mtx:6: expected a number that a double can hold, found '1e309'"},
      {"1 1 -1D+400\n", "t.mtx:6: expected a number that a double can hold, found '-1D+400'"},
      {"1 1 1 0\n", "t.mtx:6: expected the end of the line, found '0'"},
      {"1 1 1 % no\n", "t.mtx:6: expected the end of the line, found '%'"},
      {std::string_view("1 1 1\0\n", 7), "t.mtx:6: expected a number, found '1\\x00'"},
      {"", "t.mtx:5: expected 2 entries, found the end of the file after 1"},
      {"% comment", "t.mtx:6: expected 2 entries, found the end of the file after 1"},
      {"2 2 2\n\n3 3 3\n", "t.mtx:8: expected the end of the file after 2 entries, found '3'"},
      {"2 2 2\ngarbage\n", "t.mtx:7: expected the end of the file after 2 entries, found 'garbage'"},
      {"2 2 2\n3 3", "t.mtx:7: expected the end of the file after 2 entries, found '3'"},
  };
  for (const Case& c : cases) CHECK(parse_error(head + std::string(c.text)) == c.message);
  CHECK(parse_error(head + "1 1 " + std::string(100, '7') + "q\n") ==
        "t.mtx:6: expected a number, found '" + std::string(40, '7') + "...'");
}

TEST_CASE("mistakes in other kinds of file are refused", "[matrix_market]") {
#define MM "%%MatrixMarket matrix "
  const Case cases[] = {
      {MM "coordinate integer general\n1 1 1\n1 1 1.5\n", "t.mtx:3: expected an integer, found '1.5'"},
      {MM "coordinate integer general\n1 1 1\n1 1 1e3\n", "t.mtx:3: expected an integer, found '1e3'"},
      {MM "coordinate pattern general\n1 1 1\n1 1 1\n", "t.mtx:3: expected the end of the line, found '1'"},
      {MM "array real general\n2 1\n1\n2 3\n", "t.mtx:4: expected the end of the line, found '3'"},
      {MM "array real general\n2 1\n1\n", "t.mtx:3: expected 2 entries, found the end of the file after 1"},
      {MM "array real general\n2 1\n1\n2\n3\n", "t.mtx:5: expected the end of the file after 2 entries, found '3'"},
      {MM "array real general\n2 1\n1\n\n--2\n", "t.mtx:5: expected a number, found '--2'"},
      {MM "coordinate real skew-symmetric\n2 2 2\n2 1 1\n2 2 3\n",
       "t.mtx:4: expected only zeros on the diagonal of a skew-symmetric matrix, found '2'"},
      {MM "coordinate real symmetric\n3 3 4\n2 1 1\n3 3 1\n%\n1 2 1\n2 1 1\n",
       "t.mtx:6: expected each entry of a symmetric matrix in one triangle only, found (1, 2) in both"},
      {MM "coordinate real general\n1 1 2\n1 1 1.7e308\n1 1 1.7e308\n",
       "t.mtx: expected a sum that a double can hold, found overflow in the entries repeated at row 1, column 1"},
  };
  for (const Case& c : cases) CHECK(parse_error(std::string(c.text)) == c.message);
}

TEST_CASE("a vector that is a matrix is refused", "[matrix_market]") {
  const HostContext ctx(1);
  REQUIRE(input_error([&] {
            parse_vector(ctx, "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n", "v");
          }) == "v:2: expected a vector, n x 1 or 1 x n, found 2 x 2");
  REQUIRE(input_error([&] {
            parse_vector(ctx, "%%MatrixMarket matrix coordinate real general\n2 1 2\n2 1 1.7e308\n2 1 1e308\n", "v");
          }) ==
          "v: expected a sum that a double can hold, found overflow in the entries repeated at row 2, column 1");
}

TEST_CASE("nothing is allocated on the header's word", "[matrix_market]") {
  const HostContext ctx(2);
  const auto refused = [&](const std::string& text) {
    return input_error([&] { parse_matrix(ctx, text, "t.mtx"); });
  };
  CHECK(refused(real + "10 10 1000000000000\n1 1 1\n") ==
        "t.mtx:3: expected 1000000000000 entries, found the end of the file after 1");
  CHECK(refused(real + "2000000000 3 1\n1 1 1\n") ==
        "t.mtx:2: expected fewer rows for so few entries, found 2000000000 rows, entries: 1");
  CHECK(refused("%%MatrixMarket matrix array real general\n2147483647 2147483647\n1\n") ==
        "t.mtx:3: expected 4611686014132420609 entries, found the end of the file after 1");
  CHECK(refused("%%MatrixMarket matrix array real general\n2147483647 0\n") ==
        "t.mtx:2: expected fewer rows for so few entries, found 2147483647 rows, entries: 0");
  CHECK(input_error([&] { parse_vector(ctx, real + "1 2000000000 1\n1 1 1\n", "v"); }) ==
        "v:2: expected fewer columns for so few entries, found 2000000000 columns, entries: 1");
  CHECK(ctx.memory()->use().peak_bytes < 1000);
  CHECK(parse_matrix(ctx, real + "1000031 1 1\n1 1 1\n", "t").rows == 1000031);
  CHECK(refused(real + "1000032 1 1\n1 1 1\n") != "");
  // Columns cost nothing, and a million empty rows are anybody's right.
  CHECK(parse_matrix(ctx, real + "1000000 2147483647 1\n1 2147483647 1\n", "t").col[0] == 2147483646);
}

TEST_CASE("the first mistake of the file is named, however many pieces and threads", "[matrix_market]") {
  std::string text = real + "5 5 1000\n";
  for (int line = 3; line <= 1002; ++line) {
    text +=
        line == 700 || line == 707 || line == 1000 ? "1 6 1\n" : "% comment\n1 5 1\n" + std::string(line % 3, '\n');
  }
  std::int64_t line = 1;
  for (std::size_t at = 0; at < text.find("1 6 1"); ++at) line += text[at] == '\n' ? 1 : 0;
  const std::string expected = "t.mtx:" + std::to_string(line) + ": expected a column number from 1 to 5, found '6'";
  const std::string name = "t.mtx";
  for (const int threads : {1, 2, 3, 7}) {
    for (const std::size_t piece_bytes : {1, 10, 1000, 1000000}) {
      CHECK(input_error([&] {
              detail::parse_plain_matrix(HostContext(threads), {text, name}, nullptr, {piece_bytes});
            }) == expected);
    }
  }
}
