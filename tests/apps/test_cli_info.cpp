// SPDX-License-Identifier: Apache-2.0
// `newel info`, `--help`, `--version`: on matrices whose facts one counts by hand.
#include "tests/catch.hpp"

#include "tests/apps/cli_report.hpp"
#include "tests/apps/cli_systems.hpp"
#include "tests/apps/process.hpp"
#include "tests/support.hpp"

using namespace newel::cli_testing;
using newel::testing::contains;

namespace {

Json info_of(const TemporaryFolder& folder, const std::string& matrix, std::string* printed = nullptr) {
  const Outcome outcome = run_newel({"info", matrix, "--report", folder.file("i.json")});
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.status == 0);
  CHECK(outcome.err.empty());
  if (printed != nullptr) *printed = outcome.out;
  CHECK(begins_as_report(file_content(folder.file("i.json")), "newel info"));
  return report_in(folder, "i.json");
}

}  // namespace

TEST_CASE("info counts what one counts by hand on a 4 x 4 matrix", "[cli]") {
  const TemporaryFolder folder;
  //   2  -1   .   .      row 3: zero on the diagonal
  //  -1   2   .   5      row 4: negative; row 2 is not dominant
  //   .   .   0   .
  //   .   .   1  -3
  const std::string matrix = folder.write("A.mtx",
                                          "%%MatrixMarket matrix coordinate real general\n4 4 9\n"
                                          "1 1 2\n1 2 -1\n2 1 -1\n2 2 1\n2 2 1\n2 4 5\n3 3 0\n4 3 1\n4 4 -3\n");
  std::string printed;
  const Json r = info_of(folder, matrix, &printed);
  CHECK(r["rows"] == 4);
  CHECK(r["cols"] == 4);
  CHECK(r["nonzeros"] == 8);
  CHECK(r["repeated_entries"] == 1);
  CHECK(r["symmetry"]["pattern"] == false);
  CHECK(r["symmetry"]["values"] == false);
  CHECK(r["symmetry"]["max_asymmetry"] == 5.0);
  CHECK(r["diagonal"]["missing"]["count"] == 0);
  CHECK(r["diagonal"]["missing"]["first_row"].is_null());
  CHECK(r["diagonal"]["zero"]["count"] == 1);
  CHECK(r["diagonal"]["zero"]["first_row"] == 3);
  CHECK(r["diagonal"]["negative"]["first_row"] == 4);
  CHECK(r["diagonal"]["dominant_share"] == 0.75);
  CHECK(r["bandwidth"]["lower"] == 1);
  CHECK(r["bandwidth"]["upper"] == 2);
  CHECK(r["block_size"] == 1);
  CHECK(r["row_lengths"]["shortest"] == 1);
  CHECK(r["row_lengths"]["longest"] == 3);
  CHECK(r["row_lengths"]["mean"] == 2.0);
  CHECK(r["formats"][0]["name"] == "csr");
  CHECK(contains(printed, " in single precision, estimated (host"));
  CHECK(r["values_taken_as_one"] == false);
  CHECK(r["recommended_command"].is_null());  // a row of zeros: no solve can work
  for (const char* word : {"symmetry", "diagonal", "bandwidth", "block size", "row length", "####", "csr"}) {
    INFO(printed << "lacks " << word);
    CHECK(printed.find(word) != std::string::npos);
  }
}

TEST_CASE("info recommends a command that solves, and sees blocks", "[cli]") {
  const TemporaryFolder folder;
  const Json grid = info_of(folder, folder.write("A.mtx", grid_system(10).text()));
  CHECK(grid["symmetry"]["values"] == true);
  const std::string command = grid["recommended_command"];
  CHECK(command == "newel solve " + folder.file("A.mtx") + " --rhs 'A*random'");
  CHECK(contains(grid["recommended_reason"], "cg"));
  CHECK(run_newel({"solve", folder.file("A.mtx"), "--rhs", "A*random", "--quiet"}).status == 0);
  CHECK(info_of(folder, "generate:elasticity:4")["block_size"] == 3);
}

TEST_CASE("info and the refusal of a zero diagonal say the same, and that solves", "[cli]") {
  const TemporaryFolder folder;
  // A saddle point: a grid, and below it two rows that tie the first and the last unknown, with nothing on the
  // diagonal.
  System s = grid_system(16);
  for (const int tied : {1, 256}) {
    ++s.n;
    s.entries.push_back({s.n, tied, 1});
    s.entries.push_back({tied, s.n, 1});
  }
  const std::string matrix = folder.write("A.mtx", s.text());
  const Json r = info_of(folder, matrix);
  CHECK(r["recommended_command"] == "newel solve " + matrix + " --rhs 'A*random' --precond none");
  CHECK(contains(r["recommended_reason"], "--precond spai --spai-adaptive 0.4"));
  const Outcome refused = run_newel({"solve", matrix, "--device", "host", "--precond", "jacobi"});
  CHECK(refused.status == 2);
  CHECK(contains(refused.err, "--precond none, then --precond spai --spai-adaptive 0.4"));
  CHECK(run_newel({"solve", matrix, "--device", "host", "--precond", "none", "--quiet"}).status == 0);
}

TEST_CASE("info sees that the rows sum to zero, and its command solves such a system", "[cli]") {
  const TemporaryFolder folder;
  System s = line_system(40);
  s.entries.front().value = 1;  // row 1: 1 -1
  s.entries.back().value = 1;   // row n: -1 1
  const std::string matrix = folder.write("neumann.mtx", s.text());
  std::string printed;
  const Json r = info_of(folder, matrix, &printed);
  CHECK(r["rows_sum_to_zero"] == true);
  CHECK(r["min_abs"] == 1.0);
  CHECK(contains(printed, "rows sum to zero: singular"));
  CHECK(contains(printed, "|a_ij| from 1 to 2"));
  CHECK(r["recommended_command"] == "newel solve " + matrix + " --rhs 'A*random' --null-space constant");
  CHECK(run_newel({"solve", matrix, "--null-space", "constant", "--quiet"}).status == 0);
  const Json fixed = info_of(folder, folder.write("fixed.mtx", line_system(40).text()), &printed);
  CHECK(fixed["rows_sum_to_zero"] == false);
  CHECK_FALSE(contains(printed, "null space"));
}

TEST_CASE("info takes matrices that are not square, and empty ones", "[cli]") {
  const TemporaryFolder folder;
  const std::string banner = "%%MatrixMarket matrix coordinate real general\n";
  const Json wide = info_of(folder, folder.write("wide.mtx", banner + "2 3 2\n1 1 1\n2 3 1\n"));
  CHECK(wide["symmetry"].is_null());
  CHECK(wide["recommended_command"].is_null());
  const Json nothing = info_of(folder, folder.write("nothing.mtx", banner + "0 0 0\n"));
  CHECK(nothing["nonzeros"] == 0);
}

TEST_CASE("info writes the matrix that it describes", "[cli]") {
  const TemporaryFolder folder;
  const Outcome outcome = run_newel({"info", "generate:grid7:2", "--out", folder.file("A.mtx")});
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.status == 0);
  const std::string text = file_content(folder.file("A.mtx"));
  CHECK(text.find("%%MatrixMarket matrix coordinate real general\n8 8 32\n1 1 6\n1 2 -1\n") == 0);
  const Json again = info_of(folder, folder.file("A.mtx"));
  CHECK(again["nonzeros"] == 32);
  CHECK(run_newel({"info", folder.file("A.mtx"), "--out", folder.file("A.mtx")}).status == 2);
}

TEST_CASE("Help and version end in status 0 and say what there is", "[cli]") {
  const Outcome help = run_newel({"--help"});
  CHECK(help.status == 0);
  CHECK(help.out.find("solve") != std::string::npos);
  const Outcome solve = run_newel({"solve", "--help"});
  CHECK(solve.status == 0);
  for (const char* option :
       {"--rhs",        "--guess",       "--out",        "--solver",  "--precond",        "--format",
        "--device",     "--precision",   "--rtol",       "--atol",    "--max-iterations", "--restart",
        "--left",       "--threads",     "--time-limit", "--history", "--report",         "--quiet",
        "--null-space", "--check-every", "--basis",      "--html",    "Examples"}) {
    INFO(option);
    CHECK(solve.out.find(option) != std::string::npos);
  }
  CHECK_FALSE(contains(solve.out, "{false}"));
  for (const char* command : {"solve", "info"}) {
    const Outcome kinds = run_newel({command, "--help"});
    for (const char* kind : {"elasticity", "diffusion", "convection", "grid7"}) {
      INFO(command << " lacks " << kind);
      CHECK(contains(kinds.out, kind));
    }
  }
  const Outcome version = run_newel({"--version"});
  CHECK(version.status == 0);
  CHECK(version.out.find(NEWEL_VERSION) != std::string::npos);
  CHECK(version.out.find("CUDA") != std::string::npos);
}
