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
#include "tests/catch.hpp"

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

/// A run in folder `whole`, and the same in `broken`, killed behind each of `steps` and gone on with: in the end
/// every file but the report has the same bytes.
inline void check_killed_runs(const std::string& program, const std::vector<std::string>& run,
                              const std::vector<std::string>& going_on, const std::string& whole,
                              const std::string& broken, const std::vector<long>& steps) {
  const Outcome unbroken = run_on_host(program, joined(run, {"--out", whole}));
  INFO(unbroken.err);
  REQUIRE(unbroken.status == 0);
  const std::vector<std::string> resume = joined({"--resume", broken}, going_on);
  int kills = killed_behind(program, joined(run, {"--out", broken}), broken, steps.front()) ? 1 : 0;
  for (std::size_t k = 1; k < steps.size(); ++k) kills += killed_behind(program, resume, broken, steps[k]) ? 1 : 0;
  CHECK(kills >= 1);  // on a crowded machine a run may end before it is looked at
  const Outcome last = run_on_host(program, resume);
  INFO(last.err);
  REQUIRE(last.status == 0);
  CHECK(names_in(broken) == names_in(whole));
  for (const std::string& name : names_in(whole)) {
    if (name == "report.json") continue;
    CAPTURE(name);
    CHECK(file_content(broken + "/" + name) == file_content(whole + "/" + name));
  }
}

}  // namespace purlin::cli_testing
