// SPDX-License-Identifier: Apache-2.0
// Options without effect: a warning where the command line shows it, remarked on where only the solve did.
#include "apps/common/exit_status.hpp"
#include "apps/common/unused_options.hpp"
#include "tests/apps/command_words.hpp"

using namespace newel::cli;

namespace {

using Words = std::vector<std::string>;

// The first warning that `newel COMMAND A.mtx` has for `more`; empty where it has none.
std::string warning(const std::string& command, const Words& more) {
  Words words = {command, "A.mtx"};
  words.insert(words.end(), more.begin(), more.end());
  const Words warnings = parsed(words).warnings;
  return warnings.empty() ? "" : warnings.front();
}

// A solve on a device, all chosen; CG came first and was enough.
SolveConfiguration usual_configuration() {
  SolveConfiguration m;
  m.solvers = {"cg"};
  m.precond = "jacobi";
  m.format = "ehyb";
  return m;
}

bool is_unused(const std::string& option, const SolveConfiguration& configuration) {
  const std::vector<UnusedOption> unused = unused_options({option}, configuration);
  REQUIRE(unused.size() <= 1);
  if (!unused.empty()) CHECK(unused.front().option.rfind(option, 0) == 0);
  return !unused.empty();
}

}  // namespace

TEST_CASE("An option that cannot have an effect is warned of with what it belongs to", "[cli]") {
  struct Case {
    Words given;
    std::string option, belongs_to, found;
  };
  const std::vector<Case> cases = {
      {{"--idr-s", "2", "--solver", "cg"}, "--idr-s", "--solver idrs", "the solver is cg"},
      {{"--initial-guess", "project:4"}, "--initial-guess", "every time step", "one system is solved"},
      {{"--recycle", "8"}, "--recycle", "--solver cg and gmres in programs that solve in every", "one system is solved"},
      {{"--restart", "20", "--solver", "cg"}, "--restart", "--solver gmres", "the solver is cg"},
      {{"--restart", "20", "--solver", "bicgstab"}, "--restart", "--solver gmres", "bicgstab"},
      {{"--left", "--solver", "cg"}, "--left", "--solver gmres", "cg"},
      {{"--left", "--solver", "gmres", "--precond", "none"}, "--left", "preconditioner", "no preconditioner"},
      {{"--basis", "single", "--solver", "cg"}, "--basis", "--solver gmres", "cg"},
      {{"--basis", "single", "--precision", "single"}, "--basis", "double precision", "single precision"},
      {{"--no-resident", "--device", "host"}, "--no-resident", "on a device", "host"},
      {{"--no-resident", "--solver", "gmres"}, "--no-resident", "CG and BiCGStab", "gmres"},
      {{"--no-resident", "--format", "ellwarp"}, "--no-resident", "--format csr and ehyb", "ellwarp"},
      {{"--no-resident", "--format", "ehyb-symmetric"}, "--no-resident", "--format csr and ehyb", "ehyb-symmetric"},
      {{"--no-resident", "--solver", "cg", "--precision", "mixed"}, "--no-resident", "CG", "mixed precision"},
      {{"--fsai-power", "2", "--precond", "jacobi"}, "--fsai-power", "--precond fsai", "jacobi"},
      {{"--fsai-power", "2", "--precond", "spai"}, "--fsai-power", "--precond fsai", "spai"},
      {{"--fsai-drop", "0.1", "--precond", "jacobi"}, "--fsai-drop", "--precond spai and fsai", "jacobi"},
      {{"--spai-drop", "0.1", "--precond", "none"}, "--spai-drop", "--precond spai and fsai", "none"},
      {{"--spai-power", "2", "--precond", "fsai"}, "--spai-power", "--precond spai", "fsai"},
      {{"--spai-side", "right", "--precond", "jacobi"}, "--spai-side", "--precond spai", "jacobi"},
      {{"--spai-adaptive", "0.3", "--precond", "spai0"}, "--spai-adaptive", "--precond spai", "spai0"},
      {{"--precond-pattern", "P.mtx", "--precond", "jacobi"}, "--precond-pattern", "spai and fsai", "jacobi"},
      {{"--precond-format", "csr", "--precond", "spai0"}, "--precond-format", "spai, fsai and amg", "spai0"},
      {{"--amg-degree", "3", "--precond", "fsai"}, "--amg-degree", "--precond amg", "fsai"},
      {{"--amg-vectors", "V.mtx", "--precond", "fsai"}, "--amg-vectors", "--precond amg and saddle", "fsai"},
      {{"--coordinates", "X.mtx", "--precond", "fsai"}, "--coordinates", "--precond amg and saddle", "fsai"},
      {{"--saddle-rows", "R.mtx", "--precond", "amg"}, "--saddle-rows", "--precond saddle", "amg"},
      {{"--saddle-mass", "M.mtx", "--precond", "amg"}, "--saddle-mass", "--precond saddle", "amg"},
      {{"--expect-products", "9", "--format", "csr", "--precond", "jacobi"},
       "--expect-products",
       "--format auto",
       "the format is csr"},
      {{"--parts", "4", "--format", "csr"}, "--parts", "ehyb", "csr"},
      {{"--parts", "4", "--format", "ellwarp:k1"}, "--parts", "ehyb", "ellwarp:k1"},
      {{"--partitioner", "metis", "--format", "bce"}, "--partitioner", "ehyb", "bce"},
      {{"--partitioner", "coordinates", "--coordinates", "X.mtx", "--format", "csr"}, "--partitioner", "ehyb", "csr"},
      {{"--plan-cache", "d", "--format", "csr:alg2", "--precond", "fsai"}, "--plan-cache", "renumber", "csr:alg2"},
      {{"--plan-cache", "d", "--format", "csr", "--deterministic"}, "--plan-cache", "renumber", "csr"},
  };
  for (const Case& c : cases) {
    const std::string said = warning("solve", c.given);
    for (const std::string& word : {c.option, std::string("has no effect"), c.belongs_to, c.found}) {
      INFO(said << " lacks " << word);
      CHECK(contains(said, word));
    }
    CHECK(std::count(said.begin(), said.end(), '\n') == 0);
  }
  CHECK(contains(warning("info", {"--spai-side", "left"}), "the preconditioner is none"));
  CHECK(contains(warning("info", {"--fsai-power", "2", "--precond", "spai"}), "--precond fsai"));
}

TEST_CASE("What may have an effect brings no warning, where a choice is still open too", "[cli]") {
  const std::vector<Words> taken = {
      {"--restart", "20"},
      {"--restart", "20", "--solver", "gmres"},
      {"--left"},
      {"--left", "--solver", "gmres"},
      {"--left", "--solver", "gmres", "--precond", "none", "--null-space", "constant"},
      {"--basis", "single"},
      {"--basis", "single", "--precision", "mixed"},
      {"--no-resident"},
      {"--no-resident", "--solver", "bicgstab", "--format", "ehyb:halo", "--precision", "mixed"},
      {"--fsai-power", "2", "--spai-power", "2", "--spai-side", "left", "--spai-adaptive", "0.3", "--precond",
       "auto"},
      {"--spai-side", "left", "--precond", "spai0"},
      {"--fsai-drop", "0.1", "--precond", "spai"},
      {"--precond-format", "ehyb", "--precond", "fsai", "--format", "csr"},
      {"--expect-products", "9"},
      {"--expect-products", "9", "--format", "csr", "--precond", "auto"},
      {"--parts", "4"},
      {"--parts", "4", "--format", "measure"},
      {"--parts", "4", "--format", "ehyb-symmetric"},
      {"--partitioner", "metis", "--format", "ehyb:paper"},
      {"--plan-cache", "d"},
      {"--plan-cache", "d", "--format", "csr"},
      {"--plan-cache", "d", "--format", "ellwarp"},
  };
  for (const Words& more : taken) {
    INFO(warning("solve", more));
    CHECK(warning("solve", more).empty());
  }
  CHECK(warning("info", {"--precond", "spai", "--spai-power", "2"}).empty());
}

TEST_CASE("A solve as it came out decides about each option of the table", "[cli]") {
  const SolveConfiguration usual = usual_configuration();
  SolveConfiguration fell_back = usual;
  fell_back.solvers = {"cg", "gmres"};
  CHECK(is_unused("--restart", usual));
  CHECK_FALSE(is_unused("--restart", fell_back));
  CHECK_FALSE(is_unused("--left", fell_back));

  CHECK_FALSE(is_unused("--no-resident", usual));
  SolveConfiguration other = usual;
  other.columns = 4;
  CHECK(is_unused("--no-resident", other));
  other.solvers = {"bicgstab"};
  CHECK_FALSE(is_unused("--no-resident", other));
  other.on_device = false;
  CHECK(is_unused("--no-resident", other));

  SolveConfiguration measured = usual;
  measured.format = "csr";
  CHECK(is_unused("--plan-cache", measured));
  measured.learns = true;
  CHECK_FALSE(is_unused("--plan-cache", measured));
  measured.learns = false;
  measured.format_measured = measured.choice_left = true;
  CHECK_FALSE(is_unused("--plan-cache", measured));
  CHECK(is_unused("--parts", measured));
  CHECK_FALSE(is_unused("--expect-products", measured));
  CHECK(unused_options({}, measured).empty());
}

TEST_CASE("A makeup after the solves counts those that ran, mixed or not", "[cli]") {
  SystemOptions options;
  options.precond.name = "auto";
  const SolveConfiguration asked = requested_configuration(options, false, "auto");
  CHECK(asked.solvers.size() == 6);
  CHECK(asked.choice_left);
  CHECK(asked.on_device);
  SystemInfo system;
  system.preconditioner.name = "fsai";
  system.format.format = "csr";
  SolveReport report;
  report.attempts.resize(2);
  report.attempts[0].method = "cg";
  report.attempts[1].method = "cg";
  const SolveConfiguration solved_so =
      solved_configuration(setup_configuration(asked, system, Space::host), {report, report});
  CHECK(solved_so.solvers == Words{"cg"});
  CHECK(solved_so.precond == "fsai");
  CHECK(solved_so.format == "csr");
  CHECK(solved_so.columns == 2);
  CHECK_FALSE(solved_so.on_device);
}
