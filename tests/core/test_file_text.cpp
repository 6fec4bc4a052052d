// SPDX-License-Identifier: Apache-2.0
// Input files of a program's own: their text, and numbers in it.
#include "tests/catch.hpp"

#include <newel/core/file_text.hpp>
#include <newel/core/file_writer.hpp>

namespace {

void write(const std::string& file, const std::string& text) {
  FileWriter writer(file);
  writer.write(text);
  writer.commit();
}

}  // namespace

TEST_IN_FOLDER("A program's file is read as it is, and inflated where it is gzipped", "[text]") {
  const Context<Space::host> ctx(1);
  const std::string text = "% no comment\n1 2 3\n\n4";
  write(folder.file("plain"), text);
  write(folder.file("packed.gz"), text);
  const std::string packed = file_content(folder.file("packed.gz"));
  REQUIRE(packed.substr(0, 2) == "\x1f\x8b");
  CHECK(FileText(ctx, folder.file("plain")).text() == text);
  CHECK(FileText(ctx, folder.file("packed.gz")).text() == text);
  CHECK(FileText(ctx, packed, "memory").text() == text);
  CHECK(FileText(ctx, text, "memory").text() == text);
  const FileText copy = FileText(FileText(ctx, folder.file("packed.gz")));
  CHECK(copy.text() == text);
  CHECK_THROWS_AS(FileText(ctx, folder.file("absent")), InputError);
  CHECK_THROWS_AS(FileText(ctx, packed.substr(0, packed.size() - 9), "cut"), InputError);
}

TEST_CASE("A word is a number where all of it is one", "[text]") {
  double value = 7;
  for (const char* word : {"", "-", "x", "1.5x", "1 ", "nan", "inf", "1e", "0x10"}) {
    INFO(word);
    CHECK(parse_number(word, value) == NumberStatus::not_a_number);
  }
  CHECK(parse_number("-1e309", value) == NumberStatus::overflow);
  CHECK(value == 7);
  const std::pair<const char*, double> words[] = {{"0", 0},
                                                  {"+2", 2},
                                                  {"-1.25e2", -125},
                                                  {"1.5D+03", 1500},
                                                  {".5d-1", 0.05},
                                                  {"0.5-104", 0.5e-104},
                                                  {"1e-400", 0},
                                                  {"4.9e-324", 5e-324},
                                                  {"123456789012345678901", 1.2345678901234568e20}};
  for (const auto& [word, expected] : words) {
    INFO(word);
    CHECK(parse_number(word, value) == NumberStatus::ok);
    CHECK(value == expected);
  }
  const std::string text = "12345";  // what stands behind a word is not read
  CHECK(parse_number(std::string_view(text).substr(0, 3), value) == NumberStatus::ok);
  CHECK(value == 123);
}
