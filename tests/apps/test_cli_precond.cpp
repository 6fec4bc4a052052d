// SPDX-License-Identifier: Apache-2.0
// The preconditioners of `newel solve` and `newel info`: options and reports.
#include "tests/catch.hpp"

#include "tests/apps/cli_report.hpp"
#include "tests/apps/cli_systems.hpp"
#include "tests/apps/process.hpp"

namespace {

Json report_of(const TemporaryFolder& folder, std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--report", folder.file("r.json")});
  const Outcome outcome = run_well(arguments);
  return report_in(folder);
}

}  // namespace

TEST_IN_FOLDER("solve takes FSAI and its options, and reports what it is made of", "[cli][fsai]") {
  const std::string matrix = "generate:elasticity:5";
  const Words solve = {"solve", matrix, "--device", "host", "--solver", "cg"};
  const auto with = [&](const Words& more) { return report_of(folder, joined(solve, more)); };
  const Json jacobi = with({"--precond", "jacobi"});
  const Json one = with({"--precond", "fsai"});
  const Json two = with({"--precond", "FSAI", "--fsai-power", "2", "--precond-format", "bce", "--fsai-drop", "0.01"});
  CHECK(one["iterations"].get<int>() < 0.7 * jacobi["iterations"].get<int>());
  CHECK(two["iterations"].get<int>() < one["iterations"].get<int>());
  CHECK(two["preconditioner"] == "fsai");
  CHECK(two["preconditioner_options"]["fsai_power"] == 2);
  CHECK(two["preconditioner_options"]["drop"] == 0.01);
  CHECK(two["preconditioner_options"]["format"] == "bce");
  CHECK(one["preconditioner_options"]["format"].is_null());
  const Json& made = one["operators"]["preconditioner"];
  CHECK(made["figures"]["density"] == 1.0);
  CHECK(made["setup_phases"].contains("numeric"));
  CHECK(made["bytes"]["G"].get<double>() > 0);
  CHECK(two["operators"]["preconditioner"]["figures"]["density"].get<double>() > 1.5);
}

TEST_IN_FOLDER("solve measures how far a preconditioner is from the inverse where it is asked to", "[cli]") {
  const auto with = [&](const Words& more) {
    return report_of(folder, joined({"solve", "generate:grid7:8", "--device", "host"}, more));
  };
  const Json plain = with({"--precond", "fsai"});
  CHECK(plain["preconditioner_residual"].is_null());
  CHECK_FALSE(plain["seconds"].contains("preconditioner_residual"));
  const Json measured = with({"--precond", "fsai", "--precond-residual"});
  CHECK(measured["preconditioner_residual"]["probes"] == 32);
  CHECK(measured["preconditioner_residual"]["norm"].get<double>() > 0);
  CHECK(measured["seconds"]["preconditioner_residual"].get<double>() > 0);
  CHECK(measured["history"] == plain["history"]);
  // |A - I|_F of the 7-point matrix: 5 on the diagonal, -1 six times but on the faces.
  const double exact = std::sqrt(25.0 * 512 + 6 * 512 - 6 * 64);
  const Json none = with({"--precond", "none", "--precond-residual"});
  CHECK(none["preconditioner_residual"]["norm"].get<double>() == Approx(exact).epsilon(0.05));
}

TEST_IN_FOLDER("solve --explain lists what auto compares, and what it took", "[cli]") {
  const Words solve = {"solve", "generate:diffusion:8", "--device", "host"};
  const auto with = [&](const Words& more) { return report_of(folder, joined(solve, more))["candidates"]; };
  CHECK(with({}).is_null());
  const Json all = with({"--explain"});
  REQUIRE(all.size() >= 12);  // formats by jacobi, fsai, amg
  int present = 0;
  double before = 0;
  std::set<std::string> preconditioners;
  for (const Json& candidate : all) {
    const auto number = [&](const char* key) { return candidate[key].get<double>(); };
    const double seconds = number("setup_seconds") + number("iterations") * number("iteration_seconds");
    CHECK(seconds >= before);
    before = seconds;
    present += candidate["present"].get<bool>() ? 1 : 0;
    preconditioners.insert(candidate["preconditioner"].get<std::string>());
  }
  CHECK(present == 1);
  CHECK(preconditioners == std::set<std::string>{"jacobi", "fsai", "amg"});
  for (const Json& candidate : with({"--explain", "--precond", "fsai"})) CHECK(candidate["preconditioner"] == "fsai");
  CHECK(with({"--explain", "--precond", "fsai", "--format", "bce"}).empty());
}

TEST_IN_FOLDER("solve takes SPAI with its options, and chooses a preconditioner where it is asked to",
               "[cli][spai]") {
  const auto with = [&](const Words& more) {
    return report_of(folder,
                     joined({"solve", "generate:diffusion:8", "--device", "host", "--solver", "bicgstab"}, more));
  };
  const Json one = with({"--precond", "spai"});
  const Json left =
      with({"--precond", "SPAI", "--spai-side", "left", "--spai-power", "2", "--precond-format", "bce"});
  const Json grown = with({"--precond", "spai", "--spai-adaptive", "0.3"});
  CHECK(one["iterations"].get<int>() < with({"--precond", "jacobi"})["iterations"].get<int>());
  CHECK(one["preconditioner_reason"] == "");
  const Json& figures = one["operators"]["preconditioner"]["figures"];
  CHECK(figures["density"] == 1.0);
  CHECK(figures["diagonal fallbacks"] == 0.0);
  CHECK(figures["residual norm"].get<double>() > 0);
  CHECK(left["operators"]["preconditioner"]["figures"]["density"].get<double>() > 1.5);
  CHECK(left["operators"]["preconditioner"]["detail"] == "from the left, the pattern of A^2, in bce");
  CHECK(grown["operators"]["preconditioner"]["figures"]["worst local residual"].get<double>() <= 0.3);
  const Json chosen = with({"--precond", "auto", "--expect-products", "100000"});
  CHECK(chosen["preconditioner"] != "auto");
  CHECK(contains(chosen["preconditioner_reason"].get<std::string>(), "cost model"));
}

TEST_IN_FOLDER("A pattern for SPAI and FSAI is read from a file, for solve and for info", "[cli][pattern]") {
  const std::string matrix = folder.write("A.mtx", grid_system(6).text());
  const std::string same = folder.write("P.mtx", grid_system(6).text());
  const std::string empty = folder.write("D.mtx", "%%MatrixMarket matrix coordinate pattern general\n36 36 1\n7 7\n");
  for (const std::string name : {"spai", "fsai"}) {
    const auto with = [&](const Words& more) {
      return report_of(folder, joined({"solve", matrix, "--precond", name, "--device", "host"}, more));
    };
    const Json usual = with({}), given = with({"--precond-pattern", same}),
               diagonal = with({"--precond-pattern", empty});
    CHECK(given["history"] == usual["history"]);
    CHECK(given["preconditioner_options"]["pattern"] == same);
    CHECK(usual["preconditioner_options"]["pattern"].is_null());
    CHECK(diagonal["operators"]["preconditioner"]["figures"]["density"].get<double>() < 0.5);
  }
  const Json info = report_of(folder, {"info", matrix, "--precond", "fsai", "--precond-pattern", empty});
  CHECK(info["preconditioner"]["options"]["pattern"] == empty);
  CHECK(info["preconditioner"]["operator"]["figures"]["largest local problem"] == 1.0);
}

TEST_IN_FOLDER("info builds a preconditioner and judges it", "[cli][fsai]") {
  const std::string grid = folder.write("A.mtx", grid_system(8).text());
  const Json jacobi = report_of(folder, {"info", grid, "--precond", "jacobi"})["preconditioner"];
  const Json fsai = report_of(folder, {"info", grid, "--precond", "fsai", "--fsai-power", "2"})["preconditioner"];
  CHECK(fsai["name"] == "fsai");
  CHECK(fsai["refusal"].is_null());
  CHECK(fsai["build_seconds"].get<double>() > 0);
  CHECK(fsai["options"]["fsai_power"] == 2);
  CHECK(fsai["operator"]["figures"]["density"].get<double>() > 1);
  CHECK(fsai["residual"]["probes"] == 0);
  CHECK(fsai["residual"]["norm"].get<double>() < jacobi["residual"]["norm"].get<double>());
  CHECK(report_of(folder, {"info", grid})["preconditioner"].is_null());
}

TEST_IN_FOLDER("solve takes AMG and its options, with the coordinates of a generated system or of a file",
               "[cli][amg]") {
  const auto with = [&](const std::string& matrix, const Words& more) {
    return report_of(folder,
                     joined({"solve", matrix, "--device", "host", "--solver", "cg", "--precond", "amg"}, more));
  };
  const auto vectors_of = [](const Json& report) {
    return report["operators"]["preconditioner"]["levels"][0]["vectors"].get<int>();
  };
  const std::string body = "generate:elasticity:7";
  const Json rigid = with(body, {});
  const Json constant = with(body, {"--amg-near-null", "constant"});
  CHECK(vectors_of(rigid) == 6);
  CHECK(vectors_of(constant) == 3);
  CHECK(rigid["iterations"] < constant["iterations"]);
  const Json other = with(body, {"--amg-smoother", "jacobi", "--amg-degree", "3", "--amg-theta", "0.05",
                                 "--amg-refresh", "full", "--amg-max-coarse", "50", "--amg-max-width", "3"});
  const Json& options = other["preconditioner_options"];
  CHECK(options["amg_smoother"] == "jacobi");
  CHECK(options["amg_degree"] == 3);
  CHECK(options["amg_theta"] == 0.05);
  CHECK(options["amg_refresh"] == "full");
  CHECK(options["amg_max_coarse"] == 50);
  CHECK(options["amg_max_width"] == 3);
  CHECK(other["operators"]["preconditioner"]["levels"].size() >
        rigid["operators"]["preconditioner"]["levels"].size());

  // The same system from a file, with and without coordinates of its nodes, which need not be the true ones.
  const std::string matrix = folder.file("A.mtx");
  REQUIRE(run_newel({"info", "generate:elasticity:7", "--out", matrix}).status == 0);
  CHECK(vectors_of(with(matrix, {})) == 3);
  std::string points = "%%MatrixMarket matrix array real general\n343 3\n";
  for (int axis = 0; axis < 3; ++axis) {
    for (int i = 0; i < 343; ++i) points += std::to_string((axis == 0 ? i : axis == 1 ? i / 7 : i / 49) % 7) + '\n';
  }
  const std::string nodes = folder.write("X.mtx", points);
  CHECK(vectors_of(with(matrix, {"--coordinates", nodes})) == 6);
  const Json info = report_of(folder, {"info", matrix, "--precond", "amg", "--coordinates", nodes});
  const Json& levels = info["preconditioner"]["operator"]["levels"];
  CHECK(levels[0]["vectors"] == 6);
  CHECK(levels[1]["rows"] == 6 * levels[0]["aggregates"].get<int>());

  // Given vectors replace both: the translations, of which one is scaled, are what there is without coordinates.
  std::string translations = "%%MatrixMarket matrix array real general\n1029 3\n";
  for (int axis = 0; axis < 3; ++axis) {
    for (int row = 0; row < 1029; ++row) translations += row % 3 == axis ? (axis == 0 ? "2\n" : "1\n") : "0\n";
  }
  const std::string vectors = folder.write("V.mtx", translations);
  const Json given = with(matrix, {"--coordinates", nodes, "--amg-vectors", vectors}), without = with(matrix, {});
  CHECK(vectors_of(given) == 3);
  CHECK(given["preconditioner_options"]["amg_vectors"] == vectors);
  CHECK(without["preconditioner_options"]["amg_vectors"].is_null());
  CHECK(given["iterations"] == without["iterations"]);
}

// Four velocities in a row, and two constraints that tie two of them each, in rows 1 and 4 of the matrix.
TEST_IN_FOLDER("Constraints of a saddle point and their mass matrix come from files", "[cli][saddle]") {
  const std::string matrix = folder.write(
      "A.mtx",
      "%%MatrixMarket matrix coordinate real symmetric\n6 6 11\n2 2 2\n3 2 -1\n3 3 2\n5 3 -1\n5 5 2\n6 5 -1\n6 6 2\n"
      "2 1 1\n3 1 -1\n5 4 1\n6 4 -1\n");
  const std::string rows = folder.write("R.mtx", "%%MatrixMarket matrix array real general\n2 1\n4\n1\n");
  const std::string mass = folder.write(
      "M.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 1\n2 2 1\n2 1 0.2\n");
  const Json report = report_of(folder, {"solve", matrix, "--device", "host", "--precond", "saddle", "--saddle-rows", rows,
                                         "--saddle-mass", mass});
  CHECK(report["status"] == "converged");
  CHECK(report["preconditioner_options"]["saddle_rows"] == rows);
  CHECK(report["preconditioner_options"]["saddle_mass"] == mass);
  CHECK(report["operators"]["preconditioner"]["figures"]["constraints"] == 2.0);
  CHECK(report["operators"]["preconditioner"]["detail"].get<std::string>().find("the given matrix") != std::string::npos);
}
