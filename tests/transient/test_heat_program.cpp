// SPDX-License-Identifier: Apache-2.0
// newel-heat as a process: what it writes, how it ends, and that a killed run continues to the same bits.
#include <nlohmann/json.hpp>

#include "apps/fem/mesh.hpp"
#include "tests/apps/cli_report.hpp"
#include "tests/transient/program_runs.hpp"

using Json = nlohmann::json;

namespace {

namespace fs = std::filesystem;

const std::string heat_program = find_program("newel-heat", NEWEL_HEAT);

Outcome run_heat(const Words& arguments) { return run_on_host(heat_program, arguments); }

// A block of 1,300 nodes, 6 x 6 x 3 cm, as a Medit file.
std::string small_block(const TemporaryFolder& folder) {
  return folder.write("block.mesh", medit_text(fem::make_beam(Context<Space::host>(), 13, 13, 8, 0.06, 0.06, 0.03)));
}

// Some three hundred steps with frames and checkpoints all along.
Words long_run(const std::string& mesh) {
  return joined({mesh}, words("--mesh-unit m --duration 60 --dt 0.2 --output-every 5 --checkpoint-every 4 "
                              "--deterministic --no-compare --quiet --threads 2"));
}

}  // namespace

TEST_IN_FOLDER("newel-heat without a file runs, reports and writes what ParaView opens", "[heat][process]") {
  const Outcome outcome = run_heat({"--out", folder.file("o"), "--duration", "4", "--output-every", "1"});
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.status == 0);
  CHECK(contains(outcome.out, "a plate with fins: 15,004 nodes"));
  CHECK(contains(outcome.out, "reference"));
  const std::set<std::string> names = names_in(folder.file("o"));
  for (const char* name : {"heat-000000.vtu", "heat-000005.vtu", "heat-000020.vtu", "heat.pvd", "heat.csv",
                           "params.json", "report.json"}) {
    CHECK(names.count(name) == 1);
  }
  CHECK(begins_as_report(file_content(folder.file("o/report.json")), "newel-heat"));
  const Json report = Json::parse(file_content(folder.file("o/report.json")));
  CHECK(report["ending"] == "finished");
  CHECK(report["steps"] == 20);
  CHECK(report["setups"] == 1);
  CHECK(report["products_per_setup"] > 20);
  CHECK(report["solves"]["not_converged"] == 0);
  CHECK(report["break_even"]["formats"].size() >= 5);
  CHECK(report["mean_temperature"] > 20.0);
  double sum = 0;
  for (const auto& share : report["shares"]["share"]) sum += share.get<double>();
  CHECK(sum == Approx(1).margin(0.02));
  // The parameters that it wrote are parameters that it reads.
  const Outcome again = run_heat({"--out", folder.file("p"), "--duration", "1", "--params",
                                  folder.file("o/params.json"), "--no-compare", "--quiet"});
  INFO(again.err);
  CHECK(again.status == 0);
  CHECK(again.out.empty());
}

TEST_IN_FOLDER("a run that is interrupted and resumed writes the frames of an unbroken one, and no others",
               "[heat][process]") {
  const Words run =
      joined({small_block(folder)}, words("--mesh-unit m --duration 210 --dt 0.7 --output-every 105 "
                                          "--checkpoint-every 2.1 --deterministic --no-compare --quiet --threads 2"));
  // Multiples of 0.7 round down as often as up.
  check_interrupted_runs(heat_program, run, {"--quiet", "--no-compare"}, folder.file("whole"), folder.file("broken"),
                         {40, 120, 200});
  CHECK(Json::parse(file_content(folder.file("broken/report.json")))["resumed_from"].is_string());
}

TEST_IN_FOLDER("a run with guesses from past solutions continues with the frames of an unbroken one",
               "[heat][process]") {
  const Words run = joined({small_block(folder)},
                           words("--mesh-unit m --duration 210 --dt 0.7 --output-every 105 --checkpoint-every 2.1 "
                                 "--initial-guess project:4 --deterministic --no-compare --quiet --threads 2"));
  check_interrupted_runs(heat_program, run, {"--quiet", "--no-compare"}, folder.file("whole"), folder.file("broken"),
                         {40, 120});
}

TEST_IN_FOLDER("a torn checkpoint is told, and the one before it is used", "[heat][process]") {
  const Words run = long_run(small_block(folder));
  const std::string whole = folder.file("whole"), torn = folder.file("torn");
  REQUIRE(run_heat(joined(run, {"--out", whole})).status == 0);
  REQUIRE(run_heat(joined(run, {"--out", torn})).status == 0);
  const std::string last = torn + "/checkpoint-000000300.bin";
  REQUIRE(fs::exists(last));
  fs::resize_file(last, fs::file_size(last) / 2);
  const Outcome outcome = run_heat({"--resume", torn, "--quiet", "--no-compare"});
  INFO(outcome.err);
  CHECK(outcome.status == 0);
  CHECK(contains(outcome.err, last + ": no valid checkpoint"));
  CHECK(file_content(torn + "/heat-000300.vtu") == file_content(whole + "/heat-000300.vtu"));
  CHECK(file_content(torn + "/heat.pvd") == file_content(whole + "/heat.pvd"));
}

TEST_IN_FOLDER("a second heat run into the folder of one that is under way is refused", "[heat][process]") {
  check_second_run_is_refused(
      heat_program,
      {small_block(folder), "--mesh-unit", "m", "--duration", "6000", "--dt", "0.2", "--output-every", "50",
       "--checkpoint-every", "4", "--no-compare", "--quiet", "--threads", "1"},
      folder.file("o"), folder.file("link"));
}

TEST_IN_FOLDER("Ctrl-C, SIGTERM and SIGHUP end the run after a step, with a checkpoint, and exit with 1",
               "[heat][process]") {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    const std::string out = folder.file("o" + std::to_string(number));
    Process process({"--out", out, "--duration", "100000", "--output-every", "1", "--device", "host"}, heat_program);
    for (int i = 0; i < 12000 && !fs::exists(out + "/heat-000005.vtu"); ++i) usleep(5000);
    process.send(number);
    const Outcome outcome = process.wait(60);
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.status == 1);
    CHECK(contains(outcome.out, "newel-heat --resume "));
    const Json report = Json::parse(file_content(out + "/report.json"));
    CHECK(report["ending"] == "interrupted");
    // And it can be gone on with, to an end that is given anew.
    const long steps = report["steps"].get<long>();
    const std::string end = std::to_string(0.2 * static_cast<double>(steps + 10));
    const Outcome resumed = run_heat({"--resume", out, "--duration", end, "--no-compare"});
    INFO(resumed.out << resumed.err);
    CHECK(resumed.status == 0);
    CHECK(Json::parse(file_content(out + "/report.json"))["steps"] == 10);
  }
}

TEST_IN_FOLDER("a solve that fails ends the run with 1 and says at which time", "[heat][process]") {
  const Outcome outcome = run_heat({"--out", folder.file("o"), "--tol", "1e-30", "--quiet"});
  CHECK(outcome.status == 1);
  CHECK(outcome.err.find("newel-heat: the solve at 0.2 s ended with") == 0);
  CHECK(Json::parse(file_content(folder.file("o/report.json")))["ending"] == "failed");
}

TEST_IN_FOLDER("a resumed run refuses another mesh, other parameters and another scheme", "[heat][process]") {
  const std::string out = folder.file("o");
  REQUIRE(run_heat({"--out", out, "--duration", "1", "--checkpoint-every", "1", "--no-compare", "--quiet"}).status ==
          0);
  const std::string params = folder.write("p.json", R"({"convection": {"coefficient": 7}})");
  // Going on to where it is already changes nothing; to a time before that is refused.
  CHECK(run_heat({"--resume", out, "--quiet"}).status == 0);
  const Outcome back = run_heat({"--resume", out, "--quiet", "--duration", "0.6"});
  CHECK(back.status == 2);
  CHECK(contains(back.err, "the run has already reached 1 s"));
  for (const Words& change :
       {Words{"--params", params}, {"--scheme", "backward-euler"}, {"--refine", "1"}, {"--dt", "0.1"}}) {
    const Outcome outcome = run_heat(joined({"--resume", out, "--quiet"}, change));
    CAPTURE(change);
    CHECK(outcome.status == 2);
    CHECK(contains(outcome.err, "the run was made "));
  }
}
