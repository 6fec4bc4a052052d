// SPDX-License-Identifier: Apache-2.0
// Ending a solve early: Ctrl-C, a second Ctrl-C, the time limit, a reader that goes away.
#include "tests/catch.hpp"

#include <nlohmann/json.hpp>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apps/purlin/interrupt.hpp"
#include "tests/apps/cli_report.hpp"
#include "tests/apps/cli_systems.hpp"
#include "tests/apps/process.hpp"
#include "tests/support.hpp"

using namespace purlin::cli_testing;
using purlin::testing::contains;

namespace {

// Lasts for minutes: CG needs about as many iterations as there are points on the line.
constexpr int long_line = 100000;

const std::vector<std::string> endless = {"--rhs", "random", "--device", "host", "--max-iterations", "1000000000"};

std::vector<std::string> solve_arguments(const std::string& matrix, std::vector<std::string> more) {
  std::vector<std::string> arguments = {"solve", matrix};
  arguments.insert(arguments.end(), endless.begin(), endless.end());
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

}  // namespace

TEST_CASE("Ctrl-C and SIGTERM stop a solve, which writes solution and report and exits with 1", "[cli]") {
  const TemporaryFolder folder;
  const std::string matrix = folder.write("A.mtx", line_system(long_line).text());
  for (const int number : {SIGINT, SIGTERM}) {
    const std::string out = folder.file("x" + std::to_string(number) + ".mtx");
    const std::string report = folder.file("r" + std::to_string(number) + ".json");
    Process process(solve_arguments(matrix, {"--out", out, "--report", report}));
    for (int i = 0; i < 6000 && process.out_so_far().find("iteration 5") == std::string::npos &&
                    process.out_so_far().find("iteration        5") == std::string::npos;
         ++i) {
      usleep(10000);
    }
    process.send(number);
    const Outcome outcome = process.wait(60);
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.status == 1);
    CHECK(contains(outcome.out, "not converged (stopped_by_caller) after "));  // as in the report
    CHECK(contains(outcome.out, "interrupted by Ctrl-C or SIGTERM\n"));
    CHECK(parse_array(file_content(out)).size() == static_cast<std::size_t>(long_line));
    const Json r = Json::parse(file_content(report));
    CHECK(r["status"] == "stopped_by_caller");
    CHECK(r["converged"] == false);
  }
}

TEST_CASE("The second Ctrl-C ends the process at once", "[cli]") {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const purlin::cli::InterruptScope interrupt;
    raise(SIGINT);
    if (!interrupt.requested()) _exit(5);
    raise(SIGINT);
    _exit(6);
  }
  int status = 0;
  waitpid(child, &status, 0);
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGINT);
}

TEST_CASE("The time limit ends a solve with status 1", "[cli]") {
  const TemporaryFolder folder;
  const std::string matrix = folder.write("A.mtx", line_system(long_line).text());
  const Outcome outcome =
      run_purlin(solve_arguments(matrix, {"--time-limit", "0.2", "--report", folder.file("r.json")}));
  INFO(outcome.out << outcome.err);
  CHECK(outcome.status == 1);
  CHECK(report_in(folder)["status"] == "time_limit");
}

TEST_CASE("A reader of stdout that goes away does not cost the solution", "[cli]") {
  const TemporaryFolder folder;
  const std::string matrix = folder.write("A.mtx", grid_system(30).text());
  const std::string out = folder.file("x.mtx");
  const std::string command =
      std::string("'") + PURLIN_EXECUTABLE + "' solve " + matrix + " --out " + out + " | true";
  REQUIRE(std::system(command.c_str()) == 0);
  // The shell waits for the last command of the pipe alone.
  for (int i = 0; i < 1000 && !std::filesystem::exists(out); ++i) usleep(10000);
  CHECK(parse_array(file_content(out)).size() == 900);
}
