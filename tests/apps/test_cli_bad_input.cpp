// SPDX-License-Identifier: Apache-2.0
// Bad input and bad usage: exit status, and what the message on stderr names.
#include "tests/catch.hpp"

#include <algorithm>

#include <newel/config.hpp>

#include "tests/apps/cli_systems.hpp"
#include "tests/apps/process.hpp"

using namespace newel::cli_testing;

namespace {

// Runs, and checks what holds for every error: nothing on stdout, one to three lines on stderr, named `newel`.
std::string error_of(const std::vector<std::string>& arguments, int status) {
  const Outcome outcome = run_newel(arguments);
  INFO(outcome.out << outcome.err);
  CHECK(outcome.status == status);
  CHECK(outcome.out.empty());
  CHECK(outcome.err.rfind("newel: ", 0) == 0);
  const auto lines = std::count(outcome.err.begin(), outcome.err.end(), '\n');
  CHECK(lines >= 1);
  CHECK(lines <= 3);
  return outcome.err;
}

void check_words(const std::string& error, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    INFO(error << "lacks: " << word);
    CHECK(error.find(word) != std::string::npos);
  }
}

constexpr const char* banner = "%%MatrixMarket matrix coordinate real general\n";

}  // namespace

TEST_CASE("A malformed file is refused with its name, the line, what was expected and what came", "[cli]") {
  const TemporaryFolder folder;
  struct Case {
    std::string text;
    std::vector<std::string> words;
  };
  const std::vector<Case> cases = {
      {std::string(banner) + "2 2 2\n1 1 1.0\n", {"2 entries"}},
      {std::string(banner) + "2 2 1\n1 1 1.0\n2 2 1.0\n", {":4", "end of the file"}},
      {std::string(banner) + "2 2 2\n1 1 1.0\n3 2 1.0\n", {":4", "3"}},
      {std::string(banner) + "2 2 2\n1 1 one\n2 2 1.0\n", {":3", "number", "one"}},
      {std::string(banner) + "2 2 2\n1 1 nan\n2 2 1.0\n", {":3", "nan"}},
      {std::string(banner) + "2 2 2\n1 1 1e999\n2 2 1.0\n", {":3", "1e999"}},
      {std::string(banner) + "1000000 1000000 1000000000000\n1 1 1.0\n", {"1000000000000 entries"}},
      {"%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n", {":1", "complex"}},
      {"", {"banner"}},
      {"hello\n", {":1", "banner", "hello"}},
  };
  for (const Case& c : cases) {
    const std::string matrix = folder.write("bad.mtx", c.text);
    for (const std::string command : {"solve", "info"}) {
      const std::string error = error_of({command, matrix}, 2);
      check_words(error, {matrix, "expected", "found"});
      check_words(error, c.words);
    }
  }
}

TEST_CASE("A directory, a missing file and a cut gzip stream are refused by name", "[cli]") {
  const TemporaryFolder folder;
  check_words(error_of({"solve", folder.file("")}, 2), {folder.file("")});
  check_words(error_of({"solve", folder.file("absent.mtx")}, 2), {folder.file("absent.mtx")});
  const std::string gzip = folder.write("cut.mtx.gz", std::string("\x1f\x8b\x08\0\0\0\0\0\0\x03\x53\x55", 12));
  check_words(error_of({"info", gzip}, 2), {gzip});
}

TEST_CASE("solve refuses matrices that are not square and rows without entries, counted from 1", "[cli]") {
  const TemporaryFolder folder;
  const std::string wide = folder.write("wide.mtx", std::string(banner) + "2 3 2\n1 1 1\n2 3 1\n");
  check_words(error_of({"solve", wide}, 2), {wide, "square", "2 rows", "3 columns"});
  const std::string hole = folder.write("hole.mtx", std::string(banner) + "4 4 3\n1 1 1\n2 2 1\n4 4 1\n");
  check_words(error_of({"solve", hole}, 2), {hole, "row 3", "entry"});
}

TEST_CASE("A zero or missing diagonal entry is refused by Jacobi with the row of the file, and none is suggested",
          "[cli]") {
  const TemporaryFolder folder;
  const std::string zero =
      folder.write("zero.mtx", std::string(banner) + "3 3 5\n1 1 2\n2 2 0\n2 3 1\n3 2 1\n3 3 2\n");
  check_words(error_of({"solve", zero, "--device", "host", "--precond", "jacobi"}, 2),
              {zero, "row 2", "--precond none"});
  const std::string missing =
      folder.write("missing.mtx", std::string(banner) + "3 3 4\n1 1 2\n2 3 1\n3 2 1\n3 3 2\n");
  check_words(error_of({"solve", missing, "--device", "host", "--precond", "jacobi"}, 2),
              {missing, "row 2", "--precond none"});
  CHECK(run_newel({"solve", missing, "--precond", "none", "--device", "host", "--quiet"}).status == 0);
  for (const std::string& matrix : {zero, missing})
    CHECK(run_newel({"solve", matrix, "--device", "host"}).status == 0);
}

TEST_CASE("What is no number is refused with the option and what was given", "[cli]") {
  check_words(error_of({"solve", "generate:grid7:4", "--max-iterations", "1e4"}, 2),
              {"--max-iterations: expected a whole number, found '1e4'"});
  check_words(error_of({"solve", "generate:grid7:4", "--rtol", "abc"}, 2),
              {"--rtol: expected a number, found 'abc'"});
  check_words(error_of({"info", "generate:grid7:4", "--threads", "two"}, 2),
              {"--threads: expected a whole number, found 'two'"});
  check_words(error_of({"bench", "solve", "generate:grid7:4", "--tol", "1e-8x"}, 2),
              {"--tol: expected a number, found '1e-8x'"});
  check_words(error_of({"solve", "generate:grid7:4", "--restart", "0"}, 2), {"--restart", "0", "range"});
}

TEST_CASE("Vectors of the wrong length are refused with both lengths", "[cli]") {
  const TemporaryFolder folder;
  const std::string matrix = folder.write("A.mtx", grid_system(4).text());
  const std::string vector = folder.write("v.mtx", vector_text(rough_vector(15)));
  for (const std::string option : {"--rhs", "--guess"}) {
    check_words(error_of({"solve", matrix, option, vector}, 2), {option, vector, "16", "15"});
  }
}

TEST_CASE("Unknown names are refused with what there is and the nearest suggestion", "[cli]") {
  const TemporaryFolder folder;
  const std::string matrix = folder.write("A.mtx", grid_system(4).text());
  check_words(error_of({"solve", matrix, "--solver", "bicstab"}, 2),
              {"bicstab", "did you mean bicgstab", "cg", "gmres"});
  check_words(error_of({"solve", matrix, "--precond", "jacoby"}, 2), {"jacoby", "did you mean jacobi", "none"});
  check_words(error_of({"solve", matrix, "--format", "crs"}, 2), {"crs", "csr"});
  check_words(error_of({"solve", matrix, "--device", "gpu"}, 2), {"gpu", "host", "cuda"});
  check_words(error_of({"solve", matrix, "--precision", "half"}, 2), {"half", "double", "single"});
  check_words(error_of({"solve", matrix, "--presision", "double"}, 2), {"--presision", "did you mean --precision"});
  check_words(error_of({"solv", matrix}, 2), {"solv", "did you mean solve"});
  check_words(error_of({"solve", "generate:elastic:5"}, 2), {"generate:"});
}

TEST_CASE("Wrong usage ends in status 2", "[cli]") {
  const TemporaryFolder folder;
  const std::string matrix = folder.write("A.mtx", grid_system(4).text());
  check_words(error_of({}, 2), {"usage"});
  check_words(error_of({"solve"}, 2), {"matrix"});
  check_words(error_of({"solve", matrix, "surplus"}, 2), {"surplus"});
  check_words(error_of({"solve", matrix, "--rtol"}, 2), {"--rtol"});
  check_words(error_of({"solve", matrix, "--rtol", "small"}, 2), {"--rtol", "small"});
  check_words(error_of({"solve", matrix, "--rtol", "-1"}, 2), {"--rtol", "-1"});
  check_words(error_of({"solve", matrix, "--rtol", "nan"}, 2), {"--rtol"});
  check_words(error_of({"solve", matrix, "--threads", "0"}, 2), {"--threads"});
  check_words(error_of({"solve", matrix, "--restart", "0"}, 2), {"--restart"});
  check_words(error_of({"solve", matrix, "--max-iterations", "-1"}, 2), {"--max-iterations"});
  check_words(error_of({"solve", matrix, "--time-limit", "0"}, 2), {"--time-limit"});
  check_words(error_of({"solve", matrix, "--rhs", "random:x"}, 2), {"--rhs", "seed"});
  check_words(error_of({"solve", matrix, "--rhs", "A*b"}, 2), {"--rhs", "A*ones"});
  check_words(error_of({"solve", matrix, "--basis", "half"}, 2), {"--basis", "half", "full", "single"});
}

TEST_CASE("Outputs that cannot be written are refused before anything is solved", "[cli]") {
  const TemporaryFolder folder;
  const std::string matrix = folder.write("A.mtx", grid_system(4).text());
  for (const std::string option : {"--out", "--report", "--history"}) {
    const std::string file = folder.file("absent/file.mtx");
    check_words(error_of({"solve", matrix, "--rhs", "ones", option, file}, 2), {option, file, "cannot be written"});
    check_words(error_of({"solve", matrix, "--rhs", "ones", option, folder.file("")}, 2), {option});
    check_words(error_of({"solve", matrix, "--rhs", "ones", option, matrix}, 2), {option, "it is the matrix"});
  }
  check_words(
      error_of({"solve", matrix, "--rhs", "ones", "--out", folder.file("o.mtx"), "--report", folder.file("o.mtx")},
               2),
      {"same file"});
  check_words(error_of({"info", matrix, "--report", folder.file("absent/r.json")}, 2), {"--report"});
  CHECK(file_content(matrix) == grid_system(4).text());
}

TEST_CASE("Errors are printed under --quiet, and no output is written for them", "[cli]") {
  const TemporaryFolder folder;
  const std::string wide = folder.write("wide.mtx", std::string(banner) + "2 3 2\n1 1 1\n2 3 1\n");
  error_of(
      {"solve", wide, "--rhs", "ones", "--quiet", "--out", folder.file("x.mtx"), "--report", folder.file("r.json")},
      2);
  CHECK_FALSE(std::filesystem::exists(folder.file("x.mtx")));
  CHECK_FALSE(std::filesystem::exists(folder.file("r.json")));
}

TEST_CASE("A solve that wants more memory than there is is refused with both figures", "[cli]") {
  const TemporaryFolder folder;
  // A basis of 300,000 vectors of as many numbers: 720 GB.
  System s;
  s.n = 300000;
  for (int i = 1; i <= s.n; ++i) s.entries.push_back({i, i, 1});
  const std::string matrix = folder.write("A.mtx", s.text());
  const std::string error =
      error_of({"solve", matrix, "--solver", "gmres", "--restart", "1000000", "--device", "host"}, 2);
  check_words(error, {"memory", "72", "GB"});
}

TEST_CASE("A device that is not there is a device failure, never silently the host", "[cli]") {
  const TemporaryFolder folder;
  const std::string matrix = folder.write("A.mtx", grid_system(4).text());
  check_words(error_of({"solve", matrix, "--device", "cuda:99"}, 3), {"cuda:99"});
  if (NEWEL_HAS_CUDA == 0) check_words(error_of({"solve", matrix, "--device", "cuda"}, 3), {"without CUDA"});
}
