// SPDX-License-Identifier: Apache-2.0
// Processes and terminals for the tests of the command line.
#include "tests/apps/process.hpp"
#include "tests/catch.hpp"

#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <stdexcept>

namespace newel::cli_testing {
namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void execute(const std::vector<std::string>& arguments, const std::string& executable) {
  std::vector<char*> argv;
  argv.push_back(const_cast<char*>(executable.c_str()));
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execv(executable.c_str(), argv.data());
  _exit(127);
}

void redirect(const std::string& path, int flags, int descriptor) {
  const int file = open(path.c_str(), flags, 0600);
  if (file < 0) _exit(126);
  dup2(file, descriptor);
  close(file);
}

Outcome outcome_of(int wait_status) {
  Outcome outcome;
  if (WIFEXITED(wait_status)) outcome.status = WEXITSTATUS(wait_status);
  if (WIFSIGNALED(wait_status)) outcome.signal = WTERMSIG(wait_status);
  return outcome;
}

}  // namespace

std::string find_program(const std::string& name, const std::string& built) {
  namespace fs = std::filesystem;
  if (const char* folder = std::getenv("NEWEL_TEST_PROGRAMS")) return (fs::path(folder) / name).string();
  std::error_code error;
  const fs::path neighbour = fs::read_symlink("/proc/self/exe", error).parent_path() / name;
  return !error && fs::exists(neighbour, error) ? neighbour.string() : built;
}

std::string newel_program() { return find_program("newel", NEWEL_EXECUTABLE); }

Process::Process(const std::vector<std::string>& arguments, const std::string& executable) {
  const std::string out = files_.file("out");
  const std::string err = files_.file("err");
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("fork failed");
  if (pid_ == 0) {
    signal(SIGINT, SIG_DFL);
    redirect("/dev/null", O_RDONLY, STDIN_FILENO);
    redirect(out, O_WRONLY | O_CREAT, STDOUT_FILENO);
    redirect(err, O_WRONLY | O_CREAT, STDERR_FILENO);
    execute(arguments, executable.empty() ? newel_program() : executable);
  }
}

void Process::send(int number) const { kill(pid_, number); }

Outcome Process::wait(double seconds) {
  const auto deadline = Clock::now() + std::chrono::duration<double>(seconds);
  int status = 0;
  while (waitpid(pid_, &status, WNOHANG) == 0) {
    if (Clock::now() > deadline) kill(pid_, SIGKILL);
    usleep(5000);
  }
  Outcome outcome = outcome_of(status);
  outcome.out = file_content(files_.file("out"));
  outcome.err = file_content(files_.file("err"));
  return outcome;
}

Outcome run_newel(const std::vector<std::string>& arguments) { return Process(arguments).wait(); }

Outcome run_well(const std::vector<std::string>& arguments) {
  const Outcome outcome = run_newel(arguments);
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.status == 0);
  return outcome;
}

Outcome shell(const TemporaryFolder& folder, const std::string& line) {
  const std::string programs = std::filesystem::path(newel_program()).parent_path().string();
  const std::string head = "cd '" + folder.path().string() + "'; PATH='" + programs + "':$PATH; set -o pipefail\n";
  return Process({"-c", head + line}, "/bin/bash").wait();
}

std::optional<Outcome> run_newel_on_terminal(const std::vector<std::string>& arguments, int columns) {
  winsize size = {};
  size.ws_col = static_cast<unsigned short>(columns);
  size.ws_row = 24;
  int terminal = -1;
  const pid_t pid = forkpty(&terminal, nullptr, nullptr, &size);
  if (pid < 0) return std::nullopt;
  if (pid == 0) {
    setenv("TERM", "xterm", 1);
    execute(arguments, newel_program());
  }
  std::string drawn;
  char buffer[4096];
  // A terminal whose process is gone reads as an error, not as an end.
  for (ssize_t count; (count = read(terminal, buffer, sizeof buffer)) > 0;) {
    drawn.append(buffer, static_cast<std::size_t>(count));
  }
  int status = 0;
  waitpid(pid, &status, 0);
  close(terminal);
  Outcome outcome = outcome_of(status);
  outcome.out = drawn;
  return outcome;
}

}  // namespace newel::cli_testing
