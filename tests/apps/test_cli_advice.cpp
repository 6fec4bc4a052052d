// SPDX-License-Identifier: Apache-2.0
// Advice that the command line gives for systems without a solution: no method, no iterations, nothing that was
// tried.
#include "tests/catch.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "tests/apps/cli_report.hpp"
#include "tests/apps/cli_systems.hpp"
#include "tests/apps/process.hpp"
#include "tests/support.hpp"

using namespace newel::cli_testing;
using newel::testing::contains;

namespace {

std::string column(const std::vector<double>& b) {
  std::string text = "%%MatrixMarket matrix array real general\n" + std::to_string(b.size()) + " 1\n";
  for (const double value : b) text += std::to_string(value) + '\n';
  return text;
}

Outcome solve(const TemporaryFolder& folder, const std::string& matrix, const std::vector<double>& b,
              const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {"solve",     folder.write("A.mtx", matrix),
                                        "--rhs",     folder.write("b.mtx", column(b)),
                                        "--device",  "host",
                                        "--threads", "1",
                                        "--report",  folder.file("r.json")};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_newel(arguments);
}

const std::string zero_row = "%%MatrixMarket matrix coordinate real general\n4 4 4\n1 1 1\n2 2 2\n3 3 3\n4 4 0\n";

}  // namespace

TEST_CASE("A row of explicit zeros is named in the reason, and no method is advised", "[cli][advice]") {
  const TemporaryFolder folder;
  const Outcome outcome = solve(folder, zero_row, {1, 1, 1, 1});
  INFO(outcome.out << outcome.err);
  CHECK(outcome.status == 1);
  const Json report = report_in(folder);
  CHECK(
      contains(report["reason"].get<std::string>(), "row 4 of A holds no value other than 0, and b is not 0 there"));
  CHECK(contains(report["advice"].get<std::string>(), "row 4"));
  CHECK_FALSE(contains(report["advice"].get<std::string>(), "--"));
  CHECK(contains(outcome.out, "row 4 of A holds no value other than 0"));
}

TEST_CASE("A preconditioner that a row of zeros refuses is refused with the row, not with another one",
          "[cli][advice]") {
  const TemporaryFolder folder;
  const Outcome refused = solve(folder, zero_row, {1, 1, 1, 1}, {"--precond", "jacobi"});
  CHECK(refused.status == 2);
  CHECK(contains(refused.err, "row 4 holds no value other than 0, so the matrix is singular"));
  CHECK_FALSE(contains(refused.err, "--precond"));
  const Outcome zero = solve(folder, "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 0\n2 2 0\n", {1, 1},
                             {"--precond", "amg"});
  CHECK(zero.status == 2);
  CHECK(contains(zero.err, "the matrix holds no value other than 0"));
  CHECK_FALSE(contains(zero.err, "--precond"));
  const Outcome info = run_newel({"info", folder.file("A.mtx")});
  CHECK(contains(info.out, "the matrix holds no value other than 0"));
}

TEST_CASE("A column without values is a fact of a matrix, and named where a solve fails", "[cli][advice]") {
  const TemporaryFolder folder;
  // Row 4 has an entry, and nothing is stored in column 4.
  const std::string matrix = "%%MatrixMarket matrix coordinate real general\n4 4 4\n1 1 1\n2 2 2\n3 3 3\n4 3 1\n";
  const Outcome outcome = solve(folder, matrix, {1, 1, 1, 1});
  CHECK(outcome.status == 1);
  const Json report = report_in(folder);
  CHECK(contains(report["reason"].get<std::string>(), "column 4 of A holds no value other than 0: A is singular"));
  CHECK(contains(report["advice"].get<std::string>(), "give that unknown an equation"));
  const Outcome info = run_newel({"info", folder.file("A.mtx"), "--report", folder.file("i.json")});
  CHECK(contains(info.out, "1 zero (first in column 4)"));
  CHECK(contains(info.out, "column 4 holds no value other than 0, so the matrix is singular"));
  const Json facts = report_in(folder, "i.json");
  CHECK(facts["zero_columns"] == Json({{"count", 1}, {"first_column", 4}}));
}

TEST_CASE("A singular system whose b is outside its range is not advised more iterations", "[cli][advice]") {
  const TemporaryFolder folder;
  const Outcome outcome =
      solve(folder, "%%MatrixMarket matrix coordinate real symmetric\n5 5 5\n1 1 4\n2 2 4\n3 3 8\n4 3 -3\n5 3 -4\n",
            {0, 0, 0, -7, -11});
  INFO(outcome.out << outcome.err);
  CHECK(outcome.status == 1);
  CHECK_FALSE(contains(report_in(folder)["advice"].get<std::string>(), "--max-iterations"));
}

TEST_CASE("No advice names more than one option of a kind", "[cli][advice]") {
  const TemporaryFolder folder;
  for (const std::string solver : {"auto", "cg", "bicgstab", "gmres"}) {
    for (const std::string precond : {"auto", "none", "jacobi", "spai"}) {
      const Outcome outcome = run_newel({"solve", "generate:convection:6:1000", "--solver", solver, "--precond",
                                         precond, "--rtol", "1e-16", "--max-iterations", "400", "--restart", "5",
                                         "--device", "host", "--report", folder.file("r.json")});
      const std::string advice = report_in(folder)["advice"].get<std::string>();
      CAPTURE(solver, precond, advice);
      CHECK(advice.find("--precond ") == advice.rfind("--precond "));
      CHECK(advice.find("--solver ") == advice.rfind("--solver "));
      CHECK_FALSE(contains(advice, ", or --"));
      CHECK((outcome.status == 0) == advice.empty());
      if (solver != "auto") CHECK_FALSE(contains(advice, "--solver " + solver + ' '));
      if (precond != "auto") CHECK_FALSE(contains(advice, "--precond " + precond + ':'));
    }
  }
}
