// SPDX-License-Identifier: Apache-2.0
// Texts that cannot be written are reported, and files that are replaced keep their permissions.
#include "tests/catch.hpp"

#include <sys/stat.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>

#include "tests/apps/cli_systems.hpp"
#include "tests/apps/process.hpp"
#include "tests/support.hpp"

using namespace newel::cli_testing;
using newel::testing::contains;

namespace {

struct Ending {
  int status = -1;
  std::string err;
};

// `newel ARGUMENTS` in a folder, with its standard output as the redirection says.
Ending redirected(const TemporaryFolder& folder, const std::string& arguments, const std::string& redirection) {
  const std::string line =
      "cd '" + folder.path().string() + "' && '" + newel_program() + "' " + arguments + " " + redirection + " 2> err";
  const int status = std::system(("bash -c \"" + line + "\"").c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, file_content(folder.file("err"))};
}

}  // namespace

TEST_CASE("A text that cannot be written ends with status 2 and the system's words", "[cli]") {
  if (!std::filesystem::exists("/dev/full")) return;
  const TemporaryFolder folder;
  folder.write("A.mtx", grid_system(6).text());
  for (const std::string arguments :
       {"info A.mtx", "--help", "--version", "solve --help", "info --help", "bench --help", "bench spmv --help",
        "solve A.mtx --rhs ones --device host", "bench spmv A.mtx --device host"}) {
    CAPTURE(arguments);
    const Ending full = redirected(folder, arguments, "> /dev/full");
    CHECK(full.status == 2);
    CHECK(full.err == "newel: standard output cannot be written: No space left on device\n");
    CHECK(redirected(folder, arguments, "> out").status == 0);
    CHECK(redirected(folder, arguments, ">&-").status == 2);
  }
  // The solution is not lost with the text, and nothing is missing where nothing is printed.
  CHECK(redirected(folder, "solve A.mtx --rhs ones --device host --out x.mtx", "> /dev/full").status == 2);
  CHECK(std::filesystem::exists(folder.file("x.mtx")));
  CHECK(redirected(folder, "solve A.mtx --rhs ones --device host --quiet", "> /dev/full").status == 0);
}

TEST_CASE("A solution that replaces a file keeps its permissions", "[cli]") {
  const TemporaryFolder folder;
  const std::string matrix = folder.write("A.mtx", grid_system(6).text()), out = folder.write("x.mtx", "old");
  REQUIRE(chmod(out.c_str(), 0640) == 0);
  REQUIRE(run_newel({"solve", matrix, "--rhs", "ones", "--device", "host", "--out", out}).status == 0);
  struct stat status = {};
  REQUIRE(stat(out.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0640);
  CHECK(parse_array(file_content(out)).size() == 36);
}

TEST_CASE("Unknown options and values are answered with what was meant, in every command", "[cli]") {
  const TemporaryFolder folder;
  const std::string A = folder.write("A.mtx", grid_system(3).text());
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"solve", A, "--output", "x.mtx"}, "unknown option --output (did you mean --out?)"},
      {{"solve", A, "-b", "b.mtx"}, "unknown option -b (did you mean --rhs?)"},
      {{"solve", A, "--tol", "1e-3"}, "unknown option --tol (did you mean --rtol?)"},
      {{"solve", A, "--maxiter=5"}, "unknown option --maxiter (did you mean --max-iterations?)"},
      {{"solve", A, "maxiter=5"}, "unexpected argument 'maxiter=5' (did you mean --max-iterations?)"},
      {{"solve", A, "--preconditioner", "amg"}, "unknown option --preconditioner (did you mean --precond?)"},
      {{"solve", A, "--solver", "cgg"}, "(did you mean cg?)"},
      {{"solve", A, "--solver", "pcg"}, "(did you mean cg?)"},
      {{"solve", A, "--format", "ehb"}, "(did you mean ehyb?)"},
      {{"solve", A, "--precond", "ilu"}, "(did you mean spai?)"},
      {{"solve", A, "--precision", "float"}, "(did you mean single?)"},
      {{"solve", A, "--null-space", "constants"}, "(did you mean constant?)"},
      {{"solve", A, "--device", "gpu"}, "(did you mean cuda?)"},
      {{"solve", A, "--frobnicate"}, "unknown option --frobnicate; see newel solve --help"},
      {{"info", A, "--output", "x"}, "(did you mean --out?)"},
      {{"info", A, "--max-iterations", "3"}, "unknown option --max-iterations: it is one of newel solve"},
      {{"info", A, "--precond", "ichol"}, "(did you mean fsai?)"},
      {{"bench", "solve", A, "--rtol", "1e-3"}, "(did you mean --tol?)"},
      {{"bench", "spmv", A, "--output", "r.json"}, "unknown option --output"},
  };
  for (const auto& [arguments, expected] : cases) {
    const Outcome outcome = run_newel(arguments);
    INFO(outcome.err);
    CHECK(outcome.status == 2);
    CHECK(contains(outcome.err, expected));
  }
}
