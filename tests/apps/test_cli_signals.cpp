// SPDX-License-Identifier: Apache-2.0
// Ending a solve early: Ctrl-C, several of them, the time limit, a reader that goes away.
#include "tests/catch.hpp"

#include <nlohmann/json.hpp>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apps/common/interrupt.hpp"
#include "tests/apps/cli_report.hpp"
#include "tests/apps/cli_systems.hpp"
#include "tests/apps/process.hpp"

namespace {

// Lasts for minutes: CG needs about as many iterations as there are points on the line. It is named, so that no factors
// follow.
constexpr int long_line = 100000;

const Words endless = {"--rhs",      "random",    "--device", "host", "--max-iterations",
                       "1000000000", "--precond", "jacobi",   "--solver", "cg"};

Words solve_arguments(const std::string& matrix, const Words& more) {
  return joined(joined({"solve", matrix}, endless), more);
}

}  // namespace

TEST_IN_FOLDER("Ctrl-C, SIGTERM and SIGHUP stop a solve, which writes solution and report and exits with 1",
               "[cli]") {
  const std::string matrix = folder.write("A.mtx", line_system(long_line).text());
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    const std::string out = folder.file("x" + std::to_string(number) + ".mtx");
    const std::string report = folder.file("r" + std::to_string(number) + ".json");
    Process process(solve_arguments(matrix, {"--out", out, "--report", report}));
    for (int i = 0; i < 6000 && !contains(process.out_so_far(), "iteration 5") &&
                    !contains(process.out_so_far(), "iteration        5");
         ++i) {
      usleep(10000);
    }
    process.send(number);
    const Outcome outcome = process.wait(60);
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.status == 1);
    CHECK(contains(outcome.out, "not converged (stopped_by_caller) after "));  // as in the report
    CHECK(contains(outcome.out, "interrupted by Ctrl-C, SIGTERM or SIGHUP\n"));
    CHECK(parse_array(file_content(out)).size() == static_cast<std::size_t>(long_line));
    const Json r = Json::parse(file_content(report));
    CHECK(r["status"] == "stopped_by_caller");
    CHECK(r["converged"] == false);
  }
}

TEST_CASE("A signal within a second of the first means the same, a later one the end", "[cli]") {
  using newel::cli::InterruptLogic;
  using Meaning = InterruptLogic::Meaning;
  constexpr std::int64_t second = 1000000000;
  InterruptLogic logic;
  CHECK(!logic.requested());
  CHECK(logic.on_signal(7 * second) == Meaning::stop);
  CHECK(logic.requested());
  CHECK(logic.on_signal(7 * second) == Meaning::repeated);
  CHECK(logic.on_signal(7 * second + 1) == Meaning::repeated);
  CHECK(logic.on_signal(8 * second) == Meaning::repeated);
  CHECK(logic.on_signal(8 * second + 1) == Meaning::end_now);
  CHECK(logic.requested());
  logic.reset();
  CHECK(!logic.requested());
  CHECK(logic.on_signal(0) == Meaning::stop);  // a clock may begin at 0
  CHECK(logic.on_signal(1) == Meaning::repeated);
}

TEST_IN_FOLDER("Signals that follow each other at once stop a solve, which still writes its solution", "[cli]") {
  constexpr int longer_line = 4 * long_line;  // whose solution takes a while to be written
  const std::string matrix = folder.write("A.mtx", line_system(longer_line).text());
  for (const int second : {SIGINT, SIGTERM}) {
    const std::string out = folder.file("x" + std::to_string(second) + ".mtx");
    Process process(solve_arguments(matrix, {"--out", out}));
    // As soon as the first line about the set-up can be read, a signal is one to the solve.
    for (int i = 0; i < 60000 && !contains(process.out_so_far(), "matrix"); ++i) usleep(1000);
    // Two that arrive on their own: signals of one kind that wait together are one.
    process.send(SIGINT);
    usleep(2000);
    process.send(second);
    const Outcome outcome = process.wait(60);
    INFO(outcome.out << outcome.err);
    CHECK(outcome.signal == 0);
    REQUIRE(outcome.status == 1);
    CHECK(contains(outcome.out, "interrupted by Ctrl-C, SIGTERM or SIGHUP\n"));
    CHECK(parse_array(file_content(out)).size() == static_cast<std::size_t>(longer_line));
  }
}

TEST_CASE("A Ctrl-C more than a second after the first ends the process, during the solve and behind it", "[cli]") {
  for (const bool behind : {false, true}) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const auto reach = [&](char place) {
      if (write(ends[1], &place, 1) != 1) _exit(4);
    };
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      {
        const newel::cli::InterruptScope interrupt;
        raise(SIGINT);
        raise(SIGINT);
        if (!interrupt.requested()) _exit(5);
        reach('a');
        if (!behind) {
          usleep(1100000);
          raise(SIGINT);
          reach('b');
        }
      }
      raise(SIGTERM);  // while results are written
      reach('c');
      usleep(1100000);
      raise(SIGINT);
      reach('d');
      _exit(6);
    }
    int status = 0;
    waitpid(child, &status, 0);
    close(ends[1]);
    char reached[8] = {};
    CHECK(read(ends[0], reached, sizeof reached - 1) >= 0);
    close(ends[0]);
    CHECK(std::string(reached) == (behind ? "ac" : "a"));
    REQUIRE(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == SIGINT);
  }
}

TEST_IN_FOLDER("The time limit ends a solve with status 1", "[cli]") {
  const std::string matrix = folder.write("A.mtx", line_system(long_line).text());
  const Outcome outcome =
      run_newel(solve_arguments(matrix, {"--time-limit", "0.2", "--report", folder.file("r.json")}));
  INFO(outcome.out << outcome.err);
  CHECK(outcome.status == 1);
  CHECK(report_in(folder)["status"] == "time_limit");
}

TEST_IN_FOLDER("A reader of stdout that goes away does not cost the solution", "[cli]") {
  const std::string matrix = folder.write("A.mtx", grid_system(30).text());
  const std::string out = folder.file("x.mtx");
  const std::string command = "'" + newel_program() + "' solve " + matrix + " --rhs random --out " + out + " | true";
  REQUIRE(std::system(command.c_str()) == 0);
  // The shell waits for the last command of the pipe alone.
  for (int i = 0; i < 1000 && !std::filesystem::exists(out); ++i) usleep(10000);
  CHECK(parse_array(file_content(out)).size() == 900);
}
