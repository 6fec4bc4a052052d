// SPDX-License-Identifier: Apache-2.0
// Matrices and vectors through pipes, and the solution on standard output.
#include "tests/catch.hpp"

#include "tests/apps/cli_systems.hpp"
#include "tests/apps/process.hpp"

namespace {

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

TEST_IN_FOLDER("A matrix is read from a pipe, plain or gzipped, and from standard input", "[cli][streams]") {
  const System system = grid_system(20);
  folder.write("A.mtx", system.text());
  const std::string solve = " --rhs ones --device host --quiet --out x.mtx ";
  for (const std::string& line :
       {"cat A.mtx | newel solve -" + solve, "gzip -c A.mtx | newel solve -" + solve,
        "newel solve <(cat A.mtx)" + solve, "newel solve <(gzip -c A.mtx)" + solve,
        "newel solve -" + solve + "< A.mtx", "mkfifo p; cat A.mtx > p & newel solve p" + solve,
        // in pieces, as a slow writer sends them
        "(head -c 9 A.mtx; sleep 0.1; tail -c +10 A.mtx) | newel solve -" + solve}) {
    const Outcome outcome = shell(folder, "rm -f x.mtx; " + line);
    INFO(line << '\n' << outcome.out << outcome.err);
    REQUIRE(outcome.status == 0);
    CHECK(residual_with_ones(system, parse_array(file_content(folder.file("x.mtx")))) < 1e-7);
  }
}

TEST_IN_FOLDER("A right-hand side is read from standard input, where the matrix is not", "[cli][streams]") {
  const System system = grid_system(12);
  folder.write("A.mtx", system.text());
  std::string b = "%%MatrixMarket matrix array real general\n144 1\n";
  for (int i = 0; i < 144; ++i) b += "1\n";
  folder.write("b.mtx", b);
  const Outcome outcome = shell(folder, "cat b.mtx | newel solve A.mtx --rhs - --out x.mtx --device host");
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.status == 0);
  CHECK(residual_with_ones(system, parse_array(file_content(folder.file("x.mtx")))) < 1e-7);
}

TEST_IN_FOLDER("The option --out - writes the solution to standard output and the report to standard error",
               "[cli][streams]") {
  const System system = grid_system(20);
  folder.write("A.mtx", system.text());
  for (const std::string line : {"newel solve A.mtx --rhs ones --device host --out -",
                                 "newel solve A.mtx --rhs ones --device host --out - | cat"}) {
    const Outcome outcome = shell(folder, line);
    INFO(line << outcome.err);
    REQUIRE(outcome.status == 0);
    REQUIRE(outcome.out.find("%%MatrixMarket matrix array real general\n400 1\n") == 0);
    CHECK(residual_with_ones(system, parse_array(outcome.out)) < 1e-7);
    CHECK(contains(outcome.err, "converged after "));
  }
  CHECK(files_in(folder) == std::set<std::string>{"A.mtx"});  // no file called "-"
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

TEST_IN_FOLDER("Tests on real matrices are skipped and counted where there are none", "[cli][streams]") {
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
  const Outcome mixed = shell(folder, "NEWEL_TEST_DATA= '" + self + "' '[data],Programs are found next*'");
  CHECK(mixed.status == 0);
  CHECK(contains(mixed.out, "skipped, NEWEL_TEST_DATA is unset: " + count + " test cases\n"));
}
