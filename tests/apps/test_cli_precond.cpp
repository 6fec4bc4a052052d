// SPDX-License-Identifier: Apache-2.0
// The preconditioners of `newel solve` and `newel info`: options, reports, refusals in words of the file.
#include "tests/catch.hpp"

#include "tests/apps/cli_report.hpp"
#include "tests/apps/cli_systems.hpp"
#include "tests/apps/process.hpp"

#include <set>

using namespace newel::cli_testing;

namespace {

const std::string banner = "%%MatrixMarket matrix coordinate real general\n";

Json report_of(const TemporaryFolder& folder, std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--report", folder.file("r.json")});
  const Outcome outcome = run_newel(arguments);
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.status == 0);
  return report_in(folder);
}

void check_refused(const std::vector<std::string>& arguments, const std::vector<std::string>& words) {
  const Outcome outcome = run_newel(arguments);
  CHECK(outcome.status == 2);
  for (const std::string& word : words) {
    INFO(outcome.err << "lacks " << word);
    CHECK(outcome.err.find(word) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("solve takes FSAI and its options, and reports what it is made of", "[cli][fsai]") {
  const TemporaryFolder folder;
  const std::string matrix = "generate:elasticity:5";
  const std::vector<std::string> solve = {"solve", matrix, "--device", "host", "--solver", "cg"};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = solve;
    all.insert(all.end(), more.begin(), more.end());
    return report_of(folder, all);
  };
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

TEST_CASE("solve measures how far a preconditioner is from the inverse where it is asked to", "[cli]") {
  const TemporaryFolder folder;
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = {"solve", "generate:grid7:8", "--device", "host"};
    all.insert(all.end(), more.begin(), more.end());
    return report_of(folder, all);
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

TEST_CASE("solve --explain lists what auto compares, and what it took", "[cli]") {
  const TemporaryFolder folder;
  const std::vector<std::string> solve = {"solve", "generate:diffusion:8", "--device", "host"};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = solve;
    all.insert(all.end(), more.begin(), more.end());
    return report_of(folder, all)["candidates"];
  };
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
  std::vector<std::string> printed = solve;
  printed.push_back("--explain");
  const Outcome run = run_newel(printed);
  CHECK(run.out.find("<- taken") != std::string::npos);
  CHECK(run.out.find("measured") != std::string::npos);
}

TEST_CASE("solve takes SPAI with its options, and chooses a preconditioner where it is asked to", "[cli][spai]") {
  const TemporaryFolder folder;
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = {"solve", "generate:diffusion:8", "--device", "host", "--solver", "bicgstab"};
    all.insert(all.end(), more.begin(), more.end());
    return report_of(folder, all);
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
  CHECK(chosen["preconditioner_reason"].get<std::string>().find("cost model") != std::string::npos);
  check_refused({"info", "generate:diffusion:4", "--precond", "auto"}, {"auto", "jacobi", "spai"});
}

TEST_CASE("FSAI refuses in words of the file what is not symmetric or not positive definite", "[cli][fsai]") {
  const TemporaryFolder folder;
  const std::string skew = folder.write("skew.mtx", banner + "3 3 5\n1 1 4\n2 2 4\n3 3 4\n2 3 1\n3 2 -1\n");
  check_refused({"solve", skew, "--precond", "fsai", "--device", "host"},
                {skew, "symmetric", "1 in row 2, column 3", "-1 in row 3, column 2", "--precond spai or jacobi"});
  const std::string saddle = folder.write("saddle.mtx", banner + "3 3 5\n1 1 4\n2 2 1\n3 3 1\n2 3 2\n3 2 2\n");
  check_refused({"solve", saddle, "--precond", "fsai", "--device", "host"},
                {saddle, "positive definite", "row 3", "--precond spai or jacobi"});
}

TEST_CASE("The preconditioners' options are checked", "[cli][fsai]") {
  const TemporaryFolder folder;
  const std::string matrix = folder.write("A.mtx", grid_system(4).text());
  check_refused({"solve", matrix, "--fsai-power", "0"}, {"--fsai-power"});
  check_refused({"solve", matrix, "--spai-power", "99"}, {"--spai-power"});
  check_refused({"solve", matrix, "--spai-side", "top"}, {"top", "left", "right"});
  check_refused({"solve", matrix, "--spai-drop", "-1"}, {"--spai-drop", "not negative"});
  check_refused({"solve", matrix, "--spai-adaptive", "nan"}, {"--spai-adaptive"});
  check_refused({"solve", matrix, "--precond-format", "auto"}, {"auto", "csr"});
  check_refused({"info", matrix, "--precond", "jakobi"}, {"did you mean jacobi"});
}

TEST_CASE("A pattern for SPAI and FSAI is read from a file, for solve and for info", "[cli][pattern]") {
  const TemporaryFolder folder;
  const std::string matrix = folder.write("A.mtx", grid_system(6).text());
  const std::string same = folder.write("P.mtx", grid_system(6).text());
  const std::string empty = folder.write("D.mtx", "%%MatrixMarket matrix coordinate pattern general\n36 36 1\n7 7\n");
  for (const std::string name : {"spai", "fsai"}) {
    const auto with = [&](const std::vector<std::string>& more) {
      std::vector<std::string> all = {"solve", matrix, "--precond", name, "--device", "host"};
      all.insert(all.end(), more.begin(), more.end());
      return report_of(folder, all);
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

  const auto refused = [&](const std::vector<std::string>& more, const std::vector<std::string>& words) {
    std::vector<std::string> all = {"solve", matrix, "--device", "host", "--precond-pattern", same};
    all.insert(all.end(), more.begin(), more.end());
    check_refused(all, words);
  };
  const Outcome unused =
      run_newel({"solve", matrix, "--device", "host", "--precond", "jacobi", "--precond-pattern", same});
  CHECK(unused.status == 0);
  CHECK(unused.err.find("--precond-pattern has no effect") != std::string::npos);
  refused({"--precond", "spai", "--spai-power", "2"}, {"replaces", "--spai-power"});
  refused({"--precond", "fsai", "--fsai-drop", "0.1"}, {"replaces"});
  const std::string small = folder.write("S.mtx", grid_system(4).text());
  check_refused({"solve", matrix, "--device", "host", "--precond", "spai", "--precond-pattern", small},
                {small, "36 x 36", "16 x 16"});
  check_refused({"info", matrix, "--precond", "fsai", "--precond-pattern", small}, {small, "36 x 36"});
  check_refused(
      {"solve", matrix, "--device", "host", "--precond", "spai", "--precond-pattern", same, "--report", same},
      {"pattern"});
}

TEST_CASE("info builds a preconditioner and judges it, or says why it cannot", "[cli][fsai]") {
  const TemporaryFolder folder;
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

  const Outcome printed = run_newel({"info", grid, "--precond", "fsai"});
  for (const char* word : {"density", "built in", "|A M - I|_F", "exact"}) {
    INFO(printed.out << "lacks " << word);
    CHECK(printed.out.find(word) != std::string::npos);
  }
  const std::string skew = folder.write("skew.mtx", banner + "2 2 4\n1 1 4\n2 2 4\n1 2 1\n2 1 -1\n");
  const Json refused = report_of(folder, {"info", skew, "--precond", "fsai"})["preconditioner"];
  CHECK(refused["refusal"].get<std::string>().find("row 1, column 2") != std::string::npos);
  CHECK(refused["operator"].is_null());
  check_refused({"info", folder.write("wide.mtx", banner + "2 3 2\n1 1 1\n2 3 1\n"), "--precond", "fsai"},
                {"square"});
}

TEST_CASE("solve takes AMG and its options, with the coordinates of a generated system or of a file", "[cli][amg]") {
  const TemporaryFolder folder;
  const auto with = [&](const std::string& matrix, const std::vector<std::string>& more) {
    std::vector<std::string> all = {"solve", matrix, "--device", "host", "--solver", "cg", "--precond", "amg"};
    all.insert(all.end(), more.begin(), more.end());
    return report_of(folder, all);
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
  CHECK(info["preconditioner"]["operator"]["levels"][0]["vectors"] == 6);
  check_refused({"info", matrix, "--precond", "amg", "--coordinates", matrix}, {matrix, "points x 1, 2 or 3"});

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
  check_refused({"solve", matrix, "--device", "host", "--precond", "amg", "--amg-vectors", nodes},
                {nodes, "1029 rows", "343 x 3"});
}

TEST_CASE("info prints the levels of AMG", "[cli][amg]") {
  const TemporaryFolder folder;
  const Outcome outcome = run_newel({"info", "generate:diffusion:10", "--precond", "amg"});
  REQUIRE(outcome.status == 0);
  CHECK(outcome.out.find("level 1         rows 1,000, entries ") != std::string::npos);
  CHECK(outcome.out.find("level 2         rows ") != std::string::npos);
  CHECK(outcome.out.find("operator complexity 1.") != std::string::npos);
  const Json report = report_of(folder, {"info", "generate:diffusion:10", "--precond", "amg"});
  const Json& levels = report["preconditioner"]["operator"]["levels"];
  REQUIRE(levels.size() == 2);
  CHECK(levels[0]["rows"] == 1000);
  CHECK(levels[1]["rows"] == levels[0]["aggregates"]);
  // Only what has levels says so.
  const Json fsai = report_of(folder, {"info", "generate:diffusion:10", "--precond", "fsai"});
  CHECK_FALSE(fsai["preconditioner"]["operator"].contains("levels"));
}
