// SPDX-License-Identifier: Apache-2.0
// newel-heart as a process: what it writes, how it ends, and that a killed run continues to the same bits.
#include <nlohmann/json.hpp>

#include "apps/heart/anatomy/ventricle.hpp"
#include "tests/apps/cli_report.hpp"
#include "tests/transient/program_runs.hpp"

using Json = nlohmann::json;

namespace {

namespace fs = std::filesystem;

const std::string heart_program = find_program("newel-heart", NEWEL_HEART);
const std::string heat_program = find_program("newel-heat", NEWEL_HEAT);

Outcome run_heart(const Words& arguments) { return run_on_host(heart_program, arguments); }

// A coarse ventricle, a hundred and twenty steps, frames and checkpoints all along.
const Words small_run = words("--nodes 600 --dt 0.5 --duration 60 --quiet");
const Words long_run = joined(small_run, words("--output-every 5 --checkpoint-every 2 --deterministic --threads 2"));

// The built-in ventricle of 600 nodes, `scale` times as large, as a Medit file.
std::string ventricle_file(const TemporaryFolder& folder, double scale) {
  const fem::TetMesh mesh = fem::make_ventricle(Context<Space::host>(), 600).mesh;
  return folder.write("ventricle" + std::to_string(scale) + ".mesh", medit_text(mesh, scale));
}

std::vector<std::vector<double>> rows_of(const std::string& csv) {
  std::vector<std::vector<double>> rows;
  std::istringstream lines(csv);
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    rows.emplace_back();
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) rows.back().push_back(std::stod(cell));
  }
  return rows;
}

}  // namespace

TEST_IN_FOLDER("newel-heart without a file runs, reports and writes what ParaView opens", "[heart][process]") {
  const Outcome outcome = run_heart({"--out", folder.file("o"), "--nodes", "2500", "--duration", "40"});
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.status == 0);
  CHECK(contains(outcome.out, "an idealised left ventricle: "));
  CHECK(contains(outcome.out, "0.60 m/s along the fibres"));
  CHECK(contains(outcome.out, "warning"));  // coarse
  const std::set<std::string> names = names_in(folder.file("o"));
  for (const char* name : {"heart-000000.vtu", "heart-000020.vtu", "heart-000160.vtu", "heart.pvd", "activation.vtu",
                           "electrograms.csv", "params.json", "report.json"}) {
    CAPTURE(name);
    CHECK(names.count(name) == 1);
  }
  CHECK(begins_as_report(file_content(folder.file("o/report.json")), "newel-heart"));
  const Json report = Json::parse(file_content(folder.file("o/report.json")));
  CHECK(report["ending"] == "finished");
  CHECK(report["steps"] == 160);
  CHECK(report["setups"] == 1);
  double start = 0;
  for (const char* phase : {"launch", "ventricle", "refinement", "mesh facts", "axis", "conduction", "linear system",
                            "element lists", "recorder", "first output"}) {
    CAPTURE(phase);
    REQUIRE(report["start_phases"].contains(phase));
    start += report["start_phases"][phase].get<double>();
  }
  CHECK(report["start_phases"].size() == 10);
  CHECK(start > 0);
  CHECK(contains(outcome.out, "before the first step: "));
  CHECK(report["products_per_setup"] > 160);
  CHECK(report["newton_iterations"] >= 160);
  CHECK(report["solves"]["not_converged"] == 0);
  CHECK(report["activation"]["nodes"] > 500);
  CHECK(report["activation"]["first_ms"] < 2.0);
  for (const char* part : {"assembly", "product", "preconditioner", "vector_work", "setup", "output"}) {
    CHECK(report["shares"]["share"].contains(part));
  }
  // The apex is excited at once, and its voltage rises from rest to about 20 mV.
  const auto rows = rows_of(file_content(folder.file("o/electrograms.csv")));
  REQUIRE(rows.size() == 161);
  CHECK(rows.front()[1] == -80);
  CHECK(rows.back()[1] > 0);
  for (std::size_t i = 0; i < rows.size(); ++i) CHECK(rows[i][0] == Approx(0.25 * static_cast<double>(i)));

  const Outcome again = run_heart({"--out", folder.file("p"), "--nodes", "600", "--duration", "1", "--params",
                                   folder.file("o/params.json"), "--quiet", "--assembly", "reference"});
  INFO(again.err);
  CHECK(again.status == 0);
  CHECK(again.out.empty());
}

TEST_IN_FOLDER("a heart that is killed again and again ends with the bits of an unbroken one", "[heart][process]") {
  for (const Words& method : {Words{"--format", "csr"}, {"--format", "ehyb", "--precond", "fsai"}}) {
    const std::string whole = folder.file("whole" + method[1]), broken = folder.file("broken" + method[1]);
    check_killed_runs(heart_program, joined(long_run, method), {"--quiet"}, whole, broken, {20, 50, 90});
  }
}

TEST_IN_FOLDER("a finished heart that is prolonged keeps no frame of its earlier end", "[heart][process]") {
  const Words run = words("--nodes 600 --dt 0.5 --quiet --output-every 5 --checkpoint-every 5 --deterministic");
  const std::string whole = folder.file("whole"), broken = folder.file("broken");
  REQUIRE(run_heart(joined(run, {"--out", whole, "--duration", "12"})).status == 0);
  REQUIRE(run_heart(joined(run, {"--out", broken, "--duration", "7.5"})).status == 0);
  CHECK(fs::exists(broken + "/heart-000015.vtu"));
  // To where it is already: the frame stays.
  REQUIRE(run_heart({"--resume", broken, "--quiet"}).status == 0);
  CHECK(contains(file_content(broken + "/heart.pvd"), "heart-000015.vtu"));
  REQUIRE(run_heart({"--resume", broken, "--duration", "12", "--quiet"}).status == 0);
  CHECK(!fs::exists(broken + "/heart-000015.vtu"));
  CHECK(file_content(broken + "/heart.pvd") == file_content(whole + "/heart.pvd"));
  CHECK(file_content(broken + "/electrograms.csv") == file_content(whole + "/electrograms.csv"));
}

TEST_IN_FOLDER("a heart that begins anew in the folder of another one is not mixed with it", "[heart][process]") {
  check_new_runs_in_old_folders(heart_program, {"--nodes", "600", "--dt", "0.5"}, "1", folder.file("o"),
                                "heart-000002.vtu", "electrograms.csv");
}

TEST_IN_FOLDER("a step that the tissue is too fast for is halved, and grows again", "[heart][process]") {
  const Outcome outcome = run_heart({"--nodes", "600", "--dt", "8", "--duration", "80", "--out", folder.file("o")});
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.status == 0);
  CHECK(contains(outcome.out, "the step is halved to 4 ms: the reaction is too fast for the step"));
  const Json report = Json::parse(file_content(folder.file("o/report.json")));
  CHECK(report["steps_refused"] > 0);
  CHECK(report["steps"] > 10);
  CHECK(report["end_time"] == 80.0);
}

TEST_IN_FOLDER("a small ventricle without a unit is taken in millimetres, and runs", "[heart][process]") {
  const Outcome outcome = run_heart({ventricle_file(folder, 0.4), "--out", folder.file("o"), "--duration", "1"});
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.status == 0);
  CHECK(contains(outcome.out, "the mesh is assumed to be in mm: its longest side is then 10 mm, its wall "));
  CHECK(outcome.out.find("assumed to be in") < outcome.out.find("tetrahedra"));
}

TEST_IN_FOLDER("a stimulus that misses the mesh is named with the unit, and such a run leaves no parameters",
               "[heart][process]") {
  const std::string mesh = ventricle_file(folder, 0.4), tiny = ventricle_file(folder, 0.15);
  const auto check = [&](const Words& arguments, const std::string& stimulus, const std::string& unit) {
    const Outcome outcome = run_heart(joined({"--out", folder.file("o")}, arguments));
    INFO(outcome.out << outcome.err);
    CHECK(outcome.status == 2);
    CHECK(outcome.err.find("newel-heart: " + stimulus + " reaches no tetrahedron: ") == 0);
    CHECK(contains(outcome.err, "(stimulus.radius of --params); the mesh was assumed to be in " + unit +
                                    " (--mesh-unit mm|cm|m)"));
    CHECK(names_in(folder.file("o")).empty());
    return outcome.out;
  };
  const std::string of_default = "the default stimulus, --stimulus apex,";
  check({mesh, "--mesh-unit", "cm"}, of_default, "cm");
  check({mesh, "--mesh-unit", "cm", "--stimulus", "apex"}, "--stimulus apex", "cm");
  // A wrong guess, which cannot be known to be one, is there to read before the error.
  const Words guessed = {tiny, "--params", folder.write("p.json", R"({"stimulus": {"radius": 0.5}})")};
  CHECK(contains(check(guessed, of_default, "cm, a guess"), "assumed to be in cm: its longest side is then 37"));
}

TEST_IN_FOLDER("newel-heart refuses guesses from past solutions, whose residuals its Newton's method could not read",
               "[heart][process]") {
  const Outcome outcome = run_heart({"--out", folder.file("o"), "--initial-guess", "project"});
  CHECK(outcome.status == 2);
  CHECK(contains(outcome.err, "--initial-guess: newel-heart extrapolates the voltage itself, expected given"));
  const Outcome recycled = run_heart({"--out", folder.file("o"), "--recycle", "8"});
  CHECK(recycled.status == outcome.status);
  CHECK(contains(recycled.err, "--recycle: newel-heart keeps no vectors in its checkpoints, expected 0"));
}

TEST_IN_FOLDER("newel-heart and newel-heat refuse a folder that holds the other's run, and leave it as it is",
               "[heart][heat][process]") {
  const Words heart = words("--nodes 600 --duration 1 --quiet --checkpoint-every 0.5");
  const Words heat = words("--duration 0.4 --no-compare --quiet --checkpoint-every 0.2");
  const std::string in_heart = folder.file("heart"), in_heat = folder.file("heat");
  REQUIRE(run_heart(joined(heart, {"--out", in_heart})).status == 0);
  REQUIRE(run_on_host(heat_program, joined(heat, {"--out", in_heat})).status == 0);

  const auto check_refused = [&](const Outcome& outcome, const std::string& in, const std::string& other) {
    INFO(outcome.err);
    CHECK(outcome.status == 2);
    CHECK(contains(outcome.err, "--out " + in + ": the folder holds a run of " + other + ";"));
    CHECK(outcome.err.find('\n') + 1 == outcome.err.size());
  };
  const std::string params = file_content(in_heat + "/params.json"), report = file_content(in_heat + "/report.json");
  const std::set<std::string> names = names_in(in_heat);
  check_refused(run_heart(joined(heart, {"--out", in_heat})), in_heat, "newel-heat");
  check_refused(run_heart({"--resume", in_heart, "--duration", "2", "--out", in_heat}), in_heat, "newel-heat");
  check_refused(run_on_host(heat_program, joined(heat, {"--out", in_heart})), in_heart, "newel-heart");
  CHECK(file_content(in_heat + "/params.json") == params);
  CHECK(file_content(in_heat + "/report.json") == report);
  CHECK(names_in(in_heat) == names);

  // Each of what a run leaves tells alone: its parameters, its report, a checkpoint.
  for (const std::string& name : names) {
    if (!contains(name, ".json") && name.rfind("checkpoint-", 0) != 0) continue;
    const std::string only = folder.file("only " + name);
    fs::create_directory(only);
    fs::copy(in_heat + "/" + name, only + "/" + name);
    check_refused(run_heart(joined(heart, {"--out", only})), only, "newel-heat");
  }
  CHECK(run_on_host(heat_program, joined(heat, {"--out", in_heat})).status == 0);
  CHECK(run_heart({"--resume", in_heart, "--duration", "2", "--quiet"}).status == 0);
}
