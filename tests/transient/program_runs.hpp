// SPDX-License-Identifier: Apache-2.0
/// Running the demos as processes: their folders, and runs that are killed on the way.
#pragma once

#include <signal.h>
#include <unistd.h>

#include "apps/fem/mesh.hpp"
#include "tests/apps/process.hpp"
#include "tests/catch.hpp"

namespace newel::cli_testing {

inline Outcome run_on_host(const std::string& program, const Words& arguments) {
  return Process(joined(arguments, {"--device", "host"}), program).wait(300);
}

/// A mesh as a Medit file, `scale` times as large.
inline std::string medit_text(const fem::TetMesh& mesh, double scale = 1) {
  std::ostringstream out;
  out << "MeshVersionFormatted 2\nDimension 3\nVertices\n" << mesh.node_count() << '\n';
  for (const fem::Point& x : mesh.nodes) {
    out << scale * x[0] << ' ' << scale * x[1] << ' ' << scale * x[2] << " 0\n";
  }
  out << "Tetrahedra\n" << mesh.tet_count() << '\n';
  for (const fem::Tet& t : mesh.tets) {
    for (const Index corner : t) out << corner + 1 << ' ';
    out << "0\n";
  }
  return out.str() + "End\n";
}

inline std::set<std::string> names_in(const std::filesystem::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.insert(entry.path().filename().string());
  return names;
}

/// Sends `number` as soon as a checkpoint behind step `steps` is there, and waits for the end. Signal 0 and status -1
/// where none came.
inline Outcome signalled_behind(const std::string& program, const Words& arguments,
                                const std::filesystem::path& folder, long steps, int number) {
  Process process(joined(arguments, {"--device", "host"}), program);
  for (int i = 0; i < 60000; ++i) {
    if (std::filesystem::exists(folder)) {
      for (const std::string& name : names_in(folder)) {
        long found = -1;
        if (std::sscanf(name.c_str(), "checkpoint-%ld.bin", &found) == 1 && found >= steps) {
          process.send(number);
          return process.wait();
        }
      }
    }
    usleep(500);
  }
  return {};
}

/// Kills the run as soon as a checkpoint behind step `steps` is there; whether it was still running then.
inline bool killed_behind(const std::string& program, const Words& arguments, const std::filesystem::path& folder,
                          long steps) {
  return signalled_behind(program, arguments, folder, steps, SIGKILL).signal == SIGKILL;
}

inline int checkpoints_in(const std::filesystem::path& folder) {
  int count = 0;
  for (const std::string& name : names_in(folder)) count += name.rfind("checkpoint-", 0) == 0 ? 1 : 0;
  return count;
}

/// A run with checkpoints in `folder`; then one that begins anew there and writes none of its own, at once and killed
/// behind its file `first_frame`: what is left is no run to continue with. And --resume into a folder with a run in
/// it begins its tables anew. `run` prints, and lasts for `step` and more; `table` has lines from time 0 on.
inline void check_new_runs_in_old_folders(const std::string& program, const Words& run, const std::string& step,
                                          const std::string& folder, const std::string& first_frame,
                                          const std::string& table) {
  const Words earlier = joined(run, {"--out", folder, "--duration", "8", "--checkpoint-every", step});
  const Words resume = {"--resume", folder, "--duration", "9"};
  REQUIRE(run_on_host(program, earlier).status == 0);
  REQUIRE(checkpoints_in(folder) == 2);
  std::filesystem::copy(folder, folder + "-kept");

  const Outcome anew = run_on_host(program, joined(run, {"--out", folder, "--duration", "3"}));
  INFO(anew.out << anew.err);
  REQUIRE(anew.status == 0);
  CHECK(contains(anew.out, "2 checkpoints of an earlier run in " + folder));
  CHECK(checkpoints_in(folder) == 0);
  CHECK(contains(file_content(folder + "/report.json"), "\"checkpoints_removed\": 2"));
  const Outcome none = run_on_host(program, resume);
  CHECK(none.status == 2);
  CHECK(contains(none.err, "no valid checkpoint to resume from: the folder holds none"));

  REQUIRE(run_on_host(program, joined(earlier, {"--quiet"})).out.empty());
  std::filesystem::remove(folder + "/" + first_frame);
  Process killed(joined(run, {"--out", folder, "--duration", "100000", "--output-every", step, "--device", "host"}),
                 program);
  for (int i = 0; i < 60000 && !std::filesystem::exists(folder + "/" + first_frame); ++i) usleep(500);
  killed.send(SIGKILL);
  REQUIRE(killed.wait().signal == SIGKILL);
  CHECK(run_on_host(program, resume).status == 2);

  const std::string old_lines = file_content(folder + "-kept/" + table);
  const Outcome elsewhere = run_on_host(
      program, {"--resume", folder + "-kept", "--duration", "9", "--out", folder, "--checkpoint-every", step});
  INFO(elsewhere.err);
  REQUIRE(elsewhere.status == 0);
  CHECK(file_content(folder + "-kept/" + table) == old_lines);
  CHECK_FALSE(contains(file_content(folder + "/" + table), "\n0,"));
}

/// A second run into the folder of one that is under way, new or resumed, by either demo, is refused by the name of
/// the first; that one ends as if it were alone. `run` lasts for a while and writes checkpoints.
inline void check_second_run_is_refused(const std::string& program, const Words& run, const std::string& folder,
                                        const std::string& link) {
  Process first(joined(run, {"--out", folder, "--device", "host"}), program);
  for (int i = 0; i < 60000 && !std::filesystem::exists(folder + "/run.lock"); ++i) usleep(500);
  while (std::filesystem::exists(folder + "/run.lock") && checkpoints_in(folder) == 0) usleep(500);
  std::filesystem::create_directory_symlink(folder, link);
  int refused = 0;
  for (const Words& second : {joined(run, {"--out", folder}), {"--resume", folder}, joined(run, {"--out", link})}) {
    const Outcome outcome = run_on_host(program, second);
    INFO(outcome.err);
    refused += outcome.status == 2 && contains(outcome.err, ", process ") &&
                       contains(outcome.err, "is writing into this folder")
                   ? 1
                   : 0;
  }
  first.send(SIGTERM);
  CHECK(refused >= 1);  // on a crowded machine the first run may end before
  const int status = first.wait().status;
  CHECK((status == 0 || status == 1));
  CHECK_FALSE(std::filesystem::exists(folder + "/run.lock"));
  CHECK(checkpoints_in(folder) >= 1);
}

/// A run in folder `whole` that nothing ends.
inline void check_unbroken_run(const std::string& program, const Words& run, const std::string& whole) {
  const Outcome unbroken = run_on_host(program, joined(run, {"--out", whole}));
  INFO(unbroken.err);
  REQUIRE(unbroken.status == 0);
}

/// A run in folder `whole`, and the same in `broken`, killed behind each of `steps` and gone on with: in the end
/// every file but the report has the same bytes.
inline void check_killed_runs(const std::string& program, const Words& run, const Words& going_on,
                              const std::string& whole, const std::string& broken, const std::vector<long>& steps) {
  check_unbroken_run(program, run, whole);
  const Words resume = joined({"--resume", broken}, going_on);
  int kills = killed_behind(program, joined(run, {"--out", broken}), broken, steps.front()) ? 1 : 0;
  for (std::size_t k = 1; k < steps.size(); ++k) kills += killed_behind(program, resume, broken, steps[k]) ? 1 : 0;
  CHECK(kills >= 1);  // on a crowded machine a run may end before it is inspected
  // What a kill in the middle of writing leaves goes; a file of the user's with such an end stays.
  std::ofstream(broken + "/params.json.4711-0.part") << "{";
  std::ofstream(broken + "/notes.part") << "mine";
  const Outcome last = run_on_host(program, resume);
  CHECK(std::filesystem::remove(broken + "/notes.part"));
  INFO(last.err);
  REQUIRE(last.status == 0);
  CHECK(names_in(broken) == names_in(whole));
  for (const std::string& name : names_in(whole)) {
    if (name == "report.json") continue;
    CAPTURE(name);
    CHECK(file_content(broken + "/" + name) == file_content(whole + "/" + name));
  }
}

/// The same, ended by SIGINT and SIGTERM in turn. Each end leaves a frame and a checkpoint that an unbroken run has
/// not: the frame is gone in the end, from the series too; checkpoints are not compared.
inline void check_interrupted_runs(const std::string& program, const Words& run, const Words& going_on,
                                   const std::string& whole, const std::string& broken,
                                   const std::vector<long>& steps) {
  check_unbroken_run(program, run, whole);
  const Words resume = joined({"--resume", broken}, going_on);
  int ends = 0, number = SIGINT;
  for (const long step : steps) {
    const Words arguments = step == steps.front() ? joined(run, {"--out", broken}) : resume;
    ends += signalled_behind(program, arguments, broken, step, number).status == 1 ? 1 : 0;
    number = SIGTERM;
  }
  CHECK(ends >= 1);  // on a crowded machine a run may end before it is inspected
  const Outcome last = run_on_host(program, resume);
  INFO(last.err);
  REQUIRE(last.status == 0);
  const auto compared = [](const std::filesystem::path& folder) {
    std::set<std::string> names;
    for (const std::string& name : names_in(folder)) {
      if (name != "report.json" && name.rfind("checkpoint-", 0) != 0) names.insert(name);
    }
    return names;
  };
  CHECK(compared(broken) == compared(whole));
  for (const std::string& name : compared(whole)) {
    CAPTURE(name);
    CHECK(file_content(broken + "/" + name) == file_content(whole + "/" + name));
  }
}

}  // namespace newel::cli_testing
