// SPDX-License-Identifier: Apache-2.0
/// Running the real executable: arguments in; exit status, stdout and stderr out.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace purlin::testing {

/// A folder of its own, removed with everything in it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string path(const std::string& name) const { return folder_ + '/' + name; }
  /// Writes a file and returns its path.
  std::string write(const std::string& name, const std::string& content) const;

 private:
  std::string folder_;
};

std::string read_file(const std::string& path);
bool file_exists(const std::string& path);

struct Outcome {
  int status = -1;  ///< exit status; -1 where a signal ended the process
  int signal = 0;
  std::string out, err;
};

/// `purlin` with arguments, under way. stdout and stderr go to files; stdin is empty.
class Process {
 public:
  explicit Process(const std::vector<std::string>& arguments);

  std::string out_so_far() const { return read_file(files_.path("out")); }
  void send(int signal) const;
  /// Waits for the end; kills the process after `seconds`.
  Outcome wait(double seconds = 120);

 private:
  TemporaryFolder files_;
  pid_t pid_ = -1;
};

/// Runs `purlin` to its end.
Outcome run_purlin(const std::vector<std::string>& arguments);

/// The same on a terminal of `columns` columns: what it drew, stdout and stderr together, in `out`.
Outcome run_purlin_on_terminal(const std::vector<std::string>& arguments, int columns);

}  // namespace purlin::testing
