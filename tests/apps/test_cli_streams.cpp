// SPDX-License-Identifier: Apache-2.0
// Matrices and vectors through pipes, the solution on standard output, and writes that the system refuses.
#include "tests/catch.hpp"

#include <sys/wait.h>

#include <cstdlib>
#include <set>

#include "tests/apps/cli_report.hpp"
#include "tests/apps/cli_systems.hpp"
#include "tests/apps/process.hpp"
#include "tests/support.hpp"

using namespace newel::cli_testing;
using newel::testing::contains;

namespace {

// Runs a line of bash in which $P is `newel`; out and err are what it wrote.
Outcome shell(const TemporaryFolder& folder, const std::string& line) {
  const std::string script = folder.write(
      "script", "P='" + newel_program() + "'\ncd '" + folder.path().string() + "'\nset -o pipefail\n" + line + "\n");
  Outcome outcome;
  const int status =
      std::system(("bash '" + script + "' > '" + folder.file("out") + "' 2> '" + folder.file("err") + "'").c_str());
  if (WIFEXITED(status)) outcome.status = WEXITSTATUS(status);
  outcome.out = file_content(folder.file("out"));
  outcome.err = file_content(folder.file("err"));
  return outcome;
}

// |b - A x| / |b| with b = 1.
double residual_with_ones(const System& system, const std::vector<double>& x) {
  const std::vector<double> b(static_cast<std::size_t>(system.n), 1.0);
  return norm(difference(product(system, x), b)) / norm(b);
}

std::set<std::string> files_in(const TemporaryFolder& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    names.insert(entry.path().filename().string());
  }
  return names;
}

}  // namespace

TEST_CASE("A matrix is read from a pipe, plain or gzipped, and from standard input", "[cli][streams]") {
  const TemporaryFolder folder;
  const System system = grid_system(20);
  folder.write("A.mtx", system.text());
  const std::string solve = " --rhs ones --device host --quiet --out x.mtx ";
  for (const std::string& line : {"cat A.mtx | $P solve -" + solve, "gzip -c A.mtx | $P solve -" + solve,
                                  "$P solve <(cat A.mtx)" + solve, "$P solve <(gzip -c A.mtx)" + solve,
                                  "$P solve -" + solve + "< A.mtx", "mkfifo p; cat A.mtx > p & $P solve p" + solve,
                                  // in pieces, as a slow writer sends them
                                  "(head -c 9 A.mtx; sleep 0.1; tail -c +10 A.mtx) | $P solve -" + solve}) {
    const Outcome outcome = shell(folder, "rm -f x.mtx; " + line);
    INFO(line << '\n' << outcome.out << outcome.err);
    REQUIRE(outcome.status == 0);
    CHECK(residual_with_ones(system, parse_array(file_content(folder.file("x.mtx")))) < 1e-7);
  }
}

TEST_CASE("A right-hand side is read from standard input, where the matrix is not", "[cli][streams]") {
  const TemporaryFolder folder;
  const System system = grid_system(12);
  folder.write("A.mtx", system.text());
  std::string b = "%%MatrixMarket matrix array real general\n144 1\n";
  for (int i = 0; i < 144; ++i) b += "1\n";
  folder.write("b.mtx", b);
  const Outcome outcome = shell(folder, "cat b.mtx | $P solve A.mtx --rhs - --out x.mtx --device host");
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.status == 0);
  CHECK(residual_with_ones(system, parse_array(file_content(folder.file("x.mtx")))) < 1e-7);
  const Outcome twice = shell(folder, "cat A.mtx | $P solve - --rhs -");
  CHECK(twice.status == 2);
  CHECK(contains(twice.err, "standard input (-) is the matrix already, and cannot be the right-hand side too"));
}

TEST_CASE("The option --out - writes the solution to standard output and the report to standard error",
          "[cli][streams]") {
  const TemporaryFolder folder;
  const System system = grid_system(20);
  folder.write("A.mtx", system.text());
  for (const std::string line :
       {"$P solve A.mtx --rhs ones --device host --out -", "$P solve A.mtx --rhs ones --device host --out - | cat"}) {
    const Outcome outcome = shell(folder, line);
    INFO(line << outcome.err);
    REQUIRE(outcome.status == 0);
    REQUIRE(outcome.out.find("%%MatrixMarket matrix array real general\n400 1\n") == 0);
    CHECK(residual_with_ones(system, parse_array(outcome.out)) < 1e-7);
    CHECK(contains(outcome.err, "converged after "));
  }
  CHECK(files_in(folder) == std::set<std::string>{"A.mtx", "script", "out", "err"});  // no file called "-"
  const Outcome info = shell(folder, "$P info A.mtx --out -");
  CHECK(info.out.find("%%MatrixMarket matrix coordinate real general\n400 400 1920\n") == 0);
  CHECK(contains(info.err, "400"));
  // A reader that goes away costs what it did not read: that is an error.
  const Outcome gone = shell(folder, "$P solve generate:diffusion:20 ones --device host --quiet --out - | true");
  CHECK(gone.status == 2);
  CHECK(contains(gone.err, "cannot write standard output: Broken pipe"));
}

TEST_CASE("A limit on the size of files is an error that leaves no part of a file", "[cli][streams]") {
  const TemporaryFolder folder;
  folder.write("A.mtx", line_system(40000).text());
  for (const std::string name : {"x.mtx", "x.mtx.gz"}) {
    // 16 blocks of 1 kB, where the solution has some 800 kB and some 300 packed.
    const Outcome outcome = shell(folder,
                                  "ulimit -f 16; $P solve A.mtx --rhs random --max-iterations 3 --device host "
                                  "--out " +
                                      name);
    INFO(outcome.out << outcome.err);
    CHECK(outcome.status == 2);
    CHECK(contains(outcome.err, "newel: cannot write " + name + ": File too large\n"));
    CHECK(files_in(folder) == std::set<std::string>{"A.mtx", "script", "out", "err"});
  }
}

TEST_CASE("A solve says how many entries of the file were summed", "[cli][streams]") {
  const TemporaryFolder folder;
  const std::string matrix = folder.write("A.mtx",
                                          "%%MatrixMarket matrix coordinate real general\n2 2 5\n"
                                          "1 1 1\n2 2 3\n1 1 1\n2 2 1\n1 1 1\n");
  const Outcome outcome = run_newel({"solve", matrix, "--device", "host", "--report", folder.file("r.json")});
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.status == 0);
  CHECK(contains(outcome.out, "2 rows, 2 non-zeros, after summing 3 repeated entries\n"));
  CHECK(report_in(folder)["repeated_entries"] == 3);
  const std::string plain = folder.write("B.mtx", grid_system(3).text());
  CHECK(!contains(run_newel({"solve", plain, "--device", "host"}).out, "repeated"));
}

TEST_CASE("Programs are found next to the tests, and where NEWEL_TEST_PROGRAMS says", "[cli][streams]") {
  const char* before = std::getenv("NEWEL_TEST_PROGRAMS");
  const std::string kept = before != nullptr ? before : "";
  unsetenv("NEWEL_TEST_PROGRAMS");
  // Where the build put it does not matter: a copy of its folder runs.
  CHECK(Process({"--version"}, find_program("newel", "/nowhere/newel")).wait().status == 0);
  CHECK(find_program("no such program", "/nowhere/newel") == "/nowhere/newel");
  setenv("NEWEL_TEST_PROGRAMS", "/elsewhere", 1);
  CHECK(find_program("newel", "/nowhere/newel") == "/elsewhere/newel");
  unsetenv("NEWEL_TEST_PROGRAMS");
  if (before != nullptr) setenv("NEWEL_TEST_PROGRAMS", kept.c_str(), 1);
}

TEST_CASE("Tests on real matrices are skipped and counted where there are none", "[cli][streams]") {
  const TemporaryFolder folder;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const Outcome listed = shell(folder, "'" + self + "' --list-tests '[data]'");
  // The only tests that ask for the folder; the number stands in the last line, "4 matching test cases".
  const std::size_t at = listed.out.rfind(" matching test case");
  REQUIRE(at != std::string::npos);
  const std::string count = listed.out.substr(listed.out.rfind('\n', at) + 1, at - listed.out.rfind('\n', at) - 1);
  CHECK(std::stoi(count) >= 1);
  const Outcome skipped = shell(folder, "NEWEL_TEST_DATA= '" + self + "' '[data]'");
  INFO(skipped.out << skipped.err);
  CHECK(skipped.status == 77);
  CHECK(contains(skipped.out, "skipped, NEWEL_TEST_DATA is unset: " + count + " test cases\n"));
  // Others beside them count.
  const Outcome mixed = shell(folder, "NEWEL_TEST_DATA= '" + self + "' '[data],A solve says how many*'");
  CHECK(mixed.status == 0);
  CHECK(contains(mixed.out, "skipped, NEWEL_TEST_DATA is unset: " + count + " test cases\n"));
}
