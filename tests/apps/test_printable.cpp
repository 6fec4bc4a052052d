// SPDX-License-Identifier: Apache-2.0
// Control characters in names are written out wherever names are printed.
#include "apps/common/text.hpp"

#include "tests/apps/cli_report.hpp"
#include "tests/apps/cli_systems.hpp"
#include "tests/apps/process.hpp"
#include "tests/catch.hpp"

using newel::cli::printable_lines;
using newel::cli::set_printed_names;
using newel::cli::shell_quoted;
using newel::cli::without_controls;

namespace {

// Neither of ASCII, but for line feeds, nor of the other set, U+0080 to U+009F.
bool has_controls(const std::string& text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if ((c < 0x20 && c != '\n') || c == 0x7f) return true;
    if (c == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("Control characters are written out, and letters of all scripts stay", "[cli]") {
  CHECK(without_controls("plain \xc3\xbc \xe6\xbc\xa2 \xf0\x9f\x99\x82") ==
        "plain \xc3\xbc \xe6\xbc\xa2 \xf0\x9f\x99\x82");
  CHECK(without_controls("a\nb\tc\rd") == "a\\nb\\tc\\rd");
  CHECK(without_controls("\x1b[31m\x07\x7f") == "\\x1b[31m\\x07\\x7f");
  CHECK(without_controls("\xc2\x9b") == "\\xc2\\x9b");               // the introducer of commands in one character
  CHECK(without_controls("\x9b \xff \xc3") == "\\x9b \\xff \\xc3");  // no UTF-8
  CHECK(without_controls("\xc0\x8a") == "\\xc0\\x8a");               // a line feed in two bytes
  CHECK(without_controls("\xe2\x80\xae") == "\\xe2\\x80\\xae");      // right to left from here
  CHECK(without_controls("\xed\xa0\x80") == "\\xed\\xa0\\x80");      // half of a pair
}

TEST_CASE("Lines of a text stay lines, and a line feed in a name is written out", "[cli]") {
  set_printed_names({"a\nb", "x", "\n", "a\nb\nc"});
  CHECK(printable_lines("first a\nb\nc\nsecond a\nb: x\n") == "first a\\nb\\nc\nsecond a\\nb: x\n");
  set_printed_names({});
  CHECK(printable_lines("a\nb\x1b\n") == "a\nb\\x1b\n");
}

TEST_CASE("An argument with control characters is quoted so that a shell reads it back", "[cli]") {
  CHECK(shell_quoted("a\nb") == "$'a\\nb'");
  CHECK(shell_quoted("it's\x1b\\") == "$'it\\'s\\x1b\\\\'");
  const TemporaryFolder folder;
  const std::string argument = "a\n'\\b\x1b\t\xc2\x9b";
  const std::string script =
      folder.write("script", "printf %s " + shell_quoted(argument) + " > '" + folder.file("out") + "'\n");
  REQUIRE(std::system(("bash '" + script + "'").c_str()) == 0);
  CHECK(file_content(folder.file("out")) == argument);
}

TEST_IN_FOLDER("Names with control characters are printed without them in errors, reports and pages", "[cli]") {
  const std::string wild = "A\x1b[31m\nB\x07\xc2\x9b.mtx";
  const std::string matrix = folder.write(wild, grid_system(5).text());
  const std::string page = folder.file("page.html"), report = folder.file("r.json"), out = folder.file("x\x1b\n.mtx");
  const Outcome solved = run_newel(
      {"solve", matrix, "--rhs", "ones", "--device", "host", "--html", page, "--report", report, "--out", out});
  INFO(solved.out << solved.err);
  REQUIRE(solved.status == 0);
  CHECK_FALSE(has_controls(solved.out));
  CHECK(contains(solved.out, "A\\x1b[31m\\nB\\x07\\xc2\\x9b.mtx, 25 rows"));
  CHECK(contains(solved.out, "x\\x1b\\n.mtx"));
  CHECK_FALSE(has_controls(file_content(page)));
  CHECK_FALSE(has_controls(file_content(report)));
  CHECK(Json::parse(file_content(report))["matrix"] == matrix);  // a program gets the name as it is
  CHECK_FALSE(has_controls(run_newel({"info", matrix}).out));

  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"solve", folder.file("no\x1b\nne")},
                                                    {"solve", matrix, "--\x1b[1mx"},
                                                    {"solve", matrix, "--solver", "c\x07g"},
                                                    {"solve", matrix, "--rtol", "1\x1b"},
                                                    {"sol\x1bve", matrix},
                                                    {"solve", matrix, "--out", folder.file("no\n/x.mtx")},
                                                    {"solve", matrix, "--rhs=no\n\x1b"},
                                                    {"bench", "spmv", folder.file("no\x1b\nne")}}) {
    const Outcome refused = run_newel(arguments);
    INFO(refused.err);
    CHECK(refused.status == 2);
    CHECK_FALSE(has_controls(refused.err));
    CHECK(std::count(refused.err.begin(), refused.err.end(), '\n') == 1);
  }
}
