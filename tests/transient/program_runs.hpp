// SPDX-License-Identifier: Apache-2.0
/// Running the demos as processes: their folders, and runs that are killed on the way.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "tests/apps/process.hpp"

namespace purlin::cli_testing {

inline std::vector<std::string> joined(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

inline Outcome run_on_host(const std::string& program, const std::vector<std::string>& arguments) {
  return Process(joined(arguments, {"--device", "host"}), program).wait(300);
}

inline std::set<std::string> names_in(const std::filesystem::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.insert(entry.path().filename().string());
  return names;
}

/// Kills the run as soon as a checkpoint behind step `steps` is there; whether it was still running then.
inline bool killed_behind(const std::string& program, const std::vector<std::string>& arguments,
                          const std::filesystem::path& folder, long steps) {
  Process process(joined(arguments, {"--device", "host"}), program);
  for (int i = 0; i < 60000; ++i) {
    if (std::filesystem::exists(folder)) {
      for (const std::string& name : names_in(folder)) {
        long found = -1;
        if (std::sscanf(name.c_str(), "checkpoint-%ld.bin", &found) == 1 && found >= steps) {
          process.send(SIGKILL);
          return process.wait().signal == SIGKILL;
        }
      }
    }
    usleep(500);
  }
  return false;
}

}  // namespace purlin::cli_testing
