// SPDX-License-Identifier: Apache-2.0
// From main to an exit status.
#include "program.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "exit_status.hpp"
#include "interrupt.hpp"
#include "process_heap.hpp"
#include "text.hpp"

namespace newel::cli {
namespace {

int text_error = 0;  // errno of the first text that could not be written

void note_failure(std::FILE* stream, bool failed) {
  if (failed && text_error == 0) text_error = errno != 0 ? errno : EIO;
  if (failed) std::clearerr(stream);  // one failure is reported once
}

// Arguments, the values in "--option=value", and both without their folders.
std::vector<std::string> names_in(int argc, char* argv[]) {
  std::vector<std::string> names;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    names.push_back(argument);
    for (const char separator : {'=', '/'}) {
      const std::size_t at = separator == '=' ? argument.find(separator) : argument.rfind(separator);
      if (at != std::string::npos) names.push_back(argument.substr(at + 1));
    }
  }
  return names;
}

// A stream that was closed is opened so that its use fails: the first file would take its number otherwise, and
// receive what is printed.
void occupy_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0) continue;
    static_cast<void>(::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY));
  }
}

int status_of(const char* program, int argc, char* argv[], int (*work)(int, char*[])) {
  try {
    return work(argc, argv);
  } catch (...) {
    return report_exception(program);
  }
}

}  // namespace

void print_text(std::FILE* stream, const std::string& lines) {
  errno = 0;
  const bool written = std::fputs(printable_lines(lines).c_str(), stream) >= 0 && std::fflush(stream) == 0;
  note_failure(stream, !written);
}

int run_program(const char* program, int argc, char* argv[], int (*work)(int argc, char* argv[])) {
  prepare_heap();
  occupy_standard_streams();
  ignore_signals_of_writes();
  set_printed_names(names_in(argc, argv));
  const int status = status_of(program, argc, argv, work);
  errno = 0;
  note_failure(stdout, std::fflush(stdout) != 0 || std::ferror(stdout) != 0);
  if (text_error == 0 || status == exit_device_failure) return status;
  print_error(std::string("standard output cannot be written: ") + std::strerror(text_error), program);
  return exit_bad_input;
}

}  // namespace newel::cli
