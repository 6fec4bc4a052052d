// SPDX-License-Identifier: Apache-2.0
// newel-beam as a process: what it writes, that a killed run continues to the same bits, and what it refuses.
#include <nlohmann/json.hpp>

#include "apps/fem/mesh.hpp"
#include "tests/apps/cli_report.hpp"
#include "tests/transient/program_runs.hpp"

using Json = nlohmann::json;

namespace {

const std::string beam_program = find_program("newel-beam", NEWEL_BEAM);

Outcome run_beam(const Words& arguments) { return run_on_host(beam_program, arguments); }

// A block of 2 x 1 x 6 cm on its foot, as a Medit file; with numbers of three hundred nodes.
std::string small_block(const TemporaryFolder& folder) {
  return folder.write("block.mesh", medit_text(fem::make_beam(Context<Space::host>(), 3, 2, 5, 0.02, 0.01, 0.06)));
}

// Some three hundred steps with frames and checkpoints all along.
Words long_run(const std::string& mesh) {
  return joined({mesh},
                words("--mesh-unit m --duration 0.003 --dt 1e-5 --output-every 2.5e-4 --checkpoint-every 1e-4 "
                      "--deterministic --quiet --threads 1"));
}

std::size_t lines_in(const std::string& file) {
  const std::string text = file_content(file);
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_IN_FOLDER("newel-beam without a file rings, reports and writes what ParaView opens", "[beam][process]") {
  const Outcome outcome = run_beam(
      {"--out", folder.file("o"), "--body", "bar", "--duration", "0.02", "--dt", "1e-4", "--output-every", "2e-3"});
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.status == 0);
  CHECK(contains(outcome.out, "a clamped bar: 189 nodes"));
  const std::set<std::string> names = names_in(folder.file("o"));
  for (const char* name : {"beam-000000.vtu", "beam-000020.vtu", "beam-000200.vtu", "beam.pvd", "record.csv",
                           "params.json", "report.json"}) {
    CHECK(names.count(name) == 1);
  }
  CHECK(lines_in(folder.file("o/record.csv")) == 202);
  CHECK(begins_as_report(file_content(folder.file("o/report.json")), "newel-beam"));
  const Json report = Json::parse(file_content(folder.file("o/report.json")));
  CHECK(report["ending"] == "finished");
  CHECK(report["steps"] == 200);
  CHECK(report["setups"] == 1);
  CHECK(report["solves"]["not_converged"] == 0);
  CHECK(report["energy"]["spread"] < 1e-5);
  // The first tone is the first mode of theory; the mesh is coarse and the record four periods long.
  const double tone = report["strikes"][0]["tones"][0]["frequency"], theory = report["theory"]["timoshenko"][0];
  CHECK(tone == Approx(theory).epsilon(0.03));
  // The parameters that it wrote are parameters that it reads.
  const Outcome again = run_beam({"--out", folder.file("p"), "--body", "bar", "--duration", "1e-4", "--params",
                                  folder.file("o/params.json"), "--quiet"});
  INFO(again.err);
  CHECK(again.status == 0);
  CHECK(again.out.empty());
}

TEST_IN_FOLDER("a beam that is killed and resumed writes the files of an unbroken one", "[beam][process]") {
  check_killed_runs(beam_program, long_run(small_block(folder)), {"--quiet"}, folder.file("whole"),
                    folder.file("broken"), {40, 120, 200});
}

TEST_IN_FOLDER("so does one of several strikes whose body warms up", "[beam][process]") {
  // A loss of 1e-4 a degree, and 1e6 degrees a second: a fifth of the stiffness goes, in steps of a twentieth.
  const std::string params = folder.write("warm.json", R"({"warming": 1e6, "material": {"modulus_loss": 1e-4},
                                    "strike": {"where": "ball", "centre": [0.01, 0.005, 0.06],
                                               "last_centre": [0.01, 0.005, 0.02], "force": [1, 0, 0]}})");
  Words run = joined({small_block(folder), "--params", params, "--strikes", "3", "--initial-guess", "project:4"},
                     words("--mesh-unit m --duration 0.002 --dt 1e-5 --output-every 5e-4 --checkpoint-every 1e-4 "
                           "--deterministic --quiet --threads 1"));
  check_interrupted_runs(beam_program, run, {"--quiet"}, folder.file("whole"), folder.file("broken"), {30, 90});
  CHECK(names_in(folder.file("whole")).count("record-3.csv") == 1);
  const Json report = Json::parse(file_content(folder.file("whole/report.json")));
  CHECK(report["strikes"].size() == 3);
}

TEST_IN_FOLDER("a second beam run into the folder of one that is under way is refused", "[beam][process]") {
  check_second_run_is_refused(beam_program,
                              {small_block(folder), "--mesh-unit", "m", "--duration", "0.05", "--dt", "1e-5",
                               "--output-every", "0.01", "--checkpoint-every", "1e-4", "--quiet", "--threads", "1"},
                              folder.file("o"), folder.file("link"));
}

TEST_IN_FOLDER("a solve of a beam that fails ends the run with 1 and says at which time", "[beam][process]") {
  const Outcome outcome = run_beam({small_block(folder), "--out", folder.file("o"), "--tol", "1e-30", "--quiet"});
  CHECK(outcome.status == 1);
  CHECK(outcome.err.find("newel-beam: the solve at 4e-05 s ended with") == 0);
  CHECK(Json::parse(file_content(folder.file("o/report.json")))["ending"] == "failed");
}

TEST_IN_FOLDER("a resumed run refuses other parameters, another body and other strikes", "[beam][process]") {
  const std::string out = folder.file("o");
  REQUIRE(run_beam({"--body", "bar", "--out", out, "--dt", "2e-5", "--duration", "1e-4", "--checkpoint-every", "1e-4",
                    "--quiet"})
              .status == 0);
  const std::string params = folder.write("p.json", R"({"material": {"density": 7}})");
  CHECK(run_beam({"--resume", out, "--quiet"}).status == 0);
  const Outcome back = run_beam({"--resume", out, "--quiet", "--duration", "4e-5"});
  CHECK(back.status == 2);
  CHECK(contains(back.err, "the run has already reached 0.0001 s"));
  for (const Words& change : {Words{"--params", params}, {"--body", "fork"}, {"--strikes", "2"}, {"--dt", "1e-6"}}) {
    const Outcome outcome = run_beam(joined({"--resume", out, "--quiet"}, change));
    CAPTURE(change);
    CHECK(outcome.status == 2);
    CHECK(contains(outcome.err, "the run was made "));
  }
}
