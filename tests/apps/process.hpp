// SPDX-License-Identifier: Apache-2.0
/// Running the real executable: arguments in; exit status, stdout and stderr out.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "tests/temporary_folder.hpp"

namespace newel::cli_testing {

using testing::file_content;
using testing::TemporaryFolder;

using Words = std::vector<std::string>;

/// The words of a line, between spaces; '' is an empty one.
inline Words words(const std::string& line) {
  std::istringstream in(line);
  Words all(std::istream_iterator<std::string>(in), {});
  std::replace(all.begin(), all.end(), std::string("''"), std::string());
  return all;
}

/// The arguments of one list, then those of another.
inline Words joined(Words all, const Words& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

/// The program `name` to test: in the folder that NEWEL_TEST_PROGRAMS names, where it is set; else beside the test
/// program, which may be a copy of the build's folder on another machine; else `built`, where the build put it.
std::string find_program(const std::string& name, const std::string& built);

/// The command line `newel`.
std::string newel_program();

struct Outcome {
  int status = -1;  ///< exit status; -1 where a signal ended the process
  int signal = 0;
  std::string out, err;
};

/// A program with arguments, under way. stdout and stderr go to files; stdin is empty.
class Process {
 public:
  /// `executable` empty: `newel`.
  explicit Process(const std::vector<std::string>& arguments, const std::string& executable = "");

  std::string out_so_far() const { return file_content(files_.file("out")); }
  void send(int signal) const;
  /// Waits for the end; kills the process after `seconds`.
  Outcome wait(double seconds = 120);

 private:
  TemporaryFolder files_;
  pid_t pid_ = -1;
};

/// Runs `newel` to its end.
Outcome run_newel(const std::vector<std::string>& arguments);

/// The same, where it has to end with status 0.
Outcome run_well(const std::vector<std::string>& arguments);

/// Runs a line of bash in `folder`, in which `newel` and the programs beside it are those to test.
Outcome shell(const TemporaryFolder& folder, const std::string& line);

/// `newel` on a terminal of `columns` columns: what it drew, stdout and stderr together, in `out`. Empty where the
/// system gives no pseudo-terminal, as in a bare root without /dev/pts.
std::optional<Outcome> run_newel_on_terminal(const std::vector<std::string>& arguments, int columns);

}  // namespace newel::cli_testing

using namespace newel::cli_testing;
